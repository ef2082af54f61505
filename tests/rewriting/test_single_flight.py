from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

from llama_index_condense_plus.rewriting.single_flight import SingleFlight


def test_join_lets_one_lead_and_the_others_follow() -> None:
    flights = SingleFlight()
    leader, *followers = (flights.join("key") for _ in range(3))
    other = flights.join("other")
    assert [leader.leader, *(f.leader for f in followers), other.leader] == [True, False, False, True]
    assert flights.in_flight == 2
    flights.land(leader, "value")
    assert [follower.future.result(0) for follower in followers] == ["value", "value"]
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


def test_followers_in_threads_get_the_leaders_value() -> None:
    flights = SingleFlight()
    leader = flights.join("key")
    with ThreadPoolExecutor(4) as pool:
        waiting = [pool.submit(flights.join("key").future.result, 5) for _ in range(4)]
        flights.land(leader, "value")
        assert [future.result(5) for future in waiting] == ["value"] * 4


async def test_land_reaches_the_followers_behind_a_cancelled_one() -> None:
    flights = SingleFlight()
    leader, first, second = (flights.join("key") for _ in range(3))
    first.future.cancel()
    flights.land(leader, "value")
    assert second.future.result(0) == "value"
    assert flights.in_flight == 0


def test_the_leaders_future_has_the_value_too() -> None:
    flights = SingleFlight()
    leader = flights.join("key")
    assert leader.key == "key"
    flights.land(leader, "value")
    assert leader.future.result(0) == "value"
