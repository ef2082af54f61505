"""Builds the engine and its stores from the configuration."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from config import ServiceConfig
from llama_index.core import VectorStoreIndex
from llama_index.core.indices.base import BaseIndex
from llama_index.core.llms.llm import LLM
from llama_index.core.memory import Memory
from llama_index.llms.openai_like import OpenAILike
from llama_index.vector_stores.qdrant import QdrantVectorStore
from qdrant_client import AsyncQdrantClient, QdrantClient
from redis import Redis
from redis.asyncio import Redis as AsyncRedis
from sqlalchemy import create_engine, make_url, text
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from llama_index_condense_plus import CondensePlusChatEngine, CondensePlusSettings
from llama_index_condense_plus.demo.embedding import load_embedding
from llama_index_condense_plus.demo.knowledge import build_index, demo_passages
from llama_index_condense_plus.memory.sql_store import SQLKeyValueStore
from llama_index_condense_plus.rewriting.cache import KVStoreRewriteCache
from llama_index_condense_plus.turn.lease import LeaseLocks, RedisLeaseStore, SQLLeaseStore

STORE_TIMEOUT_S = 3.0
"""A store that does not answer within this time is taken for gone."""
START_TRIES = 30
"""How often the stores are tried at start, once a second."""


@dataclass
class Parts:
    """What the service runs on."""

    engine: CondensePlusChatEngine
    """Makes an engine for each conversation."""
    redis: AsyncRedis | None = None
    """Where rates are counted."""
    checks: dict[str, Callable[[], Awaitable[Any]]] = field(default_factory=dict)
    """By store: raises if it cannot be reached."""
    closers: list[Callable[[], Any]] = field(default_factory=list)
    """Called at the end; the result is awaited if it can be."""

    async def close(self) -> None:
        """Close connections and give leases back."""
        for close in self.closers:
            closing = close()
            if asyncio.iscoroutine(closing):
                await closing


async def build(config: ServiceConfig, llm: LLM | None = None, index: BaseIndex[Any] | None = None) -> Parts:
    """Build everything; waits for stores that are still starting.

    Args:
        config: the options.
        llm: in place of the OpenAI-compatible server.
        index: in place of Qdrant.
    """
    settings = CondensePlusSettings(summary={"enabled": config.summary}, answer={"timeout_s": config.answer_timeout_s})
    closers: list[Callable[[], Any]] = []
    checks: dict[str, Callable[[], Awaitable[Any]]] = {}
    redis = postgres = locks = store = cache = None
    if config.postgres_url:
        timeouts = {"timeout": STORE_TIMEOUT_S, "command_timeout": STORE_TIMEOUT_S}
        postgres = create_async_engine(config.postgres_url, pool_size=10, pool_pre_ping=True, connect_args=timeouts)
        await _started(lambda: _select(postgres))
        checks["postgres"] = lambda: _select(postgres)
        closers.append(postgres.dispose)
        store = SQLKeyValueStore(postgres)
        cache = KVStoreRewriteCache(store, settings.cache.ttl_s)
    if config.redis_url:
        options: dict[str, Any] = {"socket_timeout": STORE_TIMEOUT_S, "socket_connect_timeout": STORE_TIMEOUT_S}
        options["health_check_interval"] = 5  # a connection that a restart broke is noticed before it is used
        client = Redis.from_url(config.redis_url, **options)
        redis = AsyncRedis.from_url(config.redis_url, **options)
        await _started(redis.ping)
        checks["redis"] = redis.ping
        closers += [redis.aclose, client.close]
        locks = LeaseLocks(RedisLeaseStore(client), config.lease_s, config.wait_s)
    elif postgres is not None:
        url = make_url(config.postgres_url).set(drivername="postgresql+psycopg2")
        blocking = create_engine(url, pool_pre_ping=True, connect_args={"connect_timeout": round(STORE_TIMEOUT_S)})
        locks = LeaseLocks(SQLLeaseStore(blocking), config.lease_s, config.wait_s)
        closers.append(blocking.dispose)
    if locks is not None:
        closers.insert(0, locks.close)
    memory = Memory.from_defaults(session_id="service", async_engine=postgres)
    await _started(memory.aget_all)  # makes the table; of two workers that try at once, one tries again
    if llm is None:
        llm = OpenAILike(
            model=config.llm_model,
            api_base=config.llm_api_base,
            api_key=config.llm_api_key,
            is_chat_model=True,
            context_window=config.llm_context_window,
            timeout=config.answer_timeout_s,
        )
    index = index or _index(config)
    engine = CondensePlusChatEngine.from_index(
        index,
        llm=llm,
        similarity_top_k=config.top_k,
        memory=memory,
        settings=settings,
        store=store,
        cache=cache,
        locks=locks,
    )
    return Parts(engine, redis, checks, closers)


def _index(config: ServiceConfig) -> BaseIndex[Any]:
    embedding = load_embedding(config.embedding)
    if not config.qdrant_url:
        return build_index(demo_passages(), embedding, Path(tempfile.mkdtemp(prefix="condense-plus-")))
    store = QdrantVectorStore(
        config.qdrant_collection,
        client=QdrantClient(url=config.qdrant_url),
        aclient=AsyncQdrantClient(url=config.qdrant_url),
    )
    return VectorStoreIndex.from_vector_store(store, embed_model=embedding)


async def _select(postgres: AsyncEngine) -> None:
    async with postgres.connect() as connection:
        await connection.execute(text("SELECT 1"))


async def _started(check: Callable[[], Awaitable[Any]]) -> None:
    for left in range(START_TRIES, -1, -1):
        try:
            await check()
        except Exception:
            if not left:
                raise
            await asyncio.sleep(1)
        else:
            return
