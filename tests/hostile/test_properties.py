"""The whole engine on hostile text: it answers or refuses the message, and what it searches is always clean."""

from __future__ import annotations

import json
import unicodedata

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.memory import ChatMemoryBuffer

from llama_index_condense_plus import CondensePlusChatEngine, InvalidMessageError
from llama_index_condense_plus.observability.trace import CondenseTrace
from tests.fakes import ScriptedLLM, query_engine
from tests.hostile.injections import Injection, all_injections, searched_in_place
from tests.hostile.texts import PIECES, asked_text, hostile_text
from tests.modes import MODES, Mode

FEW = settings(
    max_examples=15, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow], database=None
)
LONG_CHARS = 125_000


def engine_with(rewrite: str, history: list[ChatMessage]) -> CondensePlusChatEngine:
    memory = ChatMemoryBuffer.from_defaults(chat_history=history, token_limit=10**9)
    llm = ScriptedLLM(rewrite=rewrite)
    return CondensePlusChatEngine.from_defaults(query_engine(llm=llm), llm=llm, memory=memory)


def conversation(*texts: str) -> list[ChatMessage]:
    roles = (MessageRole.USER, MessageRole.ASSISTANT)
    return [ChatMessage(role=roles[number % 2], content=text) for number, text in enumerate(texts)]


def check(trace: CondenseTrace) -> None:
    """Check what holds for every turn."""
    for query in trace.plan.queries:
        assert query.text.strip()
        assert "\n" not in query.text
        assert not [c for c in query.text if unicodedata.category(c) == "Cc"], repr(query.text)
        query.text.encode("utf-8")
    texts = [query.text.casefold().split() for query in trace.plan.queries]
    assert all(text not in texts[:number] for number, text in enumerate(texts))
    json.loads(json.dumps(trace.to_dict(), ensure_ascii=True))


def ask(engine: CondensePlusChatEngine, message: str, name: str) -> None:
    before, mode = len(engine.chat_history), Mode(name)
    try:
        response = mode.ask(engine, message).response
    except InvalidMessageError:
        assert len(engine.chat_history) == before
        return
    finally:
        mode.close()
    trace = engine.trace_of(response)
    assert trace is not None
    check(trace)
    assert [(m.role.value, m.content) for m in engine.chat_history[before:]] == [
        ("user", message),
        ("assistant", "the answer"),
    ]


@pytest.mark.parametrize("name", MODES)
@FEW
@given(message=asked_text, said=st.lists(hostile_text, max_size=4), rewrite=hostile_text)
@example(message="it", said=["\ud800", "\ud800"], rewrite="\ud800")
@example(message="{question}", said=["{chat_history}", "{}"], rewrite="{0}")
def test_engine_searches_clean_text_whatever_is_said(name: str, message: str, said: list[str], rewrite: str) -> None:
    ask(engine_with(rewrite, conversation(*said)), message, name)


@pytest.mark.parametrize("number", range(len(PIECES)), ids=[ascii(piece) for piece in PIECES])
def test_engine_takes_each_piece_as_message_history_and_rewrite(number: int) -> None:
    piece, name = PIECES[number], MODES[number % len(MODES)]
    talk = conversation("What is the GTE-3000?", f"A printer. {piece}")
    ask(engine_with(piece, talk), f"And its price? {piece}", name)
    ask(engine_with(piece, conversation(piece, piece)), piece, name)


@pytest.mark.parametrize("unit", ["a ", "{", "1. x\n", "\u202e", "(", "GTE-3000 ", "“", "不", "https://a.b/"])
def test_engine_takes_a_long_message(unit: str) -> None:
    long = (unit * (LONG_CHARS // len(unit))).strip() or unit
    talk = conversation("What is the GTE-3000?", "A printer.")  # explained only: no model answers such a prompt
    try:
        check(engine_with("What is its price?", talk).explain(long))
    except InvalidMessageError:
        assert unit == "\u202e"
    check(engine_with(long, conversation("What is the GTE-3000?", long)).explain("And its price?"))


INJECTIONS = all_injections()


def test_there_are_enough_attacks() -> None:
    assert len(INJECTIONS) >= 60


@pytest.mark.parametrize("attack", INJECTIONS, ids=range(len(INJECTIONS)))
def test_what_an_obedient_model_returns_is_never_searched_in_place_of_the_question(attack: Injection) -> None:
    engine = CondensePlusChatEngine.from_defaults(query_engine(llm=ScriptedLLM(rewrite=attack.obeyed)))
    history = [ChatMessage(role=role, content=text) for role, text in attack.history]
    trace = engine.explain(attack.question, history)
    assert not searched_in_place(attack, [query.text for query in trace.plan.queries])
