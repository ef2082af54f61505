"""What fails, and what becomes of the turn: the chain, the circuit breaker, deadlines, the history afterwards."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.memory import ChatMemoryBuffer

from llama_index_condense_plus import (
    AnswerTimeoutError,
    InvalidMessageError,
    RetrievalFailedError,
)
from tests.conftest import PRICE
from tests.fakes import RecordingPostprocessor, ScriptedLLM, WordRetriever
from tests.modes import Mode, said

Make = Callable[..., Any]


class RateLimitError(Exception):
    """What an API client raises on status 429."""

    status_code = 429


@pytest.mark.parametrize("message", ["", " ", "\n\t", "\u3000", "\u200b", "\ufeff"])
def test_blank_message_is_a_clear_error_before_any_call(
    make_engine: Make, llm: ScriptedLLM, mode: Mode, message: str
) -> None:
    retriever = WordRetriever(["the GTE-3000 costs 99 euros"])
    engine = make_engine(retriever=retriever)
    for history in ((), ([],)):
        with pytest.raises(InvalidMessageError, match="blank"):
            mode.ask(engine, message, *history)
    assert llm.calls == []
    assert retriever.queries == []
    assert len(said(engine)) == 2
    assert mode.ask(engine, "and its price?").query == PRICE  # the lock is free


@pytest.mark.parametrize("message", [None, 3, b"price", ["price"]])
def test_message_that_is_no_text_is_a_clear_error(make_engine: Make, mode: Mode, message: Any) -> None:
    with pytest.raises(InvalidMessageError, match=type(message).__name__):
        mode.ask(make_engine(), message)


def test_failed_answer_leaves_the_history_as_it_was(make_engine: Make, llm: ScriptedLLM, mode: Mode) -> None:
    engine = make_engine()
    before = said(engine)
    llm.answer = RateLimitError("429")
    with pytest.raises(RateLimitError):
        mode.ask(engine, "and its price?")
    assert said(engine) == before
    llm.answer = "the answer"
    assert mode.ask(engine, "and its price?").text == "the answer"
    assert len(said(engine)) == 4


def test_failed_retrieval_leaves_the_history_as_it_was(make_engine: Make, mode: Mode) -> None:
    engine = make_engine(retriever=WordRetriever(["x"], fails_on=lambda _: True))
    with pytest.raises((RetrievalFailedError, ConnectionError)):
        mode.ask(engine, "and its price?")
    with pytest.raises((RetrievalFailedError, ConnectionError)):
        mode.ask(engine, "What is the price of the T-10 scanner?")
    assert len(said(engine)) == 2


def test_postprocessor_failing_leaves_the_history(make_engine: Make, mode: Mode) -> None:
    class Broken(RecordingPostprocessor):
        def _postprocess_nodes(self, *_: Any, **__: Any) -> Any:
            raise RuntimeError("the reranker is away")

        async def _apostprocess_nodes(self, *_: Any, **__: Any) -> Any:
            raise RuntimeError("the reranker is away")

    engine = make_engine(node_postprocessors=[Broken()])
    with pytest.raises(RuntimeError, match="reranker"):
        mode.ask(engine, "and its price?")
    assert len(said(engine)) == 2


def test_answer_later_than_its_deadline_is_an_error_and_not_stored(make_engine: Make, mode: Mode) -> None:
    token_delay = 2.0 if mode.streams else 0.0
    slow = ScriptedLLM(rewrite=PRICE, answer="one two three", delay_s=0.0, token_delay_s=token_delay)
    if not mode.streams:
        slow.delay_s = 2.0
    engine = make_engine(llm=slow, answer={"timeout_s": 0.3}, rewrite={"chain": ["rules"]})
    with pytest.raises(AnswerTimeoutError, match=r"0\.3"):
        mode.ask(engine, "and its price?")
    assert isinstance(AnswerTimeoutError("x"), TimeoutError)
    assert len(said(engine)) == 2
    slow.delay_s = slow.token_delay_s = 0.0
    assert mode.ask(engine, "and its price?").text == "one two three"


def test_retrieval_later_than_its_deadline_is_left_out(make_engine: Make, mode: Mode) -> None:
    class SlowForOne(WordRetriever):
        def _retrieve(self, query_bundle: Any) -> Any:
            if query_bundle.query_str != PRICE:
                threading.Event().wait(2)
            return super()._retrieve(query_bundle)

        async def _aretrieve(self, query_bundle: Any) -> Any:
            if query_bundle.query_str != PRICE:
                await asyncio.sleep(2)
            return await super()._aretrieve(query_bundle)

    engine = make_engine(retriever=SlowForOne(["the GTE-3000 costs 99 euros"]), retrieval={"timeout_s": 0.2})
    reply = mode.ask(engine, "and its price?")
    assert reply.node_ids == ["n0"]
    assert any("retrieval failed: original" in warning for warning in reply.response.trace.warnings)


def test_memory_that_fails_to_write_leaves_no_half_turn(make_engine: Make, mode: Mode) -> None:
    class Failing(ChatMemoryBuffer):
        def put_messages(self, messages: list[ChatMessage]) -> None:
            self.put(messages[0])
            raise ConnectionError("the chat store is away")

        async def aput_messages(self, messages: list[ChatMessage]) -> None:
            self.put_messages(messages)

    engine = make_engine(first=False, memory=Failing.from_defaults(token_limit=3000))
    with pytest.raises(ConnectionError):
        mode.ask(engine, "What is the price of the GTE-3000?")
    assert said(engine) == []
