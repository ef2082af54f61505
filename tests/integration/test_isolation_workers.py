"""Two processes draw chains of three tenants over one Redis, or one PostgreSQL; ISOLATION_CHAINS says how many each."""

import asyncio
import multiprocessing
import os
from typing import Any

import pytest

from llama_index_condense_plus.memory.sql_store import SQLKeyValueStore
from llama_index_condense_plus.rewriting.cache import KVStoreRewriteCache
from llama_index_condense_plus.turn.lease import LeaseLocks, RedisLeaseStore, SQLLeaseStore
from tests.test_isolation_chains import World, draw_many

pytestmark = [pytest.mark.integration, pytest.mark.servers]
redis = pytest.importorskip("redis")
redis_chats = pytest.importorskip("llama_index.storage.chat_store.redis")
redis_values = pytest.importorskip("llama_index.storage.kvstore.redis")
postgres_chats = pytest.importorskip("llama_index.storage.chat_store.postgres")
sqlalchemy = pytest.importorskip("sqlalchemy")
N_CHAINS = int(os.environ.get("ISOLATION_CHAINS", "40"))


class Blocking(redis_values.RedisKVStore):
    """Uses one client on all event loops."""

    async def aput(self, *arguments: Any, **options: Any) -> None:
        await asyncio.to_thread(self.put, *arguments, **options)

    async def aget(self, *arguments: Any, **options: Any) -> Any:
        return await asyncio.to_thread(self.get, *arguments, **options)

    async def aget_all(self, *arguments: Any, **options: Any) -> Any:
        return await asyncio.to_thread(self.get_all, *arguments, **options)

    async def adelete(self, *arguments: Any, **options: Any) -> Any:
        return await asyncio.to_thread(self.delete, *arguments, **options)


def over_redis(url):
    locks = LeaseLocks(RedisLeaseStore(redis.Redis.from_url(url)))
    return redis_chats.RedisChatStore(redis_url=url), Blocking(redis_uri=url), locks


def over_postgres(url):
    locks = LeaseLocks(SQLLeaseStore(sqlalchemy.create_engine(url.replace("asyncpg", "psycopg2"))))
    store = SQLKeyValueStore(sqlalchemy.ext.asyncio.create_async_engine(url, poolclass=sqlalchemy.NullPool))
    return postgres_chats.PostgresChatStore.from_uri(url.replace("+asyncpg", "")), store, locks


def worker(make, url, folder, seed):
    folder.mkdir()  # a log of its own: what the others do is counted in it
    chat_store, store, locks = make(url)
    draw_many(World(folder, chat_store, store=store, cache=KVStoreRewriteCache(store), locks=locks), seed, N_CHAINS)
    locks.close()


@pytest.mark.parametrize("server", ["redis", "postgres"])
def test_no_chain_of_two_workers_shows_a_tenant_what_is_anothers(server, request, tmp_path):
    make = {"redis": over_redis, "postgres": over_postgres}[server]
    url, spawn = request.getfixturevalue(f"{server}_server").url, multiprocessing.get_context("spawn")
    workers = [spawn.Process(target=worker, args=(make, url, tmp_path / str(seed), seed)) for seed in (1, 2)]
    for each in workers:
        each.start()
    for each in workers:
        each.join(3_600)
    assert [each.exitcode for each in workers] == [0, 0]
