"""The turn's own query engine: the caller's engine with this turn's plan, and what it found."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.postprocessor import (
    AutoPrevNextNodePostprocessor,
    LongContextReorder,
    PrevNextNodePostprocessor,
)
from llama_index.core.schema import NodeWithScore, QueryBundle

from llama_index_condense_plus import _compat
from llama_index_condense_plus.retrieval.fusion import provenance
from llama_index_condense_plus.retrieval.parallel import aretrieve
from llama_index_condense_plus.retrieval.plan import query_key
from llama_index_condense_plus.retrieval.retriever import PlanRetriever
from llama_index_condense_plus.settings import CondensePlusSettings
from llama_index_condense_plus.turn.answer import TurnSynthesis
from llama_index_condense_plus.turn.query import Found
from llama_index_condense_plus.types import PlannedQuery, QueryRole, RankedList

ARRANGERS = (LongContextReorder, PrevNextNodePostprocessor, AutoPrevNextNodePostprocessor)
"""Postprocessors that choose nothing: they add neighbours or put the best nodes at both ends, so the surplus that
rerankers choose from is cut before them."""


@dataclass
class TurnSearch:
    """Searches one turn's plan and answers from what it finds."""

    query_engine: BaseQueryEngine
    """The caller's engine; never changed."""
    retrievers: Mapping[str, BaseRetriever]
    """Where each query goes to, by name."""
    settings: CondensePlusSettings
    """The options."""
    found: Found
    """What to search."""
    lists: tuple[RankedList, ...] = ()
    """What each query found."""

    @property
    def bundle(self) -> QueryBundle:
        """The search query, which retriever and postprocessors see."""
        return QueryBundle(self.found.plan.search_query)

    @property
    def provenance(self) -> dict[str, tuple[str, ...]]:
        """By node id: which queries found it, and at which ranks."""
        return provenance(self.lists)

    def engine(
        self,
        asked: str,
        before: Sequence[ChatMessage] = (),
        *,
        streaming: bool = False,
        on_answer: Callable[[], None] = lambda: None,
    ) -> BaseQueryEngine:
        """Return a query engine for this turn alone.

        Args:
            asked: what the answer call is asked.
            before: messages before the synthesizer's own prompts.
            streaming: whether the answer is streamed.
            on_answer: called when the nodes are there and the answer begins.
        """
        postprocessors = _compat.postprocessors_of(self.query_engine)
        n_choosing = next((i for i, p in enumerate(postprocessors) if isinstance(p, ARRANGERS)), len(postprocessors))
        choosing, arranging = postprocessors[:n_choosing], postprocessors[n_choosing:]
        retriever = PlanRetriever(
            dict(self.retrievers),
            plan=self.found.plan,
            settings=self.settings,
            prefetched=self._wanted(),
            for_postprocessors=bool(choosing),
            observe=self.observe,
        )
        synthesis = TurnSynthesis(_compat.synthesizer_of(self.query_engine), asked, before, streaming, on_answer)
        if self._is_plain():
            only = cast(BaseRetriever, _Direct(next(iter(self.retrievers.values()))))
            cut = [_Cut(self, self.settings.fusion.top_k)] if self.settings.fusion.top_k else []
            around = [_Recorder(self), *choosing, *cut, *arranging]
            return _compat.for_turn(self.query_engine, only, synthesis, around)
        cut = [_Cut(self, retriever.similarity_top_k)] if choosing else []
        return _compat.for_turn(self.query_engine, retriever, synthesis, [*choosing, *cut, *arranging])

    def _is_plain(self) -> bool:
        """One query, one retriever, nothing begun: LlamaIndex's own path, and its own events."""
        plan = self.found.plan
        return (
            len(plan.queries) == len(self.retrievers) == 1
            and not plan.reserve
            and not self._wanted()
            and self.settings.retrieval.timeout_s is None
            and not self.settings.fusion.provenance_metadata
            and not self.settings.fusion.dedupe_text
        )

    def _wanted(self) -> dict[str, Any]:
        """Return the retrievals under way that the plan uses; the others are dropped, and the trace says so."""
        plan = self.found.plan
        keys = {query_key(query.text) for query in (*plan.queries, *plan.reserve)}
        return {text: pending for text, pending in self.found.prefetched.items() if query_key(text) in keys}

    def observe(self, lists: Sequence[RankedList]) -> None:
        """Note what each query found, and what was begun for nothing."""
        for retriever in self.retrievers.values():
            _compat.forget_events(retriever)
        wanted = self._wanted()
        dropped = [text for text in self.found.prefetched if text not in wanted]
        for text in dropped:
            self.found.prefetched[text].cancel()
        unused = (RankedList(PlannedQuery(text, QueryRole.ORIGINAL), used=False) for text in dropped)
        self.lists = (*lists, *unused)


@dataclass
class _Direct:
    """The retriever itself; one without an asynchronous side is asked in a thread, with the same events."""

    retriever: BaseRetriever

    def retrieve(self, bundle: QueryBundle) -> list[NodeWithScore]:
        return self.retriever.retrieve(bundle)

    async def aretrieve(self, bundle: QueryBundle) -> list[NodeWithScore]:
        return await aretrieve(self.retriever, bundle)


@dataclass
class _Recorder:
    """Stands before the postprocessors and notes what a plain retrieval found."""

    search: TurnSearch

    def postprocess_nodes(self, nodes: list[NodeWithScore], **_: Any) -> list[NodeWithScore]:
        only = self.search.found.plan.queries[0]
        self.search.observe([RankedList(only, tuple(nodes), source=next(iter(self.search.retrievers)))])
        return nodes

    async def apostprocess_nodes(self, nodes: list[NodeWithScore], **_: Any) -> list[NodeWithScore]:
        return self.postprocess_nodes(nodes)


@dataclass
class _Cut:
    """Stands behind the postprocessors that choose and keeps ``top_k`` nodes, or all if they brought new ones."""

    search: TurnSearch
    top_k: int | None

    def postprocess_nodes(self, nodes: list[NodeWithScore], **_: Any) -> list[NodeWithScore]:
        lists = [ranked.nodes for ranked in self.search.lists if ranked.used]
        known = {node.node.node_id for found in lists for node in found}
        if any(node.node.node_id not in known for node in nodes):
            return nodes
        return nodes[: self.top_k or max(map(len, lists), default=None)]

    async def apostprocess_nodes(self, nodes: list[NodeWithScore], **_: Any) -> list[NodeWithScore]:
        return self.postprocess_nodes(nodes)
