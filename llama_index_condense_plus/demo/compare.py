"""One scripted turn, three ways: the question as typed, the stock engine's rewrite, and this engine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from llama_index.core import VectorStoreIndex
from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.chat_engine import CondenseQuestionChatEngine
from llama_index.core.llms.llm import LLM
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import NodeWithScore

from llama_index_condense_plus.chat_engine import CondensePlusChatEngine
from llama_index_condense_plus.demo.knowledge import Turn, source_of
from llama_index_condense_plus.demo.quoting import CourtesyLLM, QuoteSynthesizer
from llama_index_condense_plus.observability.trace import CondenseTrace
from llama_index_condense_plus.settings import CondensePlusSettings

TOP_K = 3
"""Passages that each way may bring."""
WITHOUT_MODEL: dict[str, Any] = {"rewrite": {"chain": ("rules", "original")}}
"""Settings where no language model is configured: the topic of the conversation is carried over."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What one way searched and found."""

    query: str
    """The question that was searched, in full words where it was resolved; empty if nothing was searched."""
    sources: tuple[str, ...]
    """Names of the passages found, best first."""

    def rank_of(self, source: str) -> int | None:
        """Return the rank of a passage, 1 for the best, None if it was not found."""
        return self.sources.index(source) + 1 if source in self.sources else None


@dataclass(frozen=True, slots=True)
class Comparison:
    """One turn, side by side."""

    turn: Turn
    """The scripted question."""
    ways: Mapping[str, Finding]
    """What ``typed`` (the question as typed), ``stock`` (the stock engine, with a model only) and ``ours`` found."""
    trace: CondenseTrace
    """Why this engine searched what it searched."""
    answer: str
    """Its answer."""

    def rank(self, way: str) -> int | None:
        """Return the rank at which a way found the passage that answers."""
        return self.ways[way].rank_of(self.turn.gold)

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-safe values."""
        ways = {
            name: {"query": way.query, "found": list(way.sources), "rank": self.rank(name)}
            for name, way in self.ways.items()
        }
        turn = {name: getattr(self.turn, name) for name in ("conversation", "question", "kind", "gold")}
        return {**turn, "ways": ways, "answer": self.answer, "trace": self.trace.to_dict()}


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


def compare(index: VectorStoreIndex, turns: Sequence[Turn], llm: LLM | None) -> Iterator[Comparison]:
    """Run one conversation, turn by turn.

    Args:
        index: what is searched.
        turns: the conversation.
        llm: rewrites and answers, and gives the stock engine its row; None: no model is asked.
    """
    engine = make_engine(index, llm)
    retriever = index.as_retriever(similarity_top_k=TOP_K)
    for turn in turns:
        ways = {"typed": _finding(turn.question, retriever.retrieve(turn.question))}
        if llm is not None:
            ways["stock"] = _stock(index, llm, turn.question, list(engine.chat_history))
        response = engine.chat(turn.question)
        trace = cast("CondenseTrace", engine.trace_of(response))
        ways["ours"] = _finding(trace.rewrite.query if response.sources else "", response.source_nodes)
        yield Comparison(turn, ways, trace, str(response))


def _stock(index: VectorStoreIndex, llm: LLM, question: str, history: list[ChatMessage]) -> Finding:
    """Ask the stock engine the same question after the same conversation, without its answer."""
    finder = RetrieverQueryEngine(index.as_retriever(similarity_top_k=TOP_K), QuoteSynthesizer())
    engine = CondenseQuestionChatEngine.from_defaults(query_engine=finder, llm=llm)
    response = engine.chat(question, chat_history=history)
    return _finding(str(response.sources[0].raw_input["query"]), response.source_nodes)


def _finding(query: str, nodes: Sequence[NodeWithScore]) -> Finding:
    return Finding(query, tuple(source_of(n.node) for n in nodes))
