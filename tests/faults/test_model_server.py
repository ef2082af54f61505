"""A model server that fails in every way it can: the turn goes on, or fails cleanly, and nothing is half written."""

from __future__ import annotations

import time
from json import JSONDecodeError
from typing import Any

import pytest

pytest.importorskip("llama_index.llms.openai_like")
from llama_index.core.memory import BaseMemory, Memory
from llama_index.llms.openai_like import OpenAILike

from llama_index_condense_plus import CondensePlusChatEngine, CondensePlusSettings, RewriteStatus, workers
from tests.conftest import FIRST_ROUND
from tests.fakes import query_engine
from tests.faults.server import ANSWER, FAULTS, HANGING, empty_choices, huge, misbehaving
from tests.modes import LIMIT_S, Mode, said

FOLLOW_UP = "and its price?"
BEFORE = [(message.role.value, message.content) for message in FIRST_ROUND]


def engine_at(url: str, memory: BaseMemory | None = None, **sections: Any) -> CondensePlusChatEngine:
    llm = OpenAILike(
        model="fake", api_base=url, api_key="sk-secret", is_chat_model=True, max_retries=0, context_window=32_000
    )
    settings = CondensePlusSettings(**sections)
    return CondensePlusChatEngine.from_defaults(
        query_engine(llm=llm), llm=llm, chat_history=list(FIRST_ROUND), memory=memory, settings=settings
    )


@pytest.mark.parametrize("fault", FAULTS)
def test_rewrite_call_with_a_fault_goes_on_with_the_rules(mode: Mode, fault: str) -> None:
    with misbehaving(rewrite=FAULTS[fault]) as (url, _):
        engine = engine_at(url)
        reply = mode.ask(engine, FOLLOW_UP)
    assert reply.text.strip() == ANSWER
    assert reply.response.trace.rewrite.rewriter == "rules"
    assert reply.response.trace.rewrite.attempts[0].error
    assert "sk-secret" not in str(reply.response.trace.to_dict())
    assert said(engine)[2:] == [("user", FOLLOW_UP), ("assistant", ANSWER)]


@pytest.mark.parametrize("fault", HANGING)
def test_rewrite_call_that_hangs_is_left_at_its_deadline(mode: Mode, fault: str) -> None:
    with misbehaving(rewrite=HANGING[fault]) as (url, _):
        reply = mode.ask(engine_at(url, rewrite={"timeout_s": 0.3}), FOLLOW_UP)
    assert reply.response.trace.rewrite.attempts[0].error == "timeout"
    assert reply.response.trace.rewrite.status is RewriteStatus.REWRITTEN
    mode.wait_until(lambda: workers.live_workers() == 0)  # the abandoned call has returned, and its thread with it


def test_rewrite_call_with_empty_choices_goes_on(mode: Mode) -> None:
    with misbehaving(rewrite=empty_choices) as (url, _):
        reply = mode.ask(engine_at(url), FOLLOW_UP)
    assert reply.response.trace.rewrite.rewriter == "rules"


def test_answer_of_a_megabyte_is_given_and_stored_whole_and_the_next_turn_runs(mode: Mode) -> None:
    # LlamaIndex's own tokenizer takes seconds for such an answer.
    memory = Memory.from_defaults(chat_history=list(FIRST_ROUND), tokenizer_fn=lambda text: [0] * (len(text) // 4))
    with misbehaving(answer=huge) as (url, _):
        engine = engine_at(url, memory)
        reply = mode.ask(engine, FOLLOW_UP)
    asked, answered = engine.chat_history[2:]
    assert asked.content == FOLLOW_UP
    assert len(answered.content or "") >= 999_999
    same = (answered.content or "").strip() == reply.text.strip()
    assert same  # a difference of this size is not to be printed
    with misbehaving() as (url, _):
        assert mode.ask(engine_at(url), "and its colour?", engine.chat_history).text.strip() == ANSWER


SWALLOWED = {("malformed", False): "Empty Response", ("not JSON", True): ""}
"""By fault and streaming: what LlamaIndex and its client make an empty answer of, instead of raising."""


@pytest.mark.parametrize(("fault", "streams"), SWALLOWED)
def test_answer_that_core_swallows_is_stored_whole(mode: Mode, fault: str, streams: bool) -> None:
    if mode.streams is not streams:
        pytest.skip("raises in this mode, tested elsewhere")
    with misbehaving(answer=FAULTS[fault]) as (url, _):
        engine = engine_at(url)
        try:
            mode.ask(engine, FOLLOW_UP)
        except JSONDecodeError:  # older versions of core let it through
            assert said(engine) == BEFORE
            return
    assert said(engine)[2:] == [("user", FOLLOW_UP), ("assistant", SWALLOWED[fault, streams])]


@pytest.mark.parametrize("fault", FAULTS)
def test_answer_call_with_a_fault_reaches_the_caller_and_leaves_the_history(mode: Mode, fault: str) -> None:
    if (fault, mode.streams) in SWALLOWED:
        pytest.skip("LlamaIndex makes an empty answer of it, tested elsewhere")
    with misbehaving(answer=FAULTS[fault]) as (url, calls):
        engine = engine_at(url)
        with pytest.raises(Exception) as caught:  # noqa: PT011 - each client library has its own errors
            mode.ask(engine, FOLLOW_UP)
        assert "answer" in calls
    assert "sk-secret" not in str(caught.value)
    assert said(engine) == BEFORE


@pytest.mark.parametrize("fault", HANGING)
def test_answer_call_that_hangs_ends_at_its_deadline_and_lets_the_next_turn_run(mode: Mode, fault: str) -> None:
    with misbehaving(answer=HANGING[fault]) as (url, _):
        engine = engine_at(url, answer={"timeout_s": 0.5})
        with pytest.raises(TimeoutError):
            mode.ask(engine, FOLLOW_UP)
        assert said(engine) == BEFORE
        begun = time.monotonic()
        with pytest.raises(TimeoutError):
            mode.ask(engine, FOLLOW_UP)
        assert time.monotonic() - begun < LIMIT_S
    mode.wait_until(lambda: workers.live_workers() == 0)


def test_server_that_refuses_tls_or_is_not_there_goes_on_and_then_fails_cleanly(mode: Mode) -> None:
    with misbehaving() as (url, _):
        engine = engine_at(url.replace("http://", "https://"))
        with pytest.raises(Exception):  # noqa: B017, PT011 - each client library has its own errors
            mode.ask(engine, FOLLOW_UP)
    assert said(engine) == BEFORE
