from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.storage.kvstore import SimpleKVStore

from llama_index_condense_plus import CondensePlusSettings
from llama_index_condense_plus.rewriting.cache import (
    CircuitBreaker,
    InProcessRewriteCache,
    KVStoreRewriteCache,
    SingleFlight,
    cache_key,
)


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
    assert len(cache) == 0


def test_in_process_cache_drops_the_least_recently_used() -> None:
    cache = InProcessRewriteCache(max_entries=2)
    cache.set("a", "1")
    cache.set("b", "2")
    assert cache.get("a") == "1"
    cache.set("c", "3")
    assert (cache.get("a"), cache.get("b"), cache.get("c")) == ("1", None, "3")


def test_in_process_cache_forgets_one_entry() -> None:
    cache = InProcessRewriteCache()
    for key in "abc":
        cache.set(key, "1")
    cache.delete("a")
    cache.delete("a")
    assert [cache.get(key) for key in "abc"] == [None, "1", "1"]


async def test_kvstore_cache_shares_entries_between_sync_and_async() -> None:
    clock, store = Clock(), SimpleKVStore()
    cache = KVStoreRewriteCache(store, ttl_s=10, clock=clock)
    cache.set("a", "1")
    await cache.aset("b", "2")
    assert await cache.aget("a") == "1"
    assert cache.get("b") == "2"
    assert store.get_all(collection="condense_plus_rewrites") == {
        "a": {"text": "1", "expires": 10.0},
        "b": {"text": "2", "expires": 10.0},
    }
    clock.now = 10.0
    assert cache.get("a") is None


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


@pytest.mark.parametrize("entry", [{"text": 3, "expires": 99.0}, {"other": 1}])
def test_kvstore_cache_ignores_foreign_entries(entry: dict[str, Any]) -> None:
    store = SimpleKVStore()
    store.put("a", entry, collection="condense_plus_rewrites")
    assert KVStoreRewriteCache(store, clock=Clock()).get("a") is None


def test_cache_key_depends_on_all_that_decides_the_rewrite() -> None:
    settings = CondensePlusSettings()
    user, system = MessageRole.USER, MessageRole.SYSTEM
    prompts = ([(user, "a"), (user, "b")], [(user, "ab")], [(system, "ab")], [(user, "ab"), (user, "")])
    sections: list[dict[str, Any]] = [
        {"guards": {"profile": "minimal"}},
        {"aliases": {"a": "b"}},
        {"rewrite": {"temperature": 1.0}},
        {"languages": {"en": {"pronouns_add": ["thing"]}}},
        {"cleanup": {"enabled": False}},
    ]
    keys = {
        cache_key("prompt", "model", settings),
        cache_key("prompt2", "model", settings),
        cache_key("prompt", "model2", settings),
        cache_key("prompt", "model", settings, "tenant"),
        *(cache_key("prompt", "model", CondensePlusSettings(**own)) for own in sections),
        *(cache_key([ChatMessage(role=r, content=c) for r, c in said], "model", settings) for said in prompts),
    }
    assert len(keys) == 4 + len(sections) + len(prompts)
    assert cache_key("p", "m", settings, "t") == cache_key("p", "m", CondensePlusSettings(cache={"namespace": "t"}))


def test_join_lets_one_lead_and_the_others_follow() -> None:
    flights = SingleFlight()
    leader, *followers = (flights.join("key") for _ in range(3))
    other = flights.join("other")
    assert [leader.leader, *(f.leader for f in followers), other.leader] == [True, False, False, True]
    assert flights.in_flight == 2
    flights.land(leader, "value")
    assert [flight.future.result(0) for flight in (leader, *followers)] == ["value"] * 3
    assert flights.join("key").leader


def test_land_by_a_follower_or_twice_does_nothing() -> None:
    flights = SingleFlight()
    leader, follower = flights.join("key"), flights.join("key")
    flights.land(follower, "wrong")
    assert not follower.future.done()
    flights.land(leader, None)
    flights.land(leader, "late")
    assert follower.future.result(0) is None


async def test_a_cancelled_follower_disturbs_nobody() -> None:
    flights = SingleFlight()
    leader, first, second = (flights.join("key") for _ in range(3))
    waiting = [asyncio.ensure_future(asyncio.wrap_future(f.future)) for f in (first, second)]
    await asyncio.sleep(0)
    waiting[0].cancel()
    await asyncio.sleep(0)
    flights.land(leader, "value")
    assert await waiting[1] == "value"
    assert flights.in_flight == 0


def test_followers_in_threads_get_the_leaders_value() -> None:
    flights = SingleFlight()
    leader = flights.join("key")
    with ThreadPoolExecutor(4) as pool:
        waiting = [pool.submit(flights.join("key").future.result, 5) for _ in range(4)]
        flights.land(leader, "value")
        assert [future.result(5) for future in waiting] == ["value"] * 4


def test_breaker_opens_after_failures_in_a_row_and_tries_one_call_after_the_cool_down() -> None:
    clock = Clock()
    breaker = CircuitBreaker(failures=2, cool_down_s=30, clock=clock)
    breaker.record_failure()
    assert breaker.allow()
    breaker.record_success()
    breaker.record_failure()
    assert breaker.allow()
    breaker.record_failure()
    assert not breaker.allow()
    clock.now = 30.0
    assert [breaker.allow(), breaker.allow()] == [True, False]
    breaker.record_success()
    assert breaker.allow()


@pytest.mark.parametrize("reports", [True, False])
def test_breaker_gives_another_trial_after_one_that_failed_or_never_reported(reports: bool) -> None:
    clock = Clock()
    breaker = CircuitBreaker(failures=1, cool_down_s=30, clock=clock)
    breaker.record_failure()
    clock.now = 31.0
    assert breaker.allow()
    if reports:
        breaker.record_failure()
    clock.now = 60.0
    assert not breaker.allow()
    clock.now = 61.0
    assert breaker.allow()
