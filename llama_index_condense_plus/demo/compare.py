"""One scripted turn, three ways: the question as typed, the stock engine's rewrite, and this engine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from llama_index.core import VectorStoreIndex
from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.chat_engine import CondenseQuestionChatEngine
from llama_index.core.llms.llm import LLM
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import NodeWithScore

from llama_index_condense_plus.chat_engine import CondensePlusChatEngine
from llama_index_condense_plus.demo.knowledge import Turn, source_of
from llama_index_condense_plus.demo.quoting import CourtesyLLM, QuoteSynthesizer
from llama_index_condense_plus.settings import CondensePlusSettings

TOP_K = 3
"""Passages that each way may bring."""
WITHOUT_MODEL: dict[str, Any] = {"rewrite": {"chain": ("rules", "original")}}
"""Settings where no language model is configured: the topic of the conversation is carried over."""


def make_engine(index: VectorStoreIndex, llm: LLM | None, **settings: Any) -> CondensePlusChatEngine:
    """Return this package's engine over an index; without a model it carries the topic over and quotes.

    Args:
        index: what is searched.
        llm: rewrites and answers; None: no model is asked.
        **settings: sections of the settings.
    """
    settings = {"retrieval": {"small_talk": "skip"}, **({} if llm else WITHOUT_MODEL), **settings}
    query_engine: BaseQueryEngine
    if llm is None:
        query_engine = RetrieverQueryEngine(index.as_retriever(similarity_top_k=TOP_K), QuoteSynthesizer())
    else:
        query_engine = index.as_query_engine(llm=llm, similarity_top_k=TOP_K)
    return CondensePlusChatEngine.from_defaults(
        query_engine, llm=llm or CourtesyLLM(), settings=CondensePlusSettings(**settings)
    )


def compare(index: VectorStoreIndex, turns: Sequence[Turn], llm: LLM | None) -> Iterator[dict[str, Any]]:
    """Run one conversation, and yield for each turn what each way searched and found, as JSON-safe values.

    The ways are ``typed`` (the question as typed), ``stock`` (the stock engine, with a model only) and ``ours``. Each
    has its ``query``, empty if nothing was searched, the names ``found``, and the ``rank`` of the right passage.

    Args:
        index: what is searched.
        turns: the conversation.
        llm: rewrites and answers, and gives the stock engine its row; None: no model is asked.
    """
    engine = make_engine(index, llm)
    retriever = index.as_retriever(similarity_top_k=TOP_K)
    silent = RetrieverQueryEngine(retriever, QuoteSynthesizer())
    for turn in turns:
        searched = {"typed": (turn["question"], retriever.retrieve(turn["question"]))}
        if llm is not None:
            stock = CondenseQuestionChatEngine.from_defaults(silent, llm=llm, memory=ChatMemoryBuffer.from_defaults())
            response = stock.chat(turn["question"], chat_history=list(engine.chat_history))
            searched["stock"] = (str(response.sources[0].raw_input["query"]), response.source_nodes)
        response = engine.chat(turn["question"])
        trace = engine.trace_of(response)
        assert trace is not None  # noqa: S101 - every answer of this engine has one
        searched["ours"] = (trace.rewrite.query if response.sources else "", response.source_nodes)
        ways = {name: _finding(query, nodes, turn["gold"]) for name, (query, nodes) in searched.items()}
        yield {**turn, "ways": ways, "answer": str(response), "trace": trace.to_dict()}


def _finding(query: str, nodes: Sequence[NodeWithScore], gold: str) -> dict[str, Any]:
    found = [source_of(node.node) for node in nodes]
    return {"query": query, "found": found, "rank": found.index(gold) + 1 if gold in found else None}
