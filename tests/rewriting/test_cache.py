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


def test_in_process_cache_replaces_an_entry_as_its_newest() -> None:
    clock = Clock()
    cache = InProcessRewriteCache(max_entries=2, ttl_s=10, clock=clock)
    cache.set("a", "1")
    cache.set("b", "2")
    clock.now = 5.0
    cache.set("a", "3")
    assert cache.statistics.size == 2
    cache.set("c", "4")
    clock.now = 12.0
    assert (cache.get("a"), cache.get("b"), cache.get("c")) == ("3", None, "4")
    assert (cache.statistics.hits, cache.statistics.misses) == (2, 1)


def test_in_process_cache_forgets_one_entry_whether_it_is_there_or_not() -> None:
    cache = InProcessRewriteCache()
    cache.set("a", "1")
    cache.set("b", "2")
    cache.delete("a")
    cache.delete("a")
    assert (cache.get("a"), cache.get("b")) == (None, "2")


@pytest.mark.parametrize(
    "make", [InProcessRewriteCache, lambda clock: KVStoreRewriteCache(SimpleKVStore(), clock=clock)]
)
def test_caches_keep_an_entry_for_an_hour_by_default(make: Any) -> None:
    clock = Clock()
    cache = make(clock=clock)
    cache.set("a", "1")
    clock.now = 3599.0
    assert cache.get("a") == "1"
    clock.now = 3600.0
    assert cache.get("a") is None


def test_in_process_cache_keeps_1024_entries_by_default() -> None:
    cache = InProcessRewriteCache()
    for number in range(1025):
        cache.set(str(number), "x")
    assert cache.statistics.size == 1024
    assert (cache.get("0"), cache.get("1")) == (None, "x")


async def test_kvstore_cache_forgets_one_entry_in_its_own_collection() -> None:
    store = SimpleKVStore()
    cache = KVStoreRewriteCache(store, collection="mine")
    store.put("a", {"of": "others"})
    for key in "abc":
        cache.set(key, "1")
    cache.delete("a")
    await cache.adelete("b")
    assert [cache.get(key) for key in "abc"] == [None, None, "1"]
    assert store.get("a") == {"of": "others"}
    assert cache.statistics.size is None


async def test_kvstore_cache_raises_what_keeps_an_entry_from_being_forgotten() -> None:
    class Stuck(SimpleKVStore):
        def delete(self, *_: Any, **__: Any) -> bool:
            raise ConnectionError

        async def adelete(self, *_: Any, **__: Any) -> bool:
            raise ConnectionError

    cache = KVStoreRewriteCache(Stuck())
    with pytest.raises(ConnectionError):
        cache.delete("a")
    with pytest.raises(ConnectionError):
        await cache.adelete("a")


def test_cache_key_tells_roles_words_and_word_lists_apart() -> None:
    def key(*messages: tuple[MessageRole, str | None], **sections: Any) -> str:
        prompt = [ChatMessage(role=role, content=content) for role, content in messages]
        return cache_key(prompt, "model", CondensePlusSettings(**sections))

    user, system = MessageRole.USER, MessageRole.SYSTEM
    keys = {
        key((user, "a")),
        key((system, "a")),
        key((user, "a"), (user, "")),
        key((user, "b")),
        key((user, "a"), languages={"en": {"pronouns_add": ["thing"]}}),
        key((user, "a"), languages={"fr": {"pronouns_add": ["thing"]}}),
        key((user, "a"), cleanup={"enabled": False}),
    }
    assert len(keys) == 7
    assert key((user, None)) == key((user, ""))
    assert key((user, "\ud800")) != key((user, "a"))
    two = {"a": "1", "b": "2"}
    assert key((user, "a"), aliases=two) == key((user, "a"), aliases=dict(reversed(two.items())))
    assert cache_key("p", "m", CondensePlusSettings(cache={"namespace": "t"}), "") == cache_key(
        "p", "m", CondensePlusSettings()
    )


async def test_kvstore_cache_keeps_text_and_end_in_a_collection_of_its_own() -> None:
    store, clock = SimpleKVStore(), Clock()
    clock.now = 5.0
    cache = KVStoreRewriteCache(store, ttl_s=10, clock=clock)
    cache.set("a", "1")
    await cache.aset("b", "2")
    held = store.get_all(collection="condense_plus_rewrites")
    assert held == {"a": {"text": "1", "expires": 15.0}, "b": {"text": "2", "expires": 15.0}}
