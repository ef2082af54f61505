"""What a turn searches, in which order, and what becomes of what it finds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from llama_index.core.schema import NodeWithScore, TextNode

from tests.conftest import PRICE
from tests.fakes import Log, PlainQueryEngine, RecordingPostprocessor, ScriptedLLM, WordRetriever
from tests.modes import Mode

Make = Callable[..., Any]


def test_chat_postprocessors_see_all_candidates_and_the_answer_top_k(
    make_engine: Make, llm: ScriptedLLM, mode: Mode
) -> None:
    post = RecordingPostprocessor()
    retriever = WordRetriever([f"passage {i} {'abcdefgh'[i]}" for i in range(8)], top_k=2)
    found = iter([[0, 1], [2, 3]])
    by_query: dict[str, list[int]] = {}

    def nodes(query: str) -> list[NodeWithScore]:
        picked = by_query.setdefault(query, next(found) if query not in by_query else [])
        return [NodeWithScore(node=retriever.nodes[i], score=1.0 / (rank + 1)) for rank, i in enumerate(picked)]

    retriever._found = nodes  # type: ignore[method-assign]
    reply = mode.ask(make_engine(retriever=retriever, node_postprocessors=[post]), "and its price?")
    assert [n for _, _, n in post.seen] == [4]
    assert reply.response.trace.nodes
    assert llm.calls[-1][1].count("passage") == 2
    assert len(reply.node_ids) == 2


def test_chat_prefetches_the_original_while_the_rewrite_runs(mode: Mode, make_engine: Make) -> None:
    log = Log()
    model = ScriptedLLM(rewrite=PRICE, rewrite_delay_s=0.2, log=log)
    retriever = WordRetriever(["the GTE-3000 costs 99 euros"], log=log)
    mode.ask(make_engine(llm=model, retriever=retriever), "and its price?")
    original, rewritten = log.index("retrieval begins: and its price?"), log.index(f"retrieval begins: {PRICE}")
    assert original < log.index("rewrite ends") < rewritten
    assert retriever.queries.count("and its price?") == 1


def test_chat_does_not_prefetch_where_it_is_switched_off(mode: Mode, make_engine: Make) -> None:
    log = Log()
    model = ScriptedLLM(rewrite=PRICE, rewrite_delay_s=0.1, log=log)
    retriever = WordRetriever(["the GTE-3000 costs 99 euros"], log=log)
    mode.ask(make_engine(llm=model, retriever=retriever, retrieval={"prefetch": False}), "and its price?")
    assert log.index("rewrite ends") < log.index("retrieval begins")
    assert sorted(retriever.queries) == [PRICE, f"{PRICE} and its price?", "and its price?"]


def test_chat_searches_one_query_where_dual_is_never(mode: Mode, make_engine: Make) -> None:
    retriever = WordRetriever(["the GTE-3000 costs 99 euros"])
    mode.ask(make_engine(retriever=retriever, retrieval={"dual": "never"}), "and its price?")
    assert retriever.queries == [PRICE]


def test_chat_query_engine_without_a_retriever_gets_the_rewrite(make_engine: Make, mode: Mode) -> None:
    plain = PlainQueryEngine()
    reply = mode.ask(make_engine(query_engine=plain), "and its price?")
    assert plain.queries == [PRICE]
    assert reply.text == "plain answer"
    assert reply.query == PRICE
    trace = reply.response.trace
    assert len(trace.plan.queries) == 1
    assert any("plan_collapsed" in warning for warning in trace.warnings)


def test_chat_same_text_in_two_documents_stays_two_sources(make_engine: Make, mode: Mode) -> None:
    texts = ["the GTE-3000 costs 99 euros", "the GTE-3000 costs 99 euros"]
    if len(WordRetriever(texts).retrieve("GTE-3000")) == 1:
        pytest.skip("this version of core drops equal texts itself")
    for options in ({}, {"fusion": {"dedupe_text": False, "provenance_metadata": True}}):
        reply = mode.ask(make_engine(retriever=WordRetriever(texts), **options), "and its price?")
        assert sorted(reply.node_ids) == ["n0", "n1"]
    merged = mode.ask(make_engine(retriever=WordRetriever(texts), fusion={"dedupe_text": True}), "and its price?")
    assert len(merged.node_ids) == 1


def test_chat_never_mutates_what_the_retriever_returned(make_engine: Make, mode: Mode) -> None:
    class Owner(WordRetriever):
        def _found(self, query: str) -> list[NodeWithScore]:
            nodes = super()._found(query)
            returned.extend((node, node.score) for node in nodes)
            return nodes

    returned: list[tuple[NodeWithScore, float | None]] = []
    retriever = Owner(["the GTE-3000 costs 99 euros", "the GTE-3000 has a warranty"])
    texts = [(node.text, dict(node.metadata)) for node in retriever.nodes]
    reply = mode.ask(make_engine(retriever=retriever, fusion={"provenance_metadata": True}), "and its price?")
    assert len(returned) == 6
    assert all(node.score == score for node, score in returned)
    assert [(node.text, dict(node.metadata)) for node in retriever.nodes] == texts
    assert all("condense" not in str(node.node.metadata) for node, _ in returned)
    assert all(isinstance(node.node, TextNode) for node in reply.response.source_nodes)


def test_original_is_searched_with_its_aliases_expanded_and_once(
    make_engine: Make, llm: ScriptedLLM, mode: Mode
) -> None:
    llm.rewrite = "What is the price of the GTE-3000 with Bluey?"
    retriever = WordRetriever(["the GTE-3000 costs 99 euros"])
    engine = make_engine(retriever=retriever, aliases={"Bluey": "GTE-5000"}, retrieval={"dual": "always"})
    reply = mode.ask(engine, "and its price with Bluey?")
    assert [query.text for query in reply.response.trace.plan.queries] == [
        "What is the price of the GTE-3000 with GTE-5000?",
        "and its price with GTE-5000?",
    ]
    assert retriever.queries.count("and its price with GTE-5000?") == 1
