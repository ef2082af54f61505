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
    RewriteRequest,
    RewriteStatus,
)
from tests.conftest import PRICE
from tests.fakes import Clock, RecordingPostprocessor, ScriptedLLM, WordRetriever
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


FAILURES = {
    "429": RateLimitError("Error code: 429 - rate limit reached, key sk-secret"),
    "timeout": TimeoutError("read timed out"),
    "asyncio timeout": asyncio.TimeoutError(),
    "connection": ConnectionError("refused"),
    "bug": RuntimeError("boom"),
}


@pytest.mark.parametrize("failure", FAILURES)
def test_rewrite_call_failing_goes_on_with_the_rules(
    make_engine: Make, llm: ScriptedLLM, mode: Mode, failure: str
) -> None:
    llm.rewrite = FAILURES[failure]
    engine = make_engine()
    reply = mode.ask(engine, "and its price?")
    result = reply.response.trace.rewrite
    assert reply.text == "the answer"
    assert result.attempts[0].rewriter == "llm"
    assert result.attempts[0].error
    assert ("timeout" in result.attempts[0].error) is ("timeout" in failure)
    assert result.status is RewriteStatus.REWRITTEN
    assert result.rewriter == "rules"
    assert any("GTE-3000" in query.text for query in reply.response.trace.plan.queries)
    assert "sk-secret" not in str(reply.response.trace.to_dict())
    assert said(engine)[-2:] == [("user", "and its price?"), ("assistant", "the answer")]


@pytest.mark.parametrize("raw", ["", "   ", "\n\t ", "\u200b", "None", "<think>it is a printer", "```\n```"])
def test_rewrite_empty_or_blank_goes_on_with_the_rules(
    make_engine: Make, llm: ScriptedLLM, mode: Mode, raw: str
) -> None:
    llm.rewrite = raw
    reply = mode.ask(make_engine(), "and its price?")
    result = reply.response.trace.rewrite
    assert result.rewriter == "rules"
    assert any("GTE-3000" in query.text for query in reply.response.trace.plan.queries)
    assert not result.attempts[0].accepted
    assert result.attempts[0].error or any(not verdict.passed for verdict in result.attempts[0].verdicts)


def test_rewrite_chain_of_the_users_words_alone_keeps_them(make_engine: Make, llm: ScriptedLLM, mode: Mode) -> None:
    llm.rewrite = RateLimitError("429")
    reply = mode.ask(make_engine(rewrite={"chain": ["llm", "original"]}), "and its price?")
    assert reply.query == "and its price?"
    assert reply.response.trace.rewrite.status is RewriteStatus.FAILED
    assert reply.response.trace.rewrite.rewriter == "original"


def test_rewrite_chain_concat_puts_recent_turns_before_the_question(
    make_engine: Make, llm: ScriptedLLM, mode: Mode
) -> None:
    llm.rewrite = RateLimitError("429")
    reply = mode.ask(make_engine(rewrite={"chain": ["llm", "concat"]}), "and its price?")
    (joined,) = [query.text for query in reply.response.trace.plan.queries if query.text != "and its price?"]
    assert joined == "User: Tell me about the GTE-3000 Assistant: The GTE-3000 is a printer. and its price?"
    assert reply.response.trace.rewrite.rewriter == "concat"


def test_rewrite_rejected_by_a_guard_goes_on_and_says_why(make_engine: Make, llm: ScriptedLLM, mode: Mode) -> None:
    llm.rewrite = "Who won the football world championship in Brazil in 1950?"
    reply = mode.ask(make_engine(), "and its price?")
    result = reply.response.trace.rewrite
    assert result.rewriter == "rules"
    assert any(not verdict.passed for verdict in result.attempts[0].verdicts)
    assert "Brazil" not in reply.query


def test_rewriter_functions_of_ones_own_sync_and_async(make_engine: Make, llm: ScriptedLLM, mode: Mode) -> None:
    requests: list[RewriteRequest] = []

    def plain(request: RewriteRequest) -> str:
        requests.append(request)
        return PRICE

    async def coroutine(request: RewriteRequest) -> str:
        await asyncio.sleep(0)
        return plain(request)

    class Method:
        name = "own"

        async def rewrite(self, request: RewriteRequest) -> str:
            return plain(request)

    class SyncMethod:
        name = "own"

        def rewrite(self, request: RewriteRequest) -> str:
            return plain(request)

    def gives_a_coroutine(request: RewriteRequest) -> Any:
        return coroutine(request)

    for rewriter in (plain, coroutine, gives_a_coroutine, Method(), SyncMethod()):
        reply = mode.ask(make_engine(rewriters={"own": rewriter}, rewrite={"chain": ["own"]}), "and its price?")
        assert reply.query == PRICE
        assert reply.response.trace.rewrite.rewriter == "own"
    assert len(requests) == 5
    assert requests[0].message == "and its price?"
    assert "Tell me about the GTE-3000" in requests[0].window.text
    assert llm.count("rewrite") == 0


def test_rewriter_functions_of_ones_own_may_fail_decline_or_be_late(make_engine: Make, mode: Mode) -> None:
    release = threading.Event()

    def fails(_: RewriteRequest) -> str:
        raise RuntimeError("boom")

    def hangs(_: RewriteRequest) -> str:
        release.wait(10)
        return PRICE

    async def ahangs(_: RewriteRequest) -> str:
        await asyncio.sleep(10)
        return PRICE

    cases: list[tuple[Any, str]] = [(fails, "RuntimeError"), (lambda _: None, "declined"), (lambda _: "  ", "")]
    try:
        for function, error in cases:
            engine = make_engine(rewriters={"own": function}, rewrite={"chain": ["own", "rules"]})
            result = mode.ask(engine, "and its price?").response.trace.rewrite
            assert result.rewriter == "rules"
            assert error in result.attempts[0].error
        for function in (hangs, ahangs):
            engine = make_engine(rewriters={"own": function}, rewrite={"chain": ["own", "rules"], "timeout_s": 0.1})
            result = mode.ask(engine, "and its price?").response.trace.rewrite
            assert [a.error for a in result.attempts] == ["timeout", ""]
    finally:
        release.set()


def test_circuit_breaker_leaves_a_failing_model_alone_and_tries_again(
    make_engine: Make, llm: ScriptedLLM, mode: Mode
) -> None:
    clock = Clock()
    llm.rewrite = RateLimitError("429")
    engine = make_engine(clock=clock)
    for _ in range(5):
        mode.ask(engine, "and its price?", [*engine.chat_history[:2]])
    assert llm.count("rewrite") == 5
    reply = mode.ask(engine, "and its price?", [*engine.chat_history[:2]])
    assert llm.count("rewrite") == 5
    assert "circuit open" in reply.response.trace.rewrite.attempts[0].error
    assert reply.response.trace.rewrite.rewriter == "rules"
    clock.now += 3600
    llm.rewrite = PRICE
    assert mode.ask(engine, "and its price?", [*engine.chat_history[:2]]).query == PRICE
    assert llm.count("rewrite") == 6


def test_message_that_is_only_a_reference_goes_on_where_the_model_leaves_it_unchanged(
    make_engine: Make, llm: ScriptedLLM, mode: Mode
) -> None:
    llm.rewrite = "And that?"
    result = mode.ask(make_engine(), "and that?").response.trace.rewrite
    assert [a.rewriter for a in result.attempts] == ["llm", "rules"]


def test_rewrite_that_leaves_a_reference_is_kept_where_nothing_resolves_it(
    make_engine: Make, llm: ScriptedLLM, mode: Mode
) -> None:
    llm.rewrite = "What is its price?"
    result = mode.ask(make_engine(rewrite={"chain": ["llm", "original"]}), "and its price?").response.trace.rewrite
    assert (result.query, result.rewriter) == ("What is its price?", "llm")
    assert [a.accepted for a in result.attempts] == [True]
