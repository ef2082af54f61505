"""The engine end to end: what a user gets, in all four modes."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.prompts import PromptTemplate

from llama_index_condense_plus import (
    CondensePlusSettings,
    QueryRole,
    RewriteStatus,
    RuleOutcome,
    TriggerReason,
    TurnEvent,
    TurnProgressEvent,
)
from tests.conftest import FIRST_ROUND, PRICE
from tests.fakes import PlainQueryEngine, RecordingPostprocessor, ScriptedLLM, WordRetriever, query_engine
from tests.modes import Mode, said

Make = Callable[..., Any]


def test_chat_answers_a_follow_up_from_the_rewrite(make_engine: Make, llm: ScriptedLLM, mode: Mode) -> None:
    engine = make_engine()
    reply = mode.ask(engine, "and its price?")
    assert reply.text == "the answer"
    assert reply.query == PRICE
    assert (llm.count("rewrite"), llm.count("answer")) == (1, 1)
    assert said(engine)[-2:] == [("user", "and its price?"), ("assistant", "the answer")]
    assert sorted(reply.node_ids) == ["n0", "n1"]


def test_chat_gives_the_same_trace_in_every_mode(make_engine: Make, mode: Mode) -> None:
    engine = make_engine()
    reply = mode.ask(engine, "and its price?")
    trace = engine.trace_of(reply.response)
    assert trace.decision.rewrite
    assert trace.rewrite.status is RewriteStatus.REWRITTEN
    assert trace.rewrite.rewriter == "llm"
    assert trace.rewrite.verdicts
    assert [query.role for query in trace.plan.queries] == [QueryRole.REWRITTEN, QueryRole.ORIGINAL]
    assert [(ranked.query.text, ranked.used, ranked.error) for ranked in trace.retrievals] == [
        (PRICE, True, ""),
        ("and its price?", True, ""),
        (f"{PRICE} and its price?", True, ""),
    ]
    assert [node.node.node_id for node in trace.nodes] == reply.node_ids
    assert set(trace.provenance) == set(reply.node_ids)
    assert set(trace.timings) >= {"decide", "rewrite", "plan", "answer"}
    assert trace.warnings == ()
    json.dumps(trace.to_dict())
    assert "GTE" not in json.dumps(trace.redacted())


@pytest.mark.parametrize(
    "message", ["Hello!", "What is the price of the GTE-3000 printer?", "谢谢", "北京首都机场一共有几个航站楼？"]
)
def test_chat_makes_no_call_before_the_answer_where_no_rewrite_is_needed(
    make_engine: Make, llm: ScriptedLLM, mode: Mode, message: str
) -> None:
    reply = mode.ask(make_engine(), message)
    assert [kind for kind, _ in llm.calls] == ["answer"]
    assert reply.query == message
    assert reply.response.trace.rewrite.status is RewriteStatus.SKIPPED


def test_chat_makes_no_call_before_the_answer_of_a_first_message(
    make_engine: Make, llm: ScriptedLLM, mode: Mode
) -> None:
    reply = mode.ask(make_engine(first=False), "and its price?")
    assert [kind for kind, _ in llm.calls] == ["answer"]
    assert reply.response.trace.decision.reason is TriggerReason.NO_HISTORY


def test_chat_postprocesses_once_with_the_search_query_on_the_merged_nodes(make_engine: Make, mode: Mode) -> None:
    post = RecordingPostprocessor()
    mode.ask(make_engine(node_postprocessors=[post]), "and its price?")
    assert post.seen == [("async" if mode.is_async else "sync", PRICE, 2)]


@pytest.mark.parametrize("answer_mode", ["conversation", "rewritten", "original"])
def test_chat_answer_reads_what_answer_mode_says(
    make_engine: Make, llm: ScriptedLLM, mode: Mode, answer_mode: str
) -> None:
    post = RecordingPostprocessor()
    mode.ask(make_engine(answer={"mode": answer_mode}, node_postprocessors=[post]), "and its price?")
    prompt = llm.calls[-1][1]
    assert (PRICE in prompt) is (answer_mode != "original")
    assert ("and its price?" in prompt) is (answer_mode != "rewritten")
    assert ("Tell me about the GTE-3000" in prompt) is (answer_mode == "conversation")
    assert post.seen[0][1] == PRICE  # rerankers read the search query in every mode


def test_chat_answer_reads_as_many_rounds_as_the_settings_say(make_engine: Make, llm: ScriptedLLM, mode: Mode) -> None:
    rounds = [
        ChatMessage(role=role, content=f"{role.value} {i}")
        for i in range(4)
        for role in (MessageRole.USER, MessageRole.ASSISTANT)
    ]
    mode.ask(make_engine(chat_history=[*rounds, *FIRST_ROUND], answer={"history_rounds": 2}), "and its price?")
    contents = [str(m.content) for m in llm.answer_messages[-1]]
    assert "user 3" in contents
    assert "user 2" not in contents


def test_chat_system_prompt_and_prefix_messages_reach_the_answer_call(
    make_engine: Make, llm: ScriptedLLM, mode: Mode
) -> None:
    mode.ask(make_engine(system_prompt="You are a pirate."), "and its price?")
    first = llm.answer_messages[-1][0]
    assert first.role == MessageRole.SYSTEM
    assert "You are a pirate." in str(first.content)
    prefix = [
        ChatMessage(role=MessageRole.USER, content="Be short."),
        ChatMessage(role=MessageRole.ASSISTANT, content="Ok."),
    ]
    mode.ask(make_engine(prefix_messages=prefix, settings=CondensePlusSettings.stock()), "and its price?")
    assert [m.content for m in llm.answer_messages[-1][1:3]] == ["Be short.", "Ok."]
    assert [m.role for m in llm.answer_messages[-1]].count(MessageRole.SYSTEM) == 1


def test_chat_prompt_of_ones_own_wins_as_text_and_as_template(make_engine: Make, llm: ScriptedLLM, mode: Mode) -> None:
    words = "My standalone prompt.\n{chat_history}\n=> {question}"
    for prompt in (words, PromptTemplate(words)):
        reply = mode.ask(make_engine(condense_question_prompt=prompt), "and its price?")
        prompt_text = next(p for kind, p in reversed(llm.calls) if kind == "rewrite")
        assert "My standalone prompt." in prompt_text
        assert "=> and its price?" in prompt_text
        assert "Tell me about the GTE-3000" in prompt_text
        assert reply.query == PRICE


def test_chat_condense_llm_rewrites_and_llm_answers(make_engine: Make, llm: ScriptedLLM, mode: Mode) -> None:
    small = ScriptedLLM(rewrite=PRICE, model="small")
    mode.ask(make_engine(condense_llm=small), "and its price?")
    assert [kind for kind, _ in small.calls] == ["rewrite"]
    assert [kind for kind, _ in llm.calls] == ["answer"]


def test_chat_history_none_is_the_memory_and_a_list_that_the_caller_keeps_stores_nothing(
    make_engine: Make, llm: ScriptedLLM, mode: Mode
) -> None:
    engine = make_engine()
    assert mode.ask(engine, "and its price?", []).query == "and its price?"
    assert llm.count("rewrite") == 0
    other = [
        ChatMessage(role=MessageRole.USER, content="Tell me about the T-10"),
        ChatMessage(role=MessageRole.ASSISTANT, content="The T-10 is a scanner."),
    ]
    mode.ask(engine, "and its warranty?", other)
    prompt = next(p for kind, p in reversed(llm.calls) if kind == "rewrite")
    assert "T-10" in prompt
    assert "Tell me about the GTE-3000" not in prompt
    assert said(engine) == [(message.role.value, message.content) for message in FIRST_ROUND]
    assert engine.history_with_queries()[-1].query is None
    mode.ask(engine, "and its price?", None)
    prompt = next(p for kind, p in reversed(llm.calls) if kind == "rewrite")
    assert "Tell me about the GTE-3000" in prompt
    assert len(other) == 2


def test_chat_passes_events_in_the_order_of_the_stages(make_engine: Make, mode: Mode, events: list[Any]) -> None:
    reply = mode.ask(make_engine(node_postprocessors=[RecordingPostprocessor()]), "and its price?")
    names = [type(event).__name__ for event in events]
    own = ["TriggerDecisionEvent", "RewriteEvent", "QueryPlanEvent", "FusionEvent", "TurnEvent"]
    assert [name for name in names if name in own] == own
    assert [event.stage for event in events if isinstance(event, TurnProgressEvent)] == [
        "rewriting",
        "searching",
        "answering",
    ]
    trace = next(event.trace for event in events if isinstance(event, TurnEvent))
    assert trace is reply.response.trace
    ids = {event.turn_id for event in events if type(event).__name__ in (*own, "TurnProgressEvent")}
    assert ids == {trace.turn_id}


def test_chat_stream_of_a_query_engine_that_cannot_stream_has_one_chunk(make_engine: Make, mode: Mode) -> None:
    engine = make_engine(query_engine=PlainQueryEngine("one two three"))
    response = mode.begin(engine, "and its price?")
    if not mode.streams:
        assert str(response) == "one two three"
    elif mode.is_async:

        async def chunks() -> list[str]:
            return [chunk async for chunk in response.async_response_gen()]

        assert mode.run(chunks()) == ["one two three"]
    else:
        assert list(response.response_gen) == ["one two three"]
    assert said(engine)[-1] == ("assistant", "one two three")


def test_chat_small_talk_is_answered_without_a_search_where_asked_for(
    make_engine: Make, llm: ScriptedLLM, mode: Mode
) -> None:
    retriever = WordRetriever(["the GTE-3000 costs 99 euros"])
    engine = make_engine(retriever=retriever, retrieval={"small_talk": "skip"}, system_prompt="You are a pirate.")
    for message in ("Thanks!", "谢谢你"):
        reply = mode.ask(engine, message)
        assert reply.text == "the answer"
        assert reply.response.sources == []
        assert reply.response.source_nodes == []
        assert said(engine)[-2:] == [("user", message), ("assistant", "the answer")]
    assert retriever.queries == []
    assert [kind for kind, _ in llm.calls] == ["answer", "answer"]
    assert "Tell me about the GTE-3000" in llm.calls[0][1]
    assert "You are a pirate." in llm.calls[0][1]


def test_chat_nothing_found_gives_the_stock_reply_or_a_models(make_engine: Make, llm: ScriptedLLM, mode: Mode) -> None:
    stock = make_engine(retriever=WordRetriever([]))
    reply = mode.ask(stock, "and its price?")
    assert reply.text == "Empty Response"
    assert "empty_retrieval" in reply.response.trace.warnings
    assert llm.count("answer") == 0
    friendly = make_engine(retriever=WordRetriever([]), answer={"on_empty": "llm"})
    reply = mode.ask(friendly, "and its price?")
    assert reply.text == "the answer"
    assert said(friendly)[-1] == ("assistant", "the answer")
    assert "Empty Response" not in str(said(friendly))


def test_chat_asks_which_is_meant_where_asked_for(make_engine: Make, llm: ScriptedLLM, mode: Mode) -> None:
    retriever = WordRetriever(["the GTE-3000 costs 99 euros"])
    engine = make_engine(
        retriever=retriever,
        rewrite={"on_ambiguous": "ask", "chain": ["unsure"]},
        rewriters={"unsure": lambda _: RuleOutcome(None, ambiguous=True, candidates=("GTE-3000", "GTE-4000"))},
        retrieval={"prefetch": False},
    )
    reply = mode.ask(engine, "How much does it cost?")
    assert "GTE-3000" in reply.text
    assert "GTE-4000" in reply.text
    assert retriever.queries == []
    assert llm.calls == []
    assert reply.response.source_nodes == []
    assert said(engine)[-1] == ("assistant", reply.text)
    kept = make_engine(
        retriever=retriever,
        rewrite={"chain": ["unsure"]},
        rewriters={"unsure": lambda _: RuleOutcome("How much is the GTE-3000?", ambiguous=True)},
    )
    weights = [query.weight for query in mode.ask(kept, "How much does it cost?").response.trace.plan.queries]
    assert weights == [1.0, 1.0]  # unasked, both are searched alike


def test_chat_verbose_prints_one_line_a_turn(make_engine: Make, mode: Mode, capsys: pytest.CaptureFixture[str]) -> None:
    engine = make_engine(verbose=True)
    mode.ask(engine, "and its price?")
    mode.ask(engine, "Thanks!")
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2
    assert PRICE in lines[0]


def test_chat_failed_query_of_several_is_survived_and_told(make_engine: Make, mode: Mode) -> None:
    retriever = WordRetriever(["the GTE-3000 costs 99 euros"], fails_on=lambda query: query != PRICE)
    reply = mode.ask(make_engine(retriever=retriever), "and its price?")
    assert reply.node_ids == ["n0"]
    assert any("retrieval failed: original" in warning for warning in reply.response.trace.warnings)


def test_chat_disabled_never_rewrites(
    make_engine: Make, llm: ScriptedLLM, mode: Mode, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = make_engine(enabled=False)
    monkeypatch.setenv("CONDENSE_PLUS_ENABLED", "off")
    switched_off = make_engine(enabled=True)  # the operator's switch wins over the code
    for one in (engine, switched_off):
        reply = mode.ask(one, "and its price?")
        assert reply.query == "and its price?"
        with one.options(rewrite=True):
            assert mode.ask(one, "and its price?").query == "and its price?"
    assert llm.count("rewrite") == 0


def test_chat_uses_a_rewrite_of_the_same_prompt_again(make_engine: Make, llm: ScriptedLLM, mode: Mode) -> None:
    engine = make_engine()
    first = mode.ask(engine, "and its price?", FIRST_ROUND)
    again = mode.ask(engine, "and its price?", FIRST_ROUND)
    assert llm.count("rewrite") == 1
    assert (first.response.trace.rewrite.cache_hit, again.response.trace.rewrite.cache_hit) == (False, True)
    assert first.query == again.query == PRICE


def test_chat_keeps_no_rejected_rewrite_in_the_cache(make_engine: Make, llm: ScriptedLLM, mode: Mode) -> None:
    llm.rewrite = "Who won the football world championship in Brazil?"
    engine = make_engine(rewrite={"chain": ["llm", "original"]})
    for _ in range(2):
        reply = mode.ask(engine, "and its price?", FIRST_ROUND)
        assert reply.query == "and its price?"
        assert reply.response.trace.rewrite.status is RewriteStatus.REJECTED
    assert llm.count("rewrite") == 2


def test_query_engine_of_the_caller_is_never_changed(make_engine: Make, llm: ScriptedLLM, mode: Mode) -> None:
    shared = query_engine(llm=llm, node_postprocessors=[RecordingPostprocessor()], streaming=mode.streams)
    before = dict(shared.__dict__)
    synthesizer = dict(shared._response_synthesizer.__dict__)
    mode.ask(make_engine(query_engine=shared, system_prompt="You are a pirate."), "and its price?")
    assert shared.__dict__ == before
    assert shared._response_synthesizer.__dict__ == synthesizer
    assert "pirate" not in str(shared.get_prompts())
