"""Megabyte messages and histories of 10,000 messages through the whole engine: work and memory stay bounded.

Counted are the characters and messages that reach each part, never seconds.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.memory import ChatMemoryBuffer

from llama_index_condense_plus import CondensePlusChatEngine, CondensePlusSettings, MessageTooLongError
from llama_index_condense_plus.languages import text, words
from llama_index_condense_plus.rewriting.history import build_window
from llama_index_condense_plus.turn.answer import EARLIER_SHARE, prompt_tokens, recent_turns
from tests.conftest import FIRST_ROUND, PRICE
from tests.fakes import ScriptedLLM
from tests.modes import Mode, said

Make = Callable[..., CondensePlusChatEngine]
FOLLOW_UP = "and its price?"
MEGABYTE = 1_000_000
LONG_CHARS = 100_000
"""Far beyond the model of these tests, and tokenised by core in a moment."""
UNITS = ("and its price? ", "它的价格呢？", "{question} %s ", "\u202e\u200b\u0440 ", "- 第一种：x\n", "(((([[[[")


class SmallSteps(ChatMemoryBuffer):
    """A memory that counts no tokens: what is tested is ours."""

    def get(self, *args: Any, **kwargs: Any) -> Any:
        return self.get_all()

    async def aget(self, *args: Any, **kwargs: Any) -> Any:
        return self.get_all()


@cache
def history_of(n: int) -> list[ChatMessage]:
    roles = (MessageRole.USER, MessageRole.ASSISTANT)
    texts = ("Tell me about the GTE-{}", "The GTE-{} is a printer of the series {}.")
    return [ChatMessage(role=roles[i % 2], content=texts[i % 2].format(i // 2, i)) for i in range(n)]


def test_message_beyond_the_context_is_refused_clearly_and_nothing_is_stored(make_engine: Make, mode: Mode) -> None:
    engine = make_engine()
    with pytest.raises(MessageTooLongError, match="context_window is 4096") as caught:
        mode.ask(engine, "What about " + UNITS[0] * (LONG_CHARS // len(UNITS[0])))
    assert isinstance(caught.value, ValueError)
    assert len(str(caught.value)) < 500
    assert len(said(engine)) == len(FIRST_ROUND)
    assert mode.ask(engine, FOLLOW_UP).query == PRICE


@pytest.mark.parametrize("unit", UNITS[1:], ids=ascii)
def test_long_message_of_anything_is_refused_alike(make_engine: Make, unit: str) -> None:
    with pytest.raises(MessageTooLongError):
        make_engine().chat("What about " + unit * (LONG_CHARS // len(unit)))


def test_answers_of_a_megabyte_leave_the_next_prompts_small(make_engine: Make, mode: Mode) -> None:
    long = [*FIRST_ROUND[:1], ChatMessage(role=MessageRole.ASSISTANT, content="它很好用。" * (MEGABYTE // 15))]
    llm = ScriptedLLM(rewrite=PRICE)
    engine = make_engine(memory=SmallSteps.from_defaults(chat_history=long, token_limit=10**9), llm=llm)
    reply = mode.ask(engine, FOLLOW_UP)
    assert reply.text == "the answer"
    assert max(len(prompt) for _, prompt in llm.calls) < 10_000
    assert llm.count("answer") == 1  # the documents' part of the window was not eaten up, bit by bit


def test_history_of_ten_thousand_messages_shows_and_keeps_what_a_short_one_does(make_engine: Make, mode: Mode) -> None:
    prompts = {}
    for n in (100, 10_000):
        llm = ScriptedLLM(rewrite=PRICE)
        memory = SmallSteps.from_defaults(chat_history=list(history_of(n)), token_limit=10**9)
        reply = mode.ask(make_engine(memory=memory, llm=llm), FOLLOW_UP)
        prompts[n] = [len(prompt) for _, prompt in llm.calls]
        assert len(reply.response.trace.window.entities) <= 64
        assert len(str(reply.response.trace.to_dict())) < 40_000
    assert len(prompts[100]) == len(prompts[10_000])
    assert max(prompts[10_000]) < 1.2 * max(prompts[100])


def test_history_is_analysed_in_a_bounded_part(monkeypatch: pytest.MonkeyPatch) -> None:
    analysed = {}
    seen: list[int] = []
    fold = words.aligned

    def counted(said: str) -> str:
        seen.append(len(said))
        return fold(said)

    monkeypatch.setattr(words, "aligned", counted)
    for n in (200, 2_000, 10_000):
        seen.clear()
        build_window(history_of(n), CondensePlusSettings().history)
        analysed[n] = sum(seen)
    assert analysed[10_000] <= 2 * analysed[200] + 10_000


@pytest.mark.parametrize("context_window", [512, 4096, 32_768])
@pytest.mark.parametrize("words", ["它的价格是多少呢", "the price of it is high "])
def test_earlier_turns_take_no_more_than_their_share_of_the_context(context_window: int, words: str) -> None:
    said_before = [(role, words * 1_000) for role in ("user", "assistant") * 3]
    window = build_window(said_before, CondensePlusSettings().history)
    shown = recent_turns(window, 3, context_window)
    assert shown
    assert prompt_tokens("", shown) <= context_window / EARLIER_SHARE
    assert shown[-1].role is MessageRole.ASSISTANT
    assert len(recent_turns(window, 3)) == 6
    assert recent_turns(window, 0, context_window) == []


def test_long_texts_do_not_fill_the_memory() -> None:
    calls: list[str] = []
    measure = text.remembered(lambda said: (calls.append(said), len(said))[1])
    kept = text.KEPT_CHARS // 10_000
    long = [f"{number:04}" * 2_500 for number in range(kept + 1)]
    huge = "x" * (text.KEPT_CHARS + 1)
    for one in (*long, huge, huge, *long[1:], *long[:1]):
        assert measure(one) == len(one)
    assert len(calls) == kept + 4  # the newest are remembered, the oldest is not, the huge one never is
    assert measure("short") == measure("short") == 5
    assert calls.count("short") == 1
