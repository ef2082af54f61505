"""LlamaIndex's own retrievers under a plan: vector, Qdrant embedded, hybrid, fusion, merging, recursive, BM25."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
from llama_index.core import StorageContext, VectorStoreIndex
from llama_index.core.llms.mock import MockLLM
from llama_index.core.node_parser import HierarchicalNodeParser, get_leaf_nodes
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.retrievers import AutoMergingRetriever, QueryFusionRetriever, RecursiveRetriever
from llama_index.core.schema import Document, IndexNode, TextNode
from llama_index.core.storage.docstore import SimpleDocumentStore
from llama_index.core.vector_stores import ExactMatchFilter, MetadataFilters

from llama_index_condense_plus import CondensePlusChatEngine
from llama_index_condense_plus.retrieval.parallel import deepened
from llama_index_condense_plus.retrieval.retriever import PlanRetriever
from llama_index_condense_plus.settings import CondensePlusSettings
from llama_index_condense_plus.types import PlannedQuery, QueryPlan, QueryRole
from tests.retrieval.parts import BatchEmbedding, FakeRetriever

TEXTS = {"1": "aaab", "2": "bbba", "3": "cccd", "4": "dddc", "5": "bbbd", "6": "aab"}
PLAN = QueryPlan((PlannedQuery("aa", QueryRole.REWRITTEN), PlannedQuery("cc", QueryRole.ORIGINAL, 0.9)))


def nodes() -> list[TextNode]:
    return [
        TextNode(
            id_=name,
            text=text,
            metadata={"parity": "even" if int(name) % 2 == 0 else "odd"},
            excluded_embed_metadata_keys=["parity"],
        )
        for name, text in TEXTS.items()
    ]


def ids(found):
    return [n.node_id for n in found]


@pytest.fixture(params=["sync", "async"])
def retrieve(request):
    def go(retriever, query="aa"):
        if request.param == "sync":
            return retriever.retrieve(query)
        return asyncio.run(retriever.aretrieve(query))

    return go


@pytest.fixture
def embedding() -> BatchEmbedding:
    return BatchEmbedding()


@pytest.fixture
def index(embedding) -> VectorStoreIndex:
    return VectorStoreIndex(nodes(), embed_model=embedding)


def test_vector_retriever_keeps_its_metadata_filters(index, retrieve):
    filters = MetadataFilters(filters=[ExactMatchFilter(key="parity", value="even")])
    found = retrieve(PlanRetriever(index.as_retriever(similarity_top_k=5, filters=filters), plan=PLAN))
    assert set(ids(found)) == {"2", "4", "6"}


@pytest.mark.parametrize("mode", ["chat", "achat"])
def test_a_turns_filters_reach_every_retriever_of_a_plan(index, mode):
    named = {"few": index.as_retriever(similarity_top_k=1), "many": index.as_retriever(similarity_top_k=6)}
    query_engine = RetrieverQueryEngine.from_args(PlanRetriever(named, plan=PLAN), llm=MockLLM())
    engine = CondensePlusChatEngine.from_defaults(query_engine, llm=MockLLM(), chat_history=[])
    filters = MetadataFilters(filters=[ExactMatchFilter(key="parity", value="even")])
    chat = engine.for_conversation("one", filters=filters)
    response = chat.chat("aa") if mode == "chat" else asyncio.run(chat.achat("aa"))
    assert set(ids(response.source_nodes)) == {"2", "4", "6"}


def test_deepened_copies_llamaindex_retrievers_and_no_others(index):
    base = index.as_retriever(similarity_top_k=3)
    assert [deepened(base, n).similarity_top_k for n in (1, 2, 3, 4)] == [3, 6, 4, 3]
    assert base.similarity_top_k == 3
    own = FakeRetriever(lambda words: [], similarity_top_k=3)
    assert deepened(own, 2) is own


@pytest.fixture(params=["memory", "disk"])
def qdrant(request, tmp_path, embedding) -> Iterator[VectorStoreIndex]:
    store_module = pytest.importorskip("llama_index.vector_stores.qdrant")
    client_module = pytest.importorskip("qdrant_client")
    where = {"location": ":memory:"} if request.param == "memory" else {"path": str(tmp_path)}
    client = client_module.QdrantClient(**where)
    store = store_module.QdrantVectorStore("passages", client=client)
    yield VectorStoreIndex([*map(with_uuid, nodes())], storage_context=context(store), embed_model=embedding)
    client.close()


def context(store):
    return StorageContext.from_defaults(vector_store=store)


def with_uuid(node: TextNode) -> TextNode:
    node.id_ = f"00000000-0000-0000-0000-00000000000{node.id_}"
    return node


def last(found):
    return [n.node_id[-1] for n in found]


def test_qdrant_with_a_sync_client_serves_sync_and_async_turns(qdrant, retrieve):
    base = qdrant.as_retriever(similarity_top_k=1)
    lists = CondensePlusSettings(retrieval={"blend": "lists"})
    found = retrieve(PlanRetriever(base, plan=PLAN, settings=lists, for_postprocessors=True))
    assert last(found)[:2] == ["1", "3"]
    blended = PlanRetriever(base, plan=QueryPlan((PLAN.queries[0], PlannedQuery("b", QueryRole.ORIGINAL))))
    assert last(retrieve(blended)) == ["6"]


def test_qdrant_keeps_its_metadata_filters(qdrant, retrieve):
    filters = MetadataFilters(filters=[ExactMatchFilter(key="parity", value="even")])
    found = retrieve(PlanRetriever(qdrant.as_retriever(similarity_top_k=5, filters=filters), plan=PLAN))
    assert set(last(found)) == {"2", "4", "6"}


def test_qdrant_hybrid_with_sparse_functions_of_ones_own(embedding, retrieve):
    store_module = pytest.importorskip("llama_index.vector_stores.qdrant")
    client_module = pytest.importorskip("qdrant_client")

    def sparse(texts):
        return [[ord(c) for c in sorted(set(t))] for t in texts], [
            [float(t.count(c)) for c in sorted(set(t))] for t in texts
        ]

    client = client_module.QdrantClient(location=":memory:")
    store = store_module.QdrantVectorStore(
        "hybrid", client=client, enable_hybrid=True, sparse_doc_fn=sparse, sparse_query_fn=sparse
    )
    index = VectorStoreIndex([*map(with_uuid, nodes())], storage_context=context(store), embed_model=embedding)
    base = index.as_retriever(vector_store_query_mode="hybrid", similarity_top_k=1, sparse_top_k=1)
    found = retrieve(PlanRetriever(base, plan=PLAN, for_postprocessors=True))
    assert {"1", "3"} <= set(last(found))
    client.close()


def test_query_fusion_retriever_under_a_plan(index, retrieve):
    base = QueryFusionRetriever(
        [index.as_retriever()], num_queries=1, similarity_top_k=2, llm=MockLLM(), use_async=False
    )
    assert ids(retrieve(PlanRetriever(base, plan=PLAN))) == ["1", "3"]


def test_recursive_retriever_under_a_plan(index, retrieve):
    root = VectorStoreIndex(
        [IndexNode(id_="link", text="aacc", index_id="inner")], embed_model=BatchEmbedding()
    ).as_retriever(similarity_top_k=1)
    base = RecursiveRetriever("root", retriever_dict={"root": root, "inner": index.as_retriever(similarity_top_k=2)})
    assert "1" in ids(retrieve(PlanRetriever(base, plan=PLAN)))


def test_auto_merging_retriever_under_a_plan(embedding, retrieve):
    parsed = HierarchicalNodeParser.from_defaults(chunk_sizes=[64, 16], chunk_overlap=0).get_nodes_from_documents(
        [Document(text="aa aa aa ab. " * 8), Document(text="cc cc cc cd. " * 8)]
    )
    store = SimpleDocumentStore()
    store.add_documents(parsed)
    storage = StorageContext.from_defaults(docstore=store)
    leaves = VectorStoreIndex(get_leaf_nodes(parsed), storage_context=storage, embed_model=embedding)
    base = AutoMergingRetriever(leaves.as_retriever(similarity_top_k=4), storage)
    found = retrieve(PlanRetriever(base, plan=PLAN, for_postprocessors=True))
    assert {n.text[:2] for n in found} == {"aa", "cc"}


def test_bm25_retriever_under_a_plan(retrieve):
    bm25 = pytest.importorskip("llama_index.retrievers.bm25")
    words = [
        TextNode(id_=str(i), text=t) for i, t in enumerate(["warranty of the pump", "price of the pump", "colour"])
    ]
    base = bm25.BM25Retriever.from_defaults(nodes=words, similarity_top_k=1)
    plan = QueryPlan((PlannedQuery("warranty", QueryRole.REWRITTEN), PlannedQuery("price", QueryRole.ORIGINAL, 0.9)))
    assert ids(retrieve(PlanRetriever(base, plan=plan), "warranty")) == ["0"]
    assert deepened(base, 2).similarity_top_k == 2
