"""The conversation's lock: first come, first served, for threads and event loops alike."""

from __future__ import annotations

import asyncio

import pytest

from llama_index_condense_plus import ConversationBusyError
from llama_index_condense_plus.turn.lock import ConversationLock
from tests.modes import LIMIT_S, in_thread


def test_lock_serves_tasks_of_several_loops_and_threads() -> None:
    lock, inside, greatest = ConversationLock(), [], []

    async def enter() -> None:
        await lock.aacquire()
        inside.append(1)
        greatest.append(len(inside))
        await asyncio.sleep(0)
        inside.pop()
        lock.release()

    async def many() -> None:
        await asyncio.gather(*(enter() for _ in range(20)))

    def enter_blocking() -> None:
        for _ in range(20):
            lock.acquire()
            inside.append(1)
            greatest.append(len(inside))
            inside.pop()
            lock.release()

    results = [in_thread(lambda: asyncio.run(many())) for _ in range(3)] + [in_thread(enter_blocking) for _ in range(3)]
    for result in results:
        result()
    assert greatest == [1] * 120
    assert not lock.held


def test_lock_cancelled_waiter_passes_it_on() -> None:
    async def run() -> None:
        lock = ConversationLock()
        await lock.aacquire()
        waiting = [asyncio.create_task(lock.aacquire()) for _ in range(3)]
        await asyncio.sleep(0)
        waiting[0].cancel()
        lock.release()
        waiting[1].cancel()  # granted already, or about to be
        await asyncio.wait_for(waiting[2], LIMIT_S)
        lock.release()
        assert not lock.held

    asyncio.run(run())


def test_lock_granted_to_a_loop_that_is_gone_passes_it_on() -> None:
    lock = ConversationLock()
    lock.acquire()

    async def give_up() -> None:
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(lock.aacquire(), 0.01)

    asyncio.run(give_up())
    lock.release()
    in_thread(lock.acquire)()
    lock.release()
    assert not lock.held


def test_lock_refuses_to_block_the_loop_that_holds_it() -> None:
    async def run() -> None:
        lock = ConversationLock()
        await lock.aacquire()
        with pytest.raises(ConversationBusyError, match="achat"):
            lock.acquire()
        lock.release()
        lock.acquire()
        lock.release()

    asyncio.run(run())
