"""Queries in the script of the documents: which words change, in the plan and in what is searched."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

import pytest

from llama_index_condense_plus import CondensePlusSettings, ConfigurationError, PlannedQuery, QueryPlan, QueryRole
from llama_index_condense_plus.retrieval import scripts
from llama_index_condense_plus.retrieval.retriever import PlanRetriever
from llama_index_condense_plus.retrieval.scripts import in_script, plan_in_script
from tests.fakes import ScriptedLLM, WordRetriever
from tests.modes import Mode
from tests.retrieval.parts import FakeRetriever, node


@pytest.mark.parametrize(
    ("script", "text", "searched"),
    [
        ("as_typed", "頭髮和发展", "頭髮和发展"),
        ("simplified", "頭髮和發展 GTE-3000", "头发和发展 GTE-3000"),
        ("traditional", "头发和发展", "頭髮和發展"),
        ("traditional", "頭髮和發展", "頭髮和發展"),
        ("taiwan", "为什么里面", "為什麼裡面"),
        ("hong_kong", "为什么里面", "為什麼裏面"),
        ("taiwan", "GTE-3000 price?", "GTE-3000 price?"),
    ],
)
def test_in_script_writes_chinese_words_in_it(script: str, text: str, searched: str) -> None:
    assert in_script(text, script) == searched


def test_plan_in_script_changes_every_query_and_nothing_else() -> None:
    plan = QueryPlan(
        (PlannedQuery("发展", QueryRole.REWRITTEN), PlannedQuery("头发", QueryRole.ORIGINAL, 0.5)),
        "why",
        (PlannedQuery("头发 topic", QueryRole.TOPIC, 0.7),),
    )
    assert plan_in_script(plan, "traditional") == QueryPlan(
        (PlannedQuery("發展", QueryRole.REWRITTEN), PlannedQuery("頭髮", QueryRole.ORIGINAL, 0.5)),
        "why",
        (PlannedQuery("頭髮 topic", QueryRole.TOPIC, 0.7),),
    )
    assert plan_in_script(plan, "as_typed") is plan


def test_retriever_searches_what_it_is_asked_in_the_script_of_the_documents() -> None:
    base = FakeRetriever(lambda words: [node(words, 1.0)])
    settings = CondensePlusSettings(retrieval={"script": "simplified"})
    assert [n.node_id for n in PlanRetriever(base, settings=settings).retrieve("頭髮")] == ["头发"]


@pytest.mark.parametrize("message", ["GTE-3000 的保固期呢？", "GTE-3000 的保固期多久？", "你好"])
def test_engine_searches_and_shows_the_script_of_the_documents(
    make_engine: Callable[..., Any], mode: Mode, message: str
) -> None:
    retriever = WordRetriever(["保固期 頭髮"])
    engine = make_engine(
        retriever=retriever,
        llm=ScriptedLLM(rewrite="GTE-3000 的保固期是多久？"),
        chat_history=(),
        retrieval={"script": "simplified", "dual": "always"},
        trigger=None,
    )
    mode.ask(engine, "GTE-3000 頭髮多少錢？")
    reply = mode.ask(engine, message.replace("保固期", "頭髮護理"))
    plan = reply.response.trace.plan
    assert reply.query == plan.search_query
    assert all(in_script(query.text, "simplified") == query.text for query in plan.queries)
    assert {query.text for query in plan.queries} <= set(retriever.queries)
    assert reply.response.trace.message == message.replace("保固期", "頭髮護理")


def test_prefetched_original_is_searched_once_in_the_script(make_engine: Callable[..., Any], mode: Mode) -> None:
    retriever = WordRetriever(["头发"])
    engine = make_engine(
        retriever=retriever,
        llm=ScriptedLLM(rewrite="GTE-3000 護髮的價格是多少？"),
        retrieval={"script": "simplified", "dual": "always", "variants": []},
    )
    mode.ask(engine, "那護髮呢？")
    assert sorted(retriever.queries) == ["GTE-3000 护发的价格是多少？", "那护发呢？"]


def test_a_script_that_needs_opencc_says_so_when_the_engine_is_made(
    make_engine: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any, **more: Any) -> Any:
        if name == "opencc":
            raise ImportError(name)
        return real(name, *rest, **more)

    scripts.converter.cache_clear()
    monkeypatch.setattr(builtins, "__import__", without)
    for make in (make_engine, lambda **sections: PlanRetriever(FakeRetriever(lambda words: []), **sections)):
        settings = CondensePlusSettings(retrieval={"script": "taiwan"})
        with pytest.raises(ConfigurationError, match=r"retrieval\.script: 'taiwan' needs OpenCC.*\[opencc\]"):
            make(settings=settings)
    assert in_script("頭髮", "simplified") == "头发"
    scripts.converter.cache_clear()
