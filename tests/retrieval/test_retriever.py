"""PlanRetriever with retrievers that overlap, fail, hang, cache or run already: sync and async."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import Future

import pytest
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.callbacks import CallbackManager, CBEventType, LlamaDebugHandler
from llama_index.core.llms.mock import MockLLM
from llama_index.core.postprocessor import SimilarityPostprocessor
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import QueryBundle

from llama_index_condense_plus import workers
from llama_index_condense_plus.errors import ConfigurationError, RetrievalFailedError
from llama_index_condense_plus.retrieval.retriever import PlanRetriever
from llama_index_condense_plus.settings import CondensePlusSettings
from llama_index_condense_plus.types import PlannedQuery, QueryPlan, QueryRole, RewriteResult, RewriteStatus
from tests.modes import PATIENCE
from tests.retrieval.parts import FakeRetriever, node, window

PLAN = QueryPlan((PlannedQuery("rewritten", QueryRole.REWRITTEN), PlannedQuery("original", QueryRole.KEYWORDS, 0.5)))
ONE = QueryPlan(PLAN.queries[:1])
RESERVE = QueryPlan(ONE.queries, reserve=(PlannedQuery("variant", QueryRole.VARIANT, 0.5),))


@pytest.fixture(params=["sync", "async"])
def retrieve(request):
    """Retrieve in one of both ways."""

    def go(retriever: BaseRetriever, query="rewritten"):
        if request.param == "sync":
            return retriever.retrieve(query)
        return asyncio.run(asyncio.wait_for(retriever.aretrieve(query), 30))

    return go


def by_words(**lists):
    def answer(words):
        found = lists[words]
        if isinstance(found, Exception):
            raise found
        return found

    return FakeRetriever(answer)


def echo(top_k=None):
    return FakeRetriever(lambda words: [node(words, 1.0)], similarity_top_k=top_k)


def ids(nodes):
    return [found.node_id for found in nodes]


def searched(base):
    return sorted(bundle.query_str for bundle in base.bundles)


def test_what_each_query_of_the_plan_finds_is_fused(retrieve):
    base = by_words(rewritten=[node("a", 2.0), node("b", 1.9)], original=[node("b", 2.0), node("c", 1.0)])
    assert ids(retrieve(PlanRetriever(base, plan=PLAN))) == ["a", "b"]
    assert searched(base) == ["original", "rewritten"]


@pytest.mark.parametrize(
    ("given", "query", "words"),
    [
        ({}, "anything", ["anything"]),
        ({"plan": PLAN}, "changed by a transform", ["changed by a transform", "original"]),
        ({"plan": PLAN}, "Original?", ["original", "rewritten"]),
        (
            {"result": RewriteResult("《活着》呢？", "《活着》的作者是谁？", RewriteStatus.REWRITTEN)},
            "《活着》呢",
            ["《活着》呢？", "《活着》的作者是谁？", "《活着》的作者是谁？ 《活着》呢？"],
        ),
        (
            {
                "result": RewriteResult("是哪年上映的？", "电影的上映时间？", RewriteStatus.REWRITTEN),
                "window": window("看过电影《霸王别姬》吗？", "看过。"),
                "settings": CondensePlusSettings(retrieval={"variants": ["topic", "llm"]}),
            },
            "电影的上映时间？",
            ["电影的上映时间？", "霸王别姬是哪年上映的？"],
        ),
    ],
)
def test_words_plan_or_rewrite_say_what_is_searched(retrieve, given, query, words):
    base = echo()
    retrieve(PlanRetriever(base, **given), query)
    assert searched(base) == sorted(words)


def test_changed_words_keep_role_weight_and_reserve_of_the_lead():
    made = PlanRetriever(echo(), plan=RESERVE).plan_for(QueryBundle("changed"))
    assert made.queries == (PlannedQuery("changed", QueryRole.REWRITTEN),)
    assert (made.reserve, made.reason) == (RESERVE.reserve, "; changed by a query transform")


def test_a_transforms_embedding_strings_belong_to_the_lead_and_its_image_to_all(retrieve):
    base = echo()
    template = QueryBundle("rewritten", custom_embedding_strs=["a passage"], image_path="cat.png")
    retrieve(PlanRetriever(base, plan=PLAN), template)
    seen = {bundle.query_str: bundle for bundle in base.bundles}
    assert [seen[name].embedding_strs for name in ("rewritten", "original")] == [["a passage"], ["original"]]
    assert {bundle.image_path for bundle in base.bundles} == {"cat.png"}
    assert template.embedding is None


def test_one_failing_query_is_noted_by_its_kind_and_the_others_answer(retrieve):
    seen = []
    base = by_words(rewritten=ValueError("sk-secret is wrong"), original=[node("c", 1.0)])
    assert ids(retrieve(PlanRetriever(base, plan=PLAN, observe=seen.append))) == ["c"]
    assert [ranked.error for ranked in seen[0]] == ["ValueError", ""]


@pytest.mark.parametrize("plan", [ONE, PLAN])
def test_if_every_query_fails_the_first_failure_is_raised(retrieve, plan):
    seen = []
    base = by_words(rewritten=ValueError("first"), original=ValueError("second"))
    with pytest.raises(RetrievalFailedError, match=f"^All {len(plan.queries)} .*first") as raised:
        retrieve(PlanRetriever(base, plan=plan, observe=seen.append))
    assert isinstance(raised.value.__cause__, ValueError)
    assert len(seen[0]) == len(plan.queries)


@pytest.mark.parametrize(("plan", "hanging"), [(PLAN, "original"), (RESERVE, "variant")])
def test_a_query_that_hangs_is_left_behind(retrieve, plan, hanging):
    released = threading.Event()

    def answer(words):
        if words == hanging:
            released.wait(20)
        return [] if plan is RESERVE else [node(words, 1.0)]

    seen = []
    settings = CondensePlusSettings(retrieval={"timeout_s": 0.2 * PATIENCE})
    try:
        retrieve(PlanRetriever(FakeRetriever(answer), plan=plan, settings=settings, observe=seen.append))
    finally:
        released.set()
    assert [ranked.error for ranked in seen[0]] == ["", "TimeoutError"]


def test_a_retrievers_own_time_out_is_told_apart_from_the_deadline(retrieve):
    base = by_words(rewritten=TimeoutError("the store was slow"), original=TimeoutError("slow"))
    settings = CondensePlusSettings(retrieval={"timeout_s": 20})
    with pytest.raises(RetrievalFailedError, match="the store was slow"):
        retrieve(PlanRetriever(base, plan=PLAN, settings=settings))


def test_a_list_that_the_retriever_keeps_is_never_changed(retrieve):
    cached = [node("a", 2.0), node("b", 1.0)]
    cached[0].node.metadata["page"] = 1
    for found in retrieve(PlanRetriever(FakeRetriever(lambda words: cached), plan=PLAN)):
        found.score = 0.0
        found.node.metadata["page"] = 2
    assert [(n.node_id, n.score) for n in cached] == [("a", 2.0), ("b", 1.0)]
    assert cached[0].node.metadata == {"page": 1}


def test_all_queries_run_at_once(retrieve):
    barrier = threading.Barrier(4)

    def answer(words):
        barrier.wait(20)  # passes only if all four are inside
        return [node(words, 1.0)]

    plan = QueryPlan(tuple(PlannedQuery(str(i), QueryRole.VARIANT) for i in range(4)))
    assert len(retrieve(PlanRetriever(FakeRetriever(answer), plan=plan), "0")) == 1


def test_nodes_are_cut_to_top_k_unless_postprocessors_are_to_choose(retrieve):
    base = FakeRetriever(lambda words: [node(f"{words}{i}", 1 - i / 10) for i in range(3)], similarity_top_k=3)
    assert len(retrieve(PlanRetriever(base, plan=PLAN))) == 3
    assert len(retrieve(PlanRetriever(base, plan=PLAN, for_postprocessors=True))) == 6
    settings = CondensePlusSettings(fusion={"top_k": 1})
    assert len(retrieve(PlanRetriever(base, plan=PLAN, settings=settings))) == 1
    lists = {"rewritten": [node("a", 2.0)], "original": [node("b", 2.0), node("c", 1.0), node("d", 0.5)]}
    assert len(retrieve(PlanRetriever(by_words(**lists), plan=PLAN))) == 3  # no top_k: the longest list's
    assert retrieve(PlanRetriever(FakeRetriever(lambda words: []), plan=PLAN)) == []


def test_the_reserve_is_searched_once_if_too_little_was_found(retrieve):
    base, seen = FakeRetriever(lambda words: [node("v", 1.0)] if words == "variant" else []), []
    assert ids(retrieve(PlanRetriever({"a": base, "b": base}, plan=RESERVE, observe=seen.append))) == ["v"]
    assert [(ranked.query.text, ranked.source) for ranked in seen[0]] == [
        (text, source) for text in ("rewritten", "variant") for source in "ab"
    ]
    enough = echo()
    retrieve(PlanRetriever(enough, plan=RESERVE))
    assert searched(enough) == ["rewritten"]
    weak = CondensePlusSettings(retrieval={"low_recall_min_score": 1.1})
    retrieve(PlanRetriever(enough, plan=RESERVE, settings=weak))
    assert searched(enough) == ["rewritten", "rewritten", "variant"]


def test_several_retrievers_are_searched_and_named(retrieve):
    faq = FakeRetriever(lambda words: [node(f"faq-{words}", 1.0)], similarity_top_k=4)
    docs = FakeRetriever(lambda words: [node(f"docs-{words}", 1.0)], similarity_top_k=9)
    settings = CondensePlusSettings(fusion={"provenance_metadata": True})
    both = PlanRetriever({"faq": faq, "docs": docs}, plan=PLAN, settings=settings)
    assert {n.node_id: n.node.metadata["condense_plus_found_by"] for n in retrieve(both)} == {
        "faq-rewritten": ["faq:rewritten#1"],
        "faq-original": ["faq:keywords#1"],
        "docs-rewritten": ["docs:rewritten#1"],
        "docs-original": ["docs:keywords#1"],
    }
    assert both.similarity_top_k == 9


def test_a_retrieval_under_way_is_taken_over_up_to_top_k(retrieve):
    many = [node(f"early{i}", 1 - i / 100) for i in range(9)]

    class Started(Future):  # type: ignore[type-arg]
        def __await__(self):
            return asyncio.wrap_future(self).__await__()

    for top_k, count in ((2, 2), (None, 9)):
        started, base, seen = Started(), echo(top_k), []
        started.set_result(many)
        retrieve(PlanRetriever(base, plan=PLAN, prefetched={"Original?": started}, observe=seen.append))
        assert [len(ranked.nodes) for ranked in seen[0]] == [1, count]
        assert searched(base) == ["rewritten"]


async def test_a_blocking_retriever_does_not_block_the_loop():
    base = echo()
    await PlanRetriever(base, plan=ONE).aretrieve("rewritten")
    assert threading.current_thread().name not in base.threads


@pytest.mark.parametrize(
    "error",
    [
        NotImplementedError("no such method"),
        ValueError("Async client is not initialized"),
        AttributeError("'NoneType' object has no attribute 'search'"),
        ValueError("no such collection"),
    ],
)
async def test_a_retriever_without_an_async_side_is_asked_in_a_thread(error):
    class SyncOnly(FakeRetriever):
        async def _aretrieve(self, query_bundle):
            raise error

    retriever = PlanRetriever(SyncOnly(lambda words: [node(words)]), plan=ONE)
    if "collection" in str(error):
        with pytest.raises(RetrievalFailedError, match="no such collection"):
            await retriever.aretrieve("rewritten")
    else:
        assert ids(await retriever.aretrieve("rewritten")) == ["rewritten"]


async def test_a_cancelled_retrieval_leaves_no_task_behind():
    class Slow(FakeRetriever):
        async def _aretrieve(self, query_bundle):
            await asyncio.sleep(60)

    before = asyncio.all_tasks()
    task = asyncio.create_task(PlanRetriever(Slow(lambda words: []), plan=PLAN).aretrieve("rewritten"))
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.sleep(0.01)
    assert asyncio.all_tasks() == before


def test_a_query_for_which_no_thread_is_to_be_had_fails(monkeypatch):
    monkeypatch.setattr(workers, "MAX_WORKERS", 0)
    settings = CondensePlusSettings(retrieval={"timeout_s": 20})
    with pytest.raises(RetrievalFailedError, match="WorkersExhausted"):
        PlanRetriever(echo(), plan=PLAN, settings=settings).retrieve("rewritten")


def test_scores_stay_such_that_a_cut_off_can_judge_them():
    base = by_words(rewritten=[node("a", 0.9), node("b", 0.4)], original=[node("b", 0.5)])
    cut_off = SimilarityPostprocessor(similarity_cutoff=0.6)
    engine = RetrieverQueryEngine.from_args(
        PlanRetriever(base, plan=PLAN), llm=MockLLM(), node_postprocessors=[cut_off]
    )
    assert ids(engine.query("rewritten").source_nodes) == ["a"]


def test_callbacks_are_told_of_the_whole_retrieval(retrieve):
    heard = LlamaDebugHandler(print_trace_on_end=False)
    retrieve(PlanRetriever(echo(), plan=PLAN, callback_manager=CallbackManager([heard])))
    ((_, end),) = heard.get_event_pairs(CBEventType.RETRIEVE)
    assert ids(end.payload["nodes"]) == ["rewritten"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"retriever": {}}, "at least one"),
        ({"plan": PLAN, "result": RewriteResult("a", "b", RewriteStatus.REWRITTEN)}, "not both"),
        ({"settings": CondensePlusSettings(fusion={"method": "borda"})}, "fusion.method"),
    ],
)
def test_wrong_arguments_are_refused_when_the_retriever_is_made(arguments, words):
    with pytest.raises(ConfigurationError, match=words):
        PlanRetriever(**{"retriever": echo(), **arguments})
