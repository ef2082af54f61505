"""Applications that exist already: the engine takes the stock one's place over LlamaIndex's less common parts."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from llama_index.core import VectorStoreIndex
from llama_index.core.base.response.schema import Response
from llama_index.core.embeddings import MockEmbedding
from llama_index.core.llms.structured_llm import StructuredLLM
from llama_index.core.postprocessor import LongContextReorder, PrevNextNodePostprocessor
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.query_engine import CitationQueryEngine, MultiStepQueryEngine, RetrieverQueryEngine
from llama_index.core.response_synthesizers import ResponseMode
from llama_index.core.schema import NodeRelationship, NodeWithScore, QueryBundle, TextNode
from llama_index.core.storage.docstore import SimpleDocumentStore
from pydantic import BaseModel

from llama_index_condense_plus import CondensePlusChatEngine, _compat
from tests.fakes import ScriptedLLM, WordRetriever
from tests.modes import Mode

Make = Callable[..., CondensePlusChatEngine]
TEXTS = [f"the GTE-3000 costs {i} euros. its warranty is {i} years. it weighs {i} kilos." for i in range(10, 22)]


class Price(BaseModel):
    """A structured answer."""

    euros: int


class StructuredScriptedLLM(ScriptedLLM):
    """Fills any class with 99 where it is asked for structured output."""

    def structured_predict(self, output_cls: Any, *_: Any, **__: Any) -> Any:
        return output_cls(euros=99)

    async def astructured_predict(self, output_cls: Any, *_: Any, **__: Any) -> Any:
        return output_cls(euros=99)

    def stream_structured_predict(self, output_cls: Any, *_: Any, **__: Any) -> Any:
        yield output_cls(euros=9)
        yield output_cls(euros=99)

    async def astream_structured_predict(self, output_cls: Any, *_: Any, **__: Any) -> Any:
        async def objects() -> Any:
            yield output_cls(euros=9)
            yield output_cls(euros=99)

        return objects()


def chained(texts: list[str]) -> list[TextNode]:
    """Return nodes that know their neighbours."""
    nodes = [TextNode(text=text, id_=f"n{i}") for i, text in enumerate(texts)]
    for before, after in pairwise(nodes):
        before.relationships[NodeRelationship.NEXT] = after.as_related_node_info()
        after.relationships[NodeRelationship.PREVIOUS] = before.as_related_node_info()
    return nodes


def test_citation_engine_keeps_every_citation_of_the_top_nodes(make_engine: Make, llm: ScriptedLLM, mode: Mode) -> None:
    index = VectorStoreIndex([TextNode(text=text) for text in TEXTS], embed_model=MockEmbedding(8))
    engine = CitationQueryEngine.from_args(
        index, llm=llm, similarity_top_k=2, citation_chunk_size=12, citation_chunk_overlap=0
    )
    alone = engine.query("GTE-3000").source_nodes
    assert len(alone) > 2
    reply = mode.ask(make_engine(query_engine=engine), "and its price?")
    assert len(reply.node_ids) == len(alone)


def test_neighbours_are_added_to_the_top_nodes_and_kept(make_engine: Make, llm: ScriptedLLM, mode: Mode) -> None:
    retriever = WordRetriever(top_k=2)
    retriever.nodes = chained(TEXTS)
    store = SimpleDocumentStore()
    store.add_documents(retriever.nodes)
    neighbours = PrevNextNodePostprocessor(docstore=store, num_nodes=1, mode="next")
    engine = make_engine(retriever=retriever, node_postprocessors=[neighbours])
    for message in ("Tell me about the GTE-3000", "and its price?"):
        reply = mode.ask(engine, message)
        assert reply.node_ids == ["n0", "n1", "n2"]


def test_nodes_that_a_postprocessor_of_ones_own_adds_are_kept(make_engine: Make, mode: Mode) -> None:
    class Appends(BaseNodePostprocessor):
        def _postprocess_nodes(
            self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
        ) -> list[NodeWithScore]:
            return [*nodes, NodeWithScore(node=TextNode(text="always read this", id_="own"))]

    engine = make_engine(retriever=WordRetriever(TEXTS), node_postprocessors=[Appends()])
    assert mode.ask(engine, "and its price?").node_ids[-1] == "own"


def test_reordering_for_long_contexts_keeps_the_best_nodes(make_engine: Make, mode: Mode) -> None:
    class Apart(WordRetriever):
        def _found(self, query: str) -> list[NodeWithScore]:
            nodes = self.nodes[:4] if "GTE-3000" in query else self.nodes[4:8]
            return [NodeWithScore(node=node, score=1 - i / 10) for i, node in enumerate(nodes)]

    plain = mode.ask(make_engine(retriever=Apart(TEXTS, top_k=4)), "and its price?")
    engine = make_engine(retriever=Apart(TEXTS, top_k=4), node_postprocessors=[LongContextReorder()])
    assert set(mode.ask(engine, "and its price?").node_ids) == set(plain.node_ids)


def test_retriever_that_shows_no_top_k_gives_as_many_nodes_as_one_of_its_searches(
    make_engine: Make, mode: Mode
) -> None:
    class Hidden(WordRetriever):
        def _found(self, query: str) -> list[NodeWithScore]:
            self.queries.append(query)
            return [NodeWithScore(node=node, score=0.5) for node in self.nodes[len(self.queries) :][:3]]

    retriever = Hidden(TEXTS)
    del retriever.similarity_top_k
    reply = mode.ask(make_engine(retriever=retriever), "and its price?")
    assert len(retriever.queries) == 3
    assert len(reply.node_ids) == 3


@pytest.mark.parametrize("response_mode", [ResponseMode.COMPACT, ResponseMode.TREE_SUMMARIZE])
def test_structured_output_is_whole_in_every_mode(make_engine: Make, mode: Mode, response_mode: ResponseMode) -> None:
    model = StructuredScriptedLLM(rewrite="What is the price of the GTE-3000?")
    engine = RetrieverQueryEngine.from_args(
        WordRetriever(TEXTS), llm=model, output_cls=Price, response_mode=response_mode
    )
    reply = mode.ask(make_engine(query_engine=engine, llm=model), "and its price?")
    assert Price.model_validate_json(reply.text) == Price(euros=99)


def test_structured_model_answers_in_every_mode(make_engine: Make, llm: ScriptedLLM, mode: Mode) -> None:
    class Structured(StructuredLLM):
        def predict(self, *_: Any, **__: Any) -> str:
            return '{"euros": 99}'

        async def apredict(self, *_: Any, **__: Any) -> str:
            return '{"euros": 99}'

    model = Structured(llm=llm, output_cls=Price)
    engine = RetrieverQueryEngine.from_args(WordRetriever(TEXTS), llm=model)
    reply = mode.ask(make_engine(query_engine=engine), "and its price?")
    assert Price.model_validate_json(reply.text) == Price(euros=99)


def test_engines_that_never_had_a_retriever_are_not_called_a_new_version(
    make_engine: Make, llm: ScriptedLLM, mode: Mode, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_compat, "_warned", set())

    class Steps(MultiStepQueryEngine):
        def __init__(self) -> None:
            self._response_synthesizer = RetrieverQueryEngine.from_args(WordRetriever(), llm=llm)._response_synthesizer
            self.callback_manager = llm.callback_manager

        def query(self, *_: Any, **__: Any) -> Response:
            return Response("in steps")

        async def aquery(self, *_: Any, **__: Any) -> Response:
            return Response("in steps")

    Steps.__module__ = MultiStepQueryEngine.__module__
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        assert mode.ask(make_engine(query_engine=Steps()), "and its price?").text == "in steps"
