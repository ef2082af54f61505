from __future__ import annotations

from typing import Any

import pytest
from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.storage.kvstore import SimpleKVStore

from llama_index_condense_plus import CondensePlusSettings
from llama_index_condense_plus.rewriting.cache import InProcessRewriteCache, KVStoreRewriteCache, cache_key


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_in_process_cache_returns_what_was_stored_until_its_time_is_over() -> None:
    clock = Clock()
    cache = InProcessRewriteCache(ttl_s=10, clock=clock)
    cache.set("key", "value")
    clock.now = 9.9
    assert cache.get("key") == "value"
    clock.now = 10.0
    assert cache.get("key") is None
    assert (cache.statistics.hits, cache.statistics.misses, cache.statistics.size) == (1, 1, 0)


def test_in_process_cache_drops_the_least_recently_used() -> None:
    cache = InProcessRewriteCache(max_entries=2)
    cache.set("a", "1")
    cache.set("b", "2")
    assert cache.get("a") == "1"
    cache.set("c", "3")
    assert (cache.get("a"), cache.get("b"), cache.get("c")) == ("1", None, "3")


def test_in_process_cache_clear_forgets_entries() -> None:
    cache = InProcessRewriteCache()
    cache.set("a", "1")
    cache.clear()
    assert cache.get("a") is None


async def test_kvstore_cache_shares_entries_between_sync_and_async() -> None:
    clock = Clock()
    cache = KVStoreRewriteCache(SimpleKVStore(), ttl_s=10, clock=clock)
    cache.set("a", "1")
    await cache.aset("b", "2")
    assert await cache.aget("a") == "1"
    assert cache.get("b") == "2"
    clock.now = 10.0
    assert cache.get("a") is None
    assert (cache.statistics.hits, cache.statistics.misses) == (2, 1)


class Broken(SimpleKVStore):
    def get(self, *_: Any, **__: Any) -> Any:
        raise ConnectionError

    def put(self, *_: Any, **__: Any) -> None:
        raise ConnectionError


async def test_kvstore_cache_counts_a_failing_store_as_misses() -> None:
    cache = KVStoreRewriteCache(Broken())
    cache.set("a", "1")
    await cache.aset("a", "1")
    assert cache.get("a") is None
    assert await cache.aget("a") is None
    assert (cache.statistics.misses, cache.statistics.errors) == (2, 4)


@pytest.mark.parametrize("entry", [{"text": 3, "expires": 99.0}, {"other": 1}])
def test_kvstore_cache_ignores_foreign_entries(entry: dict[str, Any]) -> None:
    store = SimpleKVStore()
    store.put("a", entry, collection="condense_plus_rewrites")
    assert KVStoreRewriteCache(store, clock=Clock()).get("a") is None


def test_cache_key_depends_on_all_that_decides_the_rewrite() -> None:
    settings = CondensePlusSettings()
    messages = [ChatMessage(role=MessageRole.USER, content="a"), ChatMessage(role=MessageRole.USER, content="b")]
    joined = [ChatMessage(role=MessageRole.USER, content="ab")]
    keys = {
        cache_key("prompt", "model", settings),
        cache_key("prompt2", "model", settings),
        cache_key("prompt", "model2", settings),
        cache_key("prompt", "model", settings, "tenant"),
        cache_key("prompt", "model", CondensePlusSettings(guards={"profile": "minimal"})),
        cache_key("prompt", "model", CondensePlusSettings(aliases={"a": "b"})),
        cache_key("prompt", "model", CondensePlusSettings(rewrite={"temperature": 1.0})),
        cache_key(messages, "model", settings),
        cache_key(joined, "model", settings),
    }
    assert len(keys) == 9
    assert cache_key(messages, "model", settings) == cache_key(list(messages), "model", CondensePlusSettings())
    assert cache_key("p", "m", settings, "t") == cache_key("p", "m", CondensePlusSettings(cache={"namespace": "t"}))
