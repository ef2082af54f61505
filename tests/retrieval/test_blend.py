"""One search with the mean of a plan's vectors: who gets it, what is embedded, and what happens if it fails."""

from __future__ import annotations

import asyncio
import threading

import pytest
from llama_index.core import VectorStoreIndex
from llama_index.core.schema import QueryBundle, TextNode

from llama_index_condense_plus import CondensePlusSettings
from llama_index_condense_plus.retrieval.retriever import PlanRetriever
from llama_index_condense_plus.types import PlannedQuery, QueryPlan, QueryRole
from tests.modes import PATIENCE
from tests.retrieval.parts import BatchEmbedding, FakeRetriever, SingleEmbedding, node, vector

PLAN = QueryPlan((PlannedQuery("aa", QueryRole.REWRITTEN), PlannedQuery("cc", QueryRole.ORIGINAL)))
PASSAGES = {"a": "a", "mixed": "ac", "c": "c", "other": "d"}


@pytest.fixture(params=["sync", "async"])
def retrieve(request):
    def go(retriever, query="aa"):
        return retriever.retrieve(query) if request.param == "sync" else asyncio.run(retriever.aretrieve(query))

    return go


def searching(model, **options):
    nodes = [TextNode(id_=name, text=text) for name, text in PASSAGES.items()]
    return VectorStoreIndex(nodes, embed_model=model).as_retriever(**{"similarity_top_k": 1, **options})


def settings(**retrieval):
    return CondensePlusSettings(retrieval=retrieval, fusion={"provenance_metadata": True})


def run(retrieve, base, query="aa", plan=PLAN, own=None, **options):
    """Return ids, provenance and ranked lists of a retrieval."""
    seen = []
    found = retrieve(PlanRetriever(base, plan=plan, settings=own or settings(), observe=seen.append, **options), query)
    by = [place for one in found for place in one.node.metadata["condense_plus_found_by"]]
    return [one.node_id for one in found], by, seen[0]


@pytest.mark.parametrize("model", [BatchEmbedding, SingleEmbedding])
def test_a_vector_retriever_searches_the_mean_of_the_plans_vectors_once(retrieve, model):
    ids, by, lists = run(retrieve, searching(model()))
    assert ids == ["mixed"]  # nearest to neither query, and to their mean
    assert by == ["rewritten+original#1"]
    assert [(ranked.query.text, [query.text for query in ranked.blended]) for ranked in lists] == [("aa", ["cc"])]


def test_all_queries_are_embedded_in_one_call_if_the_model_has_one(retrieve):
    model = BatchEmbedding()
    run(retrieve, searching(model))
    assert model.calls == [["aa", "cc"]]


@pytest.mark.parametrize(("weight", "first"), [(0.1, "a"), (1.0, "mixed")])
def test_weights_say_how_much_each_vector_counts(retrieve, weight, first):
    plan = QueryPlan((PLAN.queries[0], PlannedQuery("cc", QueryRole.ORIGINAL, weight)))
    assert run(retrieve, searching(SingleEmbedding()), plan=plan)[0] == [first]


def test_a_hyde_passage_stands_for_the_lead(retrieve):
    model = BatchEmbedding()
    bundle = QueryBundle("aa", custom_embedding_strs=["dd", "d"])
    assert run(retrieve, searching(model), bundle, plan=QueryPlan(PLAN.queries[:1]))[0] == ["other"]
    model.calls.clear()
    run(retrieve, searching(model), bundle)
    assert model.calls == [["dd", "d", "cc"]]


def test_lists_are_searched_for_whoever_wants_them(retrieve):
    lists = run(retrieve, searching(BatchEmbedding()), own=settings(blend="lists"))[2]
    assert [(ranked.query.text, len(ranked.nodes), ranked.blended) for ranked in lists] == [
        ("aa", 1, ()),
        ("cc", 1, ()),
        ("aa cc", 1, ()),
    ]


def test_several_retrievers_and_those_that_do_not_embed_get_lists(retrieve):
    words = FakeRetriever(lambda text: [node(text, 1.0)])
    named = {"words": words, "vectors": searching(BatchEmbedding())}
    assert [(r.source, r.query.text) for r in run(retrieve, named)[2]] == [
        (source, text) for source in named for text in ("aa", "cc", "aa cc")
    ]
    assert len(run(retrieve, words, own=settings(blend="vector"))[2]) == 3
    assert [len(r.blended) for r in run(retrieve, named, own=settings(blend="vector"))[2]] == [0, 0, 0, 1]


@pytest.mark.parametrize("failing", ["raises", "hangs"])
def test_lists_are_searched_where_embedding_together_fails(retrieve, monkeypatch, failing):
    released = threading.Event()

    def fail(self, texts):
        if failing == "hangs":
            released.wait(20)
        raise RuntimeError("too long")

    base = searching(BatchEmbedding())
    monkeypatch.setattr(BatchEmbedding, "get_query_embedding_batch", fail)
    try:
        lists = run(retrieve, base, own=settings(timeout_s=0.5 * PATIENCE))[2]
    finally:
        released.set()
    assert [len(ranked.nodes) for ranked in lists] == [2, 2]


async def test_what_was_embedded_before_the_plan_is_not_embedded_again():
    model = SingleEmbedding()
    base = searching(model)

    async def begun():
        return vector("cc")

    retriever = PlanRetriever(base, plan=PLAN, prefetched={"CC?": asyncio.create_task(begun())})
    assert [one.node_id for one in await retriever.aretrieve("aa")] == ["mixed"]
    alone = PlanRetriever(base, plan=QueryPlan(PLAN.queries[1:]), prefetched={"cc": asyncio.create_task(begun())})
    assert [one.node_id for one in await alone.aretrieve("cc")] == ["c"]
    assert model.calls == [["aa"]]


def test_a_reranker_chooses_from_more_than_are_returned(retrieve):
    assert len(run(retrieve, searching(BatchEmbedding()), for_postprocessors=True)[0]) == 2
