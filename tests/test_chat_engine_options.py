"""Options of one turn, retry and edit, explain, and the engine as a tool."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from llama_index_condense_plus import (
    CondensePlusSettings,
    InvalidMessageError,
    TriggerReason,
)
from tests.conftest import FIRST_ROUND, PRICE
from tests.fakes import ScriptedLLM, WordRetriever
from tests.modes import Mode, said

Make = Callable[..., Any]


def test_options_rewrite_false_never_rewrites(make_engine: Make, llm: ScriptedLLM, mode: Mode) -> None:
    engine = make_engine()
    with engine.options(rewrite=False):
        reply = mode.ask(engine, "and its price?")
    assert reply.query == "and its price?"
    assert llm.count("rewrite") == 0
    assert mode.ask(engine, "and its price?").query == PRICE  # the block is over


def test_options_rewrite_true_always_rewrites(make_engine: Make, llm: ScriptedLLM, mode: Mode) -> None:
    llm.rewrite = "What is the price of the GTE-3000 printer?"
    engine = make_engine()
    with engine.options(rewrite=True) as same:
        assert same is engine
        reply = mode.ask(engine, "What is the price of the GTE-3000 printer?")
    assert llm.count("rewrite") == 1
    assert reply.response.trace.decision.reason is TriggerReason.FORCED


def test_options_rewrite_text_is_searched_instead(make_engine: Make, llm: ScriptedLLM, mode: Mode) -> None:
    retriever = WordRetriever(["the GTE-3000 costs 99 euros"])
    engine = make_engine(retriever=retriever, retrieval={"dual": "never"})
    with engine.options(rewrite="GTE-3000\ncost"):
        reply = mode.ask(engine, "and its price?")
    assert reply.query == "GTE-3000 cost"
    assert retriever.queries == ["GTE-3000 cost"]
    assert llm.count("rewrite") == 0
    assert reply.response.trace.rewrite.rewriter == "user"
    assert said(engine)[-2] == ("user", "and its price?")


def test_options_settings_hold_for_the_turn(make_engine: Make, llm: ScriptedLLM, mode: Mode) -> None:
    retriever = WordRetriever(["the GTE-3000 costs 99 euros"])
    engine = make_engine(retriever=retriever)
    with engine.options(settings=CondensePlusSettings(retrieval={"dual": "never"}, answer={"mode": "rewritten"})):
        mode.ask(engine, "and its price?")
    assert retriever.queries == [PRICE]
    assert "and its price?" not in llm.calls[-1][1]
    with engine.options(settings=CondensePlusSettings(enabled=False)):
        assert mode.ask(engine, "and its warranty?").query == "and its warranty?"


def test_options_retriever_reaches_every_query_the_prefetch_included(make_engine: Make, mode: Mode) -> None:
    own, other = WordRetriever(["own"]), WordRetriever(["the GTE-3000 costs 99 euros"])
    engine = make_engine(retriever=own)
    with engine.options(retriever=other):
        reply = mode.ask(engine, "and its price?")
    assert own.queries == []
    assert sorted(other.queries) == [PRICE, f"{PRICE} and its price?", "and its price?"]
    assert reply.text == "the answer"


def test_options_belong_to_the_context_and_the_engine(make_engine: Make, llm: ScriptedLLM) -> None:
    engine, other = make_engine(), make_engine()

    async def request(rewrite: bool | str | None) -> str:
        with engine.options(rewrite=rewrite):
            await asyncio.sleep(0.001)
            response = await engine.achat("and its price?")
            return str(response.sources[0].raw_input["query"])

    async def run() -> list[str]:
        with engine.options(rewrite="mine"):
            response = await other.achat("and its price?")
            assert response.sources[0].raw_input["query"] == PRICE
        return await asyncio.gather(request(False), request("searched instead"), request(None))

    assert asyncio.run(run()) == ["and its price?", "searched instead", PRICE]


def test_retry_answers_the_last_message_anew(make_engine: Make, llm: ScriptedLLM) -> None:
    engine = make_engine()
    for retry in (engine.retry, lambda: asyncio.run(engine.aretry())):
        engine.chat("and its price?")
        before = len(said(engine))
        llm.answer = "another answer"
        response = retry()
        assert str(response) == "another answer"
        assert response.sources[0].raw_input["query"] == PRICE
        assert len(said(engine)) == before
        assert said(engine)[-2:] == [("user", "and its price?"), ("assistant", "another answer")]
        assert [text for _, text in said(engine)].count("another answer") == 1
        prompt = next(p for kind, p in reversed(llm.calls) if kind == "answer")
        assert "the answer" not in prompt  # the answer that is taken back is not read
        llm.answer = "the answer"
        engine.reset()
        for message in FIRST_ROUND:
            engine._memory.put(message)


def test_edit_last_replaces_the_last_message(make_engine: Make, llm: ScriptedLLM) -> None:
    engine = make_engine()
    engine.chat("and its price?")
    llm.rewrite = "What is the warranty of the GTE-3000?"
    assert engine.edit_last("and its warranty?").sources[0].raw_input["query"] == llm.rewrite
    assert [text for role, text in said(engine) if role == "user"] == [
        "Tell me about the GTE-3000",
        "and its warranty?",
    ]
    asyncio.run(engine.aedit_last("and its warranty in years?"))
    assert [text for role, text in said(engine) if role == "user"][1:] == ["and its warranty in years?"]
    assert len(said(engine)) == 4


def test_retry_and_edit_last_that_fail_leave_the_history(make_engine: Make, llm: ScriptedLLM) -> None:
    engine = make_engine()
    engine.chat("and its price?")
    before = said(engine)
    llm.answer = ConnectionError("away")
    calls: list[Callable[[], Any]] = [
        engine.retry,
        lambda: engine.edit_last("and its warranty?"),
        lambda: asyncio.run(engine.aretry()),
        lambda: asyncio.run(engine.aedit_last("and its warranty?")),
    ]
    for call in calls:
        with pytest.raises(ConnectionError):
            call()
        assert said(engine) == before
    for call in (lambda: engine.edit_last(" "), lambda: asyncio.run(engine.aedit_last(""))):
        with pytest.raises(InvalidMessageError):
            call()
    assert said(engine) == before


def test_retry_without_an_earlier_turn_is_a_clear_error(make_engine: Make, llm: ScriptedLLM) -> None:
    engine = make_engine(first=False)
    for call in (engine.retry, lambda: engine.edit_last("x"), lambda: asyncio.run(engine.aretry())):
        with pytest.raises(InvalidMessageError, match="no earlier turn"):
            call()
    assert llm.calls == []
    assert str(engine.chat("Is there a printer?")) == "the answer"


def test_explain_runs_up_to_the_merged_nodes_and_changes_nothing(
    make_engine: Make, llm: ScriptedLLM, events: list[Any]
) -> None:
    engine = make_engine()
    for explain in (engine.explain, lambda *a: asyncio.run(engine.aexplain(*a))):
        before, rewrites = said(engine), llm.count("rewrite")
        trace = explain("and its price?")
        assert trace.search_query == PRICE
        assert sorted(node.node.node_id for node in trace.nodes) == ["n0", "n1"]
        assert len(trace.retrievals) == 3
        assert trace.answer_query == ""
        assert llm.count("answer") == 0
        assert llm.count("rewrite") == rewrites + 1  # the one before filled no cache
        assert said(engine) == before
        assert engine.last_trace is None
    assert "TurnEvent" not in {type(event).__name__ for event in events}
    assert engine.explain("and its price?", []).decision.reason is TriggerReason.NO_HISTORY
    with pytest.raises(InvalidMessageError):
        engine.explain(" ")


def test_explain_tells_the_circuit_breaker_nothing(make_engine: Make, llm: ScriptedLLM) -> None:
    llm.rewrite = ConnectionError("away")
    engine = make_engine()
    for _ in range(7):
        assert engine.explain("and its price?").rewrite.rewriter == "rules"
    assert llm.count("rewrite") == 7
    assert not any("circuit" in a.error for a in engine.explain("and its price?").rewrite.attempts)


def test_explain_runs_while_a_turn_is_under_way(make_engine: Make) -> None:
    llm = ScriptedLLM(rewrite=PRICE, answer="one two three", token_delay_s=0.01)
    engine = make_engine(llm=llm)

    async def run() -> None:
        response = await engine.astream_chat("and its price?")
        assert (await engine.aexplain("and its price?")).search_query == PRICE
        assert "".join([part async for part in response.async_response_gen()]) == "one two three"

    asyncio.run(run())


def test_as_tool_answers_for_agents_sync_and_async(make_engine: Make) -> None:
    engine = make_engine()
    tool = engine.as_tool("printers", "Knows all about printers.")
    assert (tool.metadata.name, tool.metadata.description) == ("printers", "Knows all about printers.")
    assert "question" in tool.metadata.get_parameters_dict()["properties"]
    assert tool.call(question="and its price?").content == "the answer"
    assert asyncio.run(tool.acall(question="and its warranty?")).content == "the answer"
    assert len(said(engine)) == 6
