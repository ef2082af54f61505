"""Cancelled at every await of a turn, one after the other: the lock is free, the history whole, nothing is left."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from llama_index.core.memory import ChatMemoryBuffer

from llama_index_condense_plus import CondensePlusChatEngine, workers
from tests.conftest import FIRST_ROUND, PRICE
from tests.fakes import ScriptedLLM, WordRetriever, query_engine

FOLLOW_UP = "and its price?"
MAX_STEPS = 400
"""More steps of the event loop than any turn here takes."""


class StepwiseMemory(ChatMemoryBuffer):
    """Gives control to the event loop inside every asynchronous call."""

    async def aget(self, *args: Any, **kwargs: Any) -> Any:
        await asyncio.sleep(0)
        return self.get(*args, **kwargs)

    async def aput_messages(self, messages: Any) -> None:
        await asyncio.sleep(0)
        for message in messages:
            self.put(message)
        await asyncio.sleep(0)


class StepwiseRetriever(WordRetriever):
    """Gives control to the event loop before it answers."""

    async def _aretrieve(self, query_bundle: Any) -> Any:
        await asyncio.sleep(0)
        return self._found(query_bundle.query_str)


def make_engine() -> CondensePlusChatEngine:
    llm = ScriptedLLM(rewrite=PRICE, answer="ninety nine")
    memory = StepwiseMemory.from_defaults(chat_history=list(FIRST_ROUND), token_limit=4000)
    texts = ("the GTE-3000 costs 99 euros", "the GTE-3000 is a printer")
    return CondensePlusChatEngine.from_defaults(
        query_engine(llm=llm, retriever=StepwiseRetriever(texts)), memory=memory
    )


async def turn(engine: CondensePlusChatEngine, streams: bool) -> None:
    if not streams:
        await engine.achat(FOLLOW_UP)
        return
    response = await engine.astream_chat(FOLLOW_UP)
    async for _ in response.async_response_gen():
        pass


async def cancelled_after(engine: CondensePlusChatEngine, streams: bool, steps: int) -> bool:
    """Cancel a turn after a number of steps of the loop; return False if it had ended by then."""
    task = asyncio.create_task(turn(engine, streams))
    for _ in range(steps):
        await asyncio.sleep(0)
        if task.done():
            await task
            return False
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    return True


@pytest.mark.parametrize("streams", [False, True], ids=["achat", "astream_chat"])
async def test_turn_cancelled_after_any_number_of_steps_leaves_everything_whole(streams: bool) -> None:
    before = workers.live_workers()
    for steps in range(MAX_STEPS):
        engine = make_engine()
        was_cancelled = await cancelled_after(engine, streams, steps)
        others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        if others:  # a stream goes on and is stored, read or not
            await asyncio.wait(others, timeout=10)
        stored = [(message.role.value, message.content) for message in engine.chat_history[2:]]
        assert stored in ([], [("user", FOLLOW_UP), ("assistant", "ninety nine")]), steps
        assert not engine._conversation.lock.held, steps
        await asyncio.wait_for(engine.achat("And its weight?"), 10)  # the next turn runs
        if not was_cancelled:
            break
    else:
        pytest.fail("the turn never ended")
    assert steps > 3
    assert workers.live_workers() <= before
