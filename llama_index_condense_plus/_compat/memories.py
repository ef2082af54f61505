"""LlamaIndex's memories and chat stores: their keys, where they keep messages, and sharing one in a process."""

from __future__ import annotations

import asyncio
import json
import os
import threading
import uuid
import weakref
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any
from weakref import WeakValueDictionary

from cachetools import LRUCache
from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.memory import BaseMemory, ChatSummaryMemoryBuffer
from llama_index.core.storage.chat_store import SimpleChatStore
from llama_index.core.storage.chat_store.sql import SQLAlchemyChatStore
from sqlalchemy import URL, MetaData, make_url
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession

from llama_index_condense_plus._compat import plain
from llama_index_condense_plus.errors import ConfigurationError, ConversationBusyError
from llama_index_condense_plus.protocols import TurnLock

_summaries: LRUCache[tuple[str, str], bool] = LRUCache(4096)


def memory_for_key(memory: BaseMemory, key: str) -> BaseMemory:
    """Return a memory like another one, over the same store, for another conversation.

    Raises:
        ConfigurationError: this kind of memory has no key.
    """
    for name in ("session_id", "chat_store_key"):
        if hasattr(memory, name):
            return memory.model_copy(update={name: key})
    raise ConfigurationError(
        f"for_conversation: {type(memory).__name__} has no chat store key; pass the memory of the other conversation."
    )


def read(memory: BaseMemory, message: str) -> list[ChatMessage]:
    """Return what a memory gives for a message, and remember a summary that it makes: its message has no mark."""
    if not isinstance(memory, ChatSummaryMemoryBuffer):
        return memory.get(input=message)
    first = memory.get_all()[:1]
    history = memory.get(input=message)
    if history[:1] != first and history[0].role == MessageRole.SYSTEM:
        _summaries[key_of(memory), str(history[0].content)] = True
    return history


def begins_with_summary(memory: BaseMemory, history: Sequence[ChatMessage]) -> bool:
    """Return True if a memory that summarises made the first message, in this process."""
    return bool(history) and (key_of(memory), str(history[0].content)) in _summaries


def is_in_threads(memory: BaseMemory) -> bool:
    """Return True if the asynchronous side of one of LlamaIndex's own memories is the blocking one in threads."""
    if not type(memory).__module__.startswith("llama_index."):
        return False
    store = getattr(memory, "chat_store", None)
    return isinstance(store, SimpleChatStore) or type(memory).aget is BaseMemory.aget


def chat_store_of(memory: BaseMemory) -> Any:
    """Return the store behind a memory, if it has one."""
    return getattr(memory, "sql_store", None) or getattr(memory, "chat_store", None)


def key_of(memory: BaseMemory) -> str:
    """Return the key of a memory's conversation in its store; empty if it has none."""
    return str(getattr(memory, "session_id", None) or getattr(memory, "chat_store_key", None) or "")


def has_default_key(memory: BaseMemory) -> bool:
    """Return True if a memory's key is empty, or the one that every memory of its class has."""
    defaults = (type(memory).model_fields.get(name) for name in ("session_id", "chat_store_key"))
    return key_of(memory) in {"", *(field.default for field in defaults if field is not None)}


def location_of(chat_store: Any) -> str:
    """Return where a chat store keeps its messages, the same in every process; empty if that is this process alone.

    Of a store of somebody else's it is the class with its plain options.
    """
    if chat_store is None or isinstance(chat_store, SimpleChatStore):
        return ""
    if isinstance(chat_store, SQLAlchemyChatStore):
        if not is_durable(chat_store):
            return ""
        own = chat_store._async_engine
        url = own.url if own is not None else make_url(chat_store.async_database_uri)
        return _location(url, chat_store.db_schema, chat_store.table_name)
    options = {name: plain(getattr(chat_store, name, None)) for name in type(chat_store).model_fields}
    told: list[Any] = [f"{type(chat_store).__module__}.{type(chat_store).__qualname__}", options]
    for part in (*vars(chat_store).values(), *(getattr(chat_store, "__pydantic_private__", None) or {}).values()):
        connection = getattr(getattr(part, "connection_pool", None), "connection_kwargs", {})  # a Redis client's
        told += [[name, connection[name]] for name in ("host", "port", "path", "db") if name in connection]
    if (session := getattr(chat_store, "_session", None)) is not None:
        told.append(_location(session.kw["bind"].url))
    return json.dumps(told)


def _location(url: URL, *parts: str | None) -> str:
    """Return a database's address without driver and password, a file's in full."""
    database = url.database or ""
    if url.get_backend_name() == "sqlite":
        database = os.path.realpath(database)
    return json.dumps([url.get_backend_name(), url.host, url.port, database, *parts])


class Token:
    """Names an object of this process, and lives as long as it."""

    def __init__(self) -> None:
        self.name = uuid.uuid4().hex


_tokens: WeakValueDictionary[int, Token] = WeakValueDictionary()
_slots: WeakValueDictionary[tuple[str, str, int], Token] = WeakValueDictionary()
_tokens_mutex = threading.Lock()


def token_of(holder: object) -> Token:
    """Return what names this object alone, now and later."""
    with _tokens_mutex:
        token = _tokens.get(id(holder))
        if token is None:
            token = _tokens[id(holder)] = Token()
            weakref.finalize(holder, lambda _: None, token).atexit = False
        return token


def slot_of(token: Token, place: str, key: str) -> int:
    """Return a number that no other living holder of an equal key has there; 0 for the first, also after a restart."""
    with _tokens_mutex:
        number = 0
        while _slots.get((place, key, number), token) is not token:
            number += 1
        _slots[place, key, number] = token
        return number


def is_durable(chat_store: Any) -> bool:
    """Return True if a chat store is a SQL database that outlives the process."""
    if not isinstance(chat_store, SQLAlchemyChatStore):
        return False
    engine = chat_store._async_engine
    url = engine.url if engine is not None else make_url(chat_store.async_database_uri)
    return url.get_backend_name() != "sqlite" or url.database not in {None, "", ":memory:"}


async def engine_of(chat_store: SQLAlchemyChatStore) -> AsyncEngine:
    """Return the database engine of a SQL chat store, connected on first use."""
    engine, _ = await chat_store._setup_connections()
    return engine


STORE_WAIT_S = 120.0
"""How long an operation on a store in memory waits for those before it, in seconds."""


class _Initialize:
    """Takes the place of a SQL chat store's ``_initialize``, so that several conversations can use it at once.

    Core's own makes its table anew for each of several first operations, and they fail. On the database in memory,
    all sessions share one connection: the end of one rolls back what another has not committed yet.
    """

    def __init__(self, store: SQLAlchemyChatStore, lock: TurnLock) -> None:
        self._store: Any = weakref.ref(store)
        self._lock = lock
        self._is_ready = store._table is not None

    async def __call__(self) -> Any:
        """Return a factory of sessions, and the table."""
        store = self._store()
        if not self._is_ready:
            async with _in_turn(self._lock):
                if not self._is_ready:
                    try:
                        await type(store)._initialize(store)
                    except BaseException:  # the table may not be there: next time, make it again
                        store._table, store._metadata = None, MetaData()
                        raise
                    self._is_ready = True
        return (store._async_session_factory if is_durable(store) else self._one_at_a_time), store._table

    @asynccontextmanager
    async def _one_at_a_time(self) -> AsyncIterator[AsyncSession]:
        async with _in_turn(self._lock), self._store()._async_session_factory() as session:
            yield session


def share_chat_store(memory: Any, make_lock: Callable[[], TurnLock]) -> None:
    """Let several conversations use the SQL chat store of a ``Memory`` at once."""
    store = getattr(memory, "sql_store", None)
    if type(store) is SQLAlchemyChatStore and "_initialize" not in vars(store):
        object.__setattr__(store, "_initialize", _Initialize(store, make_lock()))


@asynccontextmanager
async def _in_turn(lock: TurnLock) -> AsyncIterator[None]:
    try:
        await asyncio.wait_for(lock.aacquire(), STORE_WAIT_S)
    except asyncio.TimeoutError:
        raise ConversationBusyError(
            f"The chat store has been busy for {STORE_WAIT_S:g} s. A blocking call on the event loop of an async turn "
            "keeps that turn from ending; await achat() or astream_chat() instead."
        ) from None
    try:
        yield
    finally:
        lock.release()
