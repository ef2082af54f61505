"""Rewrites that fail, are refused or late: the chain goes on, and the trace says so."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest

from llama_index_condense_plus import (
    RewriteRequest,
    RewriteStatus,
)
from tests.conftest import PRICE
from tests.fakes import Clock, ScriptedLLM
from tests.modes import Mode, said

Make = Callable[..., Any]


class RateLimitError(Exception):
    """What an API client raises on status 429."""

    status_code = 429


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
