"""What PlanRetriever searches for the bundle it is asked: plans, changed words, prefetched lists, reserves."""

from __future__ import annotations

import asyncio
import threading

import pytest
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.callbacks import CallbackManager, CBEventType, LlamaDebugHandler
from llama_index.core.schema import QueryBundle

from llama_index_condense_plus.retrieval.retriever import PlanRetriever
from llama_index_condense_plus.settings import CondensePlusSettings
from llama_index_condense_plus.types import PlannedQuery, QueryPlan, QueryRole, RewriteResult, RewriteStatus
from tests.modes import PATIENCE
from tests.retrieval.parts import FakeRetriever, node, window

PLAN = QueryPlan((PlannedQuery("rewritten", QueryRole.REWRITTEN), PlannedQuery("original", QueryRole.ORIGINAL, 0.5)))
ONE = QueryPlan(PLAN.queries[:1])


@pytest.fixture(params=["sync", "async"])
def retrieve(request):
    def go(retriever: BaseRetriever, query="rewritten"):
        return retriever.retrieve(query) if request.param == "sync" else asyncio.run(retriever.aretrieve(query))

    return go


def test_retriever_plans_from_the_words_it_is_asked_with_the_conversation(retrieve):
    class Planner:
        def plan(self, result, talk):
            seen.append((result.original, result.query, result.status, talk))
            return QueryPlan((PlannedQuery("of the planner", QueryRole.REWRITTEN),))

    seen = []
    talk = window("hello", "hi")
    base = FakeRetriever(lambda words: [node(words, 1.0)])
    retrieve(PlanRetriever(base, planner=Planner(), window=talk), "and it?")
    assert seen == [("and it?", "and it?", RewriteStatus.SKIPPED, talk)]


def test_plan_for_changed_words_keeps_role_weight_reserve_and_says_so():
    reserve = (PlannedQuery("variant", QueryRole.VARIANT),)
    plan = QueryPlan((PlannedQuery("rewritten", QueryRole.REWRITTEN, 0.8), *PLAN.queries[1:]), "why", reserve)
    made = PlanRetriever(FakeRetriever(lambda words: []), plan=plan).plan_for(QueryBundle("changed"))
    assert made.queries == (PlannedQuery("changed", QueryRole.REWRITTEN, 0.8), PLAN.queries[1])
    assert made.reserve == reserve
    assert made.reason == "why; changed by a query transform"


@pytest.mark.parametrize("words", ["rewritten", "Original?", " ", "the user's words"])
def test_plan_for_known_or_blank_words_is_the_plan(words):
    base = FakeRetriever(lambda text: [])
    assert words == "the user's words" or PlanRetriever(base, plan=PLAN).plan_for(QueryBundle(words)) is PLAN
    result = RewriteResult("the user's words", "the price of it", RewriteStatus.REWRITTEN)
    assert PlanRetriever(base, result=result).plan_for(QueryBundle("The user's words?")).search_query == result.query


def test_similarity_top_k_is_the_settings_or_the_greatest_of_the_retrievers():
    few, many, none = (FakeRetriever(lambda words: [], similarity_top_k=k) for k in (2, 7, None))
    assert PlanRetriever({"few": few, "many": many, "none": none}).similarity_top_k == 7
    assert PlanRetriever(none).similarity_top_k is None
    settings = CondensePlusSettings(fusion={"top_k": 3})
    assert PlanRetriever(many, settings=settings).similarity_top_k == 3


def test_retriever_takes_from_a_prefetched_list_no_more_than_it_would_have_asked_for(retrieve):
    many = [node(f"early{i}", 1 - i / 100) for i in range(9)]
    base = FakeRetriever(lambda words: [node(words, 1.0)], similarity_top_k=2)
    seen = []

    class Started:
        """A future for threads and for the loop."""

        def result(self, timeout=None):
            return many

        def done(self):
            return True

        def __await__(self):
            yield from asyncio.sleep(0).__await__()
            return many

    retrieve(PlanRetriever(base, plan=PLAN, prefetched={"original": Started()}, observe=seen.append))
    assert [len(ranked.nodes) for ranked in seen[0]] == [1, 2]
    unlimited = FakeRetriever(lambda words: [node(words, 1.0)])
    retrieve(PlanRetriever(unlimited, plan=PLAN, prefetched={"original": Started()}, observe=seen.append))
    assert [len(ranked.nodes) for ranked in seen[1]] == [1, 9]


def test_retriever_searches_the_reserve_with_each_retriever_and_says_so(retrieve):
    base = FakeRetriever(lambda words: [])
    plan = QueryPlan(ONE.queries, reserve=(PlannedQuery("variant", QueryRole.VARIANT, 0.5),))
    seen = []
    retrieve(PlanRetriever({"a": base, "b": base}, plan=plan, observe=seen.append))
    assert [(ranked.query.text, ranked.source) for ranked in seen[0]] == [
        ("rewritten", "a"),
        ("rewritten", "b"),
        ("variant", "a"),
        ("variant", "b"),
    ]


def test_retriever_without_top_k_returns_as_many_as_its_longest_list(retrieve):
    lists = {"rewritten": [node("a", 2.0)], "original": [node("b", 2.0), node("c", 1.0), node("d", 0.5)]}
    base = FakeRetriever(lists.__getitem__)
    assert len(retrieve(PlanRetriever(base, plan=PLAN))) == 3


def test_retriever_takes_all_that_a_search_of_its_own_brings(retrieve):
    base = FakeRetriever(lambda words: [node(f"{words}{i}", 1 - i / 100) for i in range(9)], similarity_top_k=2)
    seen = []
    retrieve(PlanRetriever(base, plan=PLAN, observe=seen.append))
    assert [len(ranked.nodes) for ranked in seen[0]] == [9, 9]


def test_retriever_gives_the_reserve_a_deadline_too(retrieve):
    released = threading.Event()

    def answer(words):
        if words == "variant":
            released.wait(20)
        return []

    seen = []
    plan = QueryPlan(ONE.queries, reserve=(PlannedQuery("variant", QueryRole.VARIANT),))
    settings = CondensePlusSettings(retrieval={"timeout_s": 0.2 * PATIENCE})
    try:
        retrieve(PlanRetriever(FakeRetriever(answer), plan=plan, settings=settings, observe=seen.append))
    finally:
        released.set()
    assert [ranked.error for ranked in seen[0]] == ["", "TimeoutError"]


def test_retriever_tells_its_callbacks_of_the_whole_retrieval(retrieve):
    heard = LlamaDebugHandler(print_trace_on_end=False)
    base = FakeRetriever(lambda words: [node(words, 1.0)])
    retrieve(PlanRetriever(base, plan=PLAN, callback_manager=CallbackManager([heard])))
    ((_, end),) = heard.get_event_pairs(CBEventType.RETRIEVE)
    assert [found.node_id for found in end.payload["nodes"]] == ["rewritten"]


def test_retriever_searches_the_reserve_with_the_bundles_image(retrieve):
    base = FakeRetriever(lambda words: [])
    plan = QueryPlan(ONE.queries, reserve=(PlannedQuery("variant", QueryRole.VARIANT),))
    retrieve(PlanRetriever(base, plan=plan), QueryBundle("rewritten", image_path="cat.png"))
    assert [(bundle.query_str, bundle.image_path) for bundle in base.bundles] == [
        ("rewritten", "cat.png"),
        ("variant", "cat.png"),
    ]
