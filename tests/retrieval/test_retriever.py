"""PlanRetriever with retrievers that overlap, fail, hang, cache or embed: sync and async."""

from __future__ import annotations

import asyncio
import threading

import pytest
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.llms.mock import MockLLM
from llama_index.core.postprocessor import SimilarityPostprocessor
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import QueryBundle

from llama_index_condense_plus.errors import ConfigurationError, RetrievalFailedError
from llama_index_condense_plus.retrieval import searching
from llama_index_condense_plus.retrieval.retriever import PlanRetriever
from llama_index_condense_plus.settings import CondensePlusSettings
from llama_index_condense_plus.types import PlannedQuery, QueryPlan, QueryRole, RewriteResult, RewriteStatus
from tests.modes import PATIENCE
from tests.retrieval.parts import FakeRetriever, node, window

PLAN = QueryPlan((PlannedQuery("rewritten", QueryRole.REWRITTEN), PlannedQuery("original", QueryRole.ORIGINAL, 0.5)))
ONE = QueryPlan(PLAN.queries[:1])


@pytest.fixture(params=["sync", "async"])
def retrieve(request):
    """Retrieve in one of both ways."""

    def go(retriever: BaseRetriever, query="rewritten"):
        if request.param == "sync":
            return retriever.retrieve(query)
        return asyncio.run(retriever.aretrieve(query))

    return go


def by_words(**lists):
    def answer(words):
        found = lists[words]
        if isinstance(found, Exception):
            raise found
        return found

    return FakeRetriever(answer)


def ids(nodes):
    return [found.node_id for found in nodes]


def test_retriever_fuses_what_each_query_of_the_plan_finds(retrieve):
    base = by_words(rewritten=[node("a", 2.0), node("b", 1.9)], original=[node("b", 2.0), node("c", 1.0)])
    found = retrieve(PlanRetriever(base, plan=PLAN))
    assert ids(found) == ["a", "b"]
    assert sorted(bundle.query_str for bundle in base.bundles) == ["original", "rewritten"]


def test_retriever_plans_from_a_ready_rewrite(retrieve):
    base = FakeRetriever(lambda words: [node(words, 1.0)])
    result = RewriteResult("《活着》的作者呢？", "《活着》的作者是谁？", RewriteStatus.REWRITTEN)
    retrieve(PlanRetriever(base, result=result, window=window("你好", "你好")), "《活着》的作者是谁？")
    assert {bundle.query_str for bundle in base.bundles} == {result.original, result.query}


def test_retriever_adds_the_variants_that_need_no_model(retrieve):
    base = FakeRetriever(lambda words: [node(words, 1.0)])
    result = RewriteResult("是哪年上映的？", "电影的上映时间？", RewriteStatus.REWRITTEN)
    settings = CondensePlusSettings(retrieval={"variants": ["topic", "llm"]})
    talk = window("看过电影《霸王别姬》吗？", "看过。")
    retrieve(PlanRetriever(base, result=result, window=talk, settings=settings), result.query)
    assert {bundle.query_str for bundle in base.bundles} == {result.query, "霸王别姬 是哪年上映的？"}


def test_retriever_searches_what_it_is_asked_without_a_plan(retrieve):
    base = FakeRetriever(lambda words: [node(words, 1.0)])
    assert ids(retrieve(PlanRetriever(base), "anything")) == ["anything"]


def test_retriever_lets_a_query_transform_change_the_first_query(retrieve):
    base = FakeRetriever(lambda words: [node(words, 1.0)])
    retrieve(PlanRetriever(base, plan=PLAN), "changed by a transform")
    assert {bundle.query_str for bundle in base.bundles} == {"changed by a transform", "original"}


def test_retriever_hands_a_transforms_embedding_strings_to_the_first_query_only(retrieve):
    base = FakeRetriever(lambda words: [node(words, 1.0)])
    template = QueryBundle("rewritten", custom_embedding_strs=["a passage"], image_path="cat.png")
    retrieve(PlanRetriever(base, plan=PLAN), template)
    seen = {bundle.query_str: bundle for bundle in base.bundles}
    assert seen["rewritten"].embedding_strs == ["a passage"]
    assert seen["original"].embedding_strs == ["original"]
    assert {bundle.image_path for bundle in base.bundles} == {"cat.png"}
    assert template.embedding is None


def test_retriever_survives_the_failure_of_one_query(retrieve):
    seen = []
    base = by_words(rewritten=ValueError("server is down"), original=[node("c", 1.0)])
    assert ids(retrieve(PlanRetriever(base, plan=PLAN, observe=seen.append))) == ["c"]
    assert [ranked.error for ranked in seen[0]] == ["ValueError", ""]  # its words may hold a secret


def test_retriever_raises_if_every_query_fails(retrieve):
    seen = []
    base = by_words(rewritten=ValueError("first"), original=ValueError("second"))
    with pytest.raises(RetrievalFailedError, match="first") as raised:
        retrieve(PlanRetriever(base, plan=PLAN, observe=seen.append))
    assert isinstance(raised.value.__cause__, ValueError)
    assert len(seen[0]) == 2


def test_retriever_goes_on_without_a_query_that_hangs(retrieve):
    released = threading.Event()

    def answer(words):
        if words == "original":
            released.wait(20)
        return [node(words, 1.0)]

    seen = []
    settings = CondensePlusSettings(retrieval={"timeout_s": 0.2 * PATIENCE})
    try:
        found = retrieve(PlanRetriever(FakeRetriever(answer), plan=PLAN, settings=settings, observe=seen.append))
    finally:
        released.set()
    assert ids(found) == ["rewritten"]
    assert "TimeoutError" in seen[0][1].error


def test_retriever_never_changes_a_list_that_its_retriever_keeps(retrieve):
    cached = [node("a", 2.0), node("b", 1.0)]
    cached[0].node.metadata["page"] = 1
    base = FakeRetriever(lambda words: cached)
    for found in retrieve(PlanRetriever(base, plan=PLAN)):
        found.score = 0.0
        found.node.metadata["page"] = 2
    assert [(n.node_id, n.score) for n in cached] == [("a", 2.0), ("b", 1.0)]
    assert cached[0].node.metadata == {"page": 1}


def test_retriever_survives_a_retriever_that_returns_nothing(retrieve):
    assert retrieve(PlanRetriever(FakeRetriever(lambda words: []), plan=PLAN)) == []


def test_retriever_runs_all_queries_at_once(retrieve):
    barrier = threading.Barrier(4)

    def answer(words):
        barrier.wait(20)  # passes only if all four are inside
        return [node(words, 1.0)]

    plan = QueryPlan(tuple(PlannedQuery(str(i), QueryRole.VARIANT) for i in range(4)))
    assert len(retrieve(PlanRetriever(FakeRetriever(answer), plan=plan), "0")) == 1


def test_retriever_runs_no_more_at_once_than_it_may(retrieve):
    inside, most, mutex = 0, 0, threading.Lock()

    def answer(words):
        nonlocal inside, most
        with mutex:
            inside += 1
            most = max(most, inside)
        threading.Event().wait(0.01)
        with mutex:
            inside -= 1
        return [node(words, 1.0)]

    plan = QueryPlan(tuple(PlannedQuery(str(i), QueryRole.VARIANT) for i in range(6)))
    retrieve(PlanRetriever(FakeRetriever(answer), plan=plan, max_parallel=2), "0")
    assert most <= 2


def test_retriever_cuts_to_top_k_unless_postprocessors_are_to_choose(retrieve):
    base = FakeRetriever(lambda words: [node(f"{words}{i}", 1 - i / 10) for i in range(3)], similarity_top_k=3)
    assert len(retrieve(PlanRetriever(base, plan=PLAN))) == 3
    assert len(retrieve(PlanRetriever(base, plan=PLAN, for_postprocessors=True))) == 6
    settings = CondensePlusSettings(fusion={"top_k": 1})
    assert len(retrieve(PlanRetriever(base, plan=PLAN, settings=settings))) == 1


def test_retriever_searches_the_reserve_once_if_too_little_was_found(retrieve):
    base = FakeRetriever(lambda words: [node("v", 1.0)] if words == "variant" else [])
    plan = QueryPlan(ONE.queries, reserve=(PlannedQuery("variant", QueryRole.VARIANT),))
    assert ids(retrieve(PlanRetriever(base, plan=plan))) == ["v"]
    assert [bundle.query_str for bundle in base.bundles] == ["rewritten", "variant"]
    enough = FakeRetriever(lambda words: [node(words, 1.0)])
    assert ids(retrieve(PlanRetriever(enough, plan=plan))) == ["rewritten"]


def test_retriever_searches_several_retrievers_and_names_the_source(retrieve):
    faq = FakeRetriever(lambda words: [node(f"faq-{words}", 1.0)])
    docs = FakeRetriever(lambda words: [node(f"docs-{words}", 1.0)])
    seen = []
    settings = CondensePlusSettings(fusion={"provenance_metadata": True, "top_k": 9})
    both = PlanRetriever(
        {"faq": faq, "docs": docs}, plan=PLAN, settings=settings, single_query=["docs"], observe=seen.append
    )
    found = {n.node_id: n.node.metadata["condense_plus_found_by"] for n in retrieve(both)}
    assert found == {
        "faq-rewritten": ["faq:rewritten#1"],
        "faq-original": ["faq:original#1"],
        "docs-rewritten": ["docs:rewritten#1"],
    }
    assert [ranked.source for ranked in seen[0]] == ["faq", "faq", "docs"]


def test_retriever_takes_over_a_retrieval_that_is_under_way():
    base = FakeRetriever(lambda words: [node(words, 1.0)])
    from llama_index_condense_plus import workers  # noqa: PLC0415

    started = workers.submit(lambda: [node("prefetched", 1.0)], "test")
    found = PlanRetriever(base, plan=PLAN, prefetched={"Original?": started}).retrieve("rewritten")
    assert set(ids(found)) <= {"rewritten", "prefetched"}
    assert [bundle.query_str for bundle in base.bundles] == ["rewritten"]


async def test_retriever_takes_over_a_task_that_is_under_way():
    base = FakeRetriever(lambda words: [node(words, 1.0)])

    async def search():
        return [node("prefetched", 1.0)]

    task = asyncio.create_task(search())
    settings = CondensePlusSettings(fusion={"top_k": 5})
    found = await PlanRetriever(base, plan=PLAN, settings=settings, prefetched={"original": task}).aretrieve(
        "rewritten"
    )
    assert ids(found) == ["rewritten", "prefetched"]


async def test_retriever_does_not_block_the_loop_with_a_blocking_retriever():
    base = FakeRetriever(lambda words: [node(words, 1.0)])
    await PlanRetriever(base, plan=ONE).aretrieve("rewritten")
    assert threading.current_thread().name not in base.threads


async def test_aretrieve_falls_back_to_a_thread_without_an_async_client():
    class SyncOnly(FakeRetriever):
        async def _aretrieve(self, query_bundle):
            raise ValueError("Async client is not initialized!")

    class Broken(FakeRetriever):
        async def _aretrieve(self, query_bundle):
            raise ValueError("no such collection")

    assert ids(await searching.aretrieve(SyncOnly(lambda words: [node(words)]), QueryBundle("a"))) == ["a"]
    with pytest.raises(ValueError, match="no such collection"):
        await searching.aretrieve(Broken(lambda words: [node(words)]), QueryBundle("a"))


async def test_retriever_leaves_no_task_behind_when_it_is_cancelled():
    class Slow(BaseRetriever):
        def _retrieve(self, query_bundle):
            return []

        async def _aretrieve(self, query_bundle):
            await asyncio.sleep(60)

    before = asyncio.all_tasks()
    task = asyncio.create_task(PlanRetriever(Slow(), plan=PLAN).aretrieve("rewritten"))
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.sleep(0.01)
    assert asyncio.all_tasks() == before


def test_retriever_keeps_scores_that_a_cut_off_can_judge():
    base = by_words(rewritten=[node("a", 0.9), node("b", 0.4)], original=[node("b", 0.5)])
    engine = RetrieverQueryEngine.from_args(
        PlanRetriever(base, plan=PLAN),
        llm=MockLLM(),
        node_postprocessors=[SimilarityPostprocessor(similarity_cutoff=0.6)],
    )
    assert ids(engine.query("rewritten").source_nodes) == ["a"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"retriever": {}}, "at least one"),
        ({"plan": PLAN, "result": RewriteResult("a", "b", RewriteStatus.REWRITTEN)}, "not both"),
        ({"single_query": ["faq"]}, "faq"),
        ({"settings": CondensePlusSettings(fusion={"method": "borda"})}, "fusion.method"),
    ],
)
def test_retriever_refuses_wrong_arguments_when_it_is_made(arguments, words):
    given = {"retriever": FakeRetriever(lambda words: []), **arguments}
    with pytest.raises(ConfigurationError, match=words):
        PlanRetriever(**given)
