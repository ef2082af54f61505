"""The turn's own query engine: the caller's engine with this turn's plan, and what it found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.base_retriever import BaseRetriever
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
from llama_index_condense_plus.types import PlannedQuery, QueryPlan, QueryRole, RankedList

ARRANGERS = (LongContextReorder, PrevNextNodePostprocessor, AutoPrevNextNodePostprocessor)
"""Postprocessors that choose nothing: they add neighbours or put the best nodes at both ends, so the surplus that
rerankers choose from is cut before them."""


@dataclass
class TurnSearch:
    """Searches one turn's plan and answers from what it finds."""

    query_engine: BaseQueryEngine
    """The caller's engine; never changed."""
    retrievers: Mapping[str, BaseRetriever]
    settings: CondensePlusSettings
    plan: QueryPlan
    prefetched: Mapping[str, Any]
    """By its words: a retrieval that was begun before the plan was known."""
    lists: tuple[RankedList, ...] = ()

    @property
    def bundle(self) -> QueryBundle:
        """The search query, which retriever and postprocessors see."""
        return QueryBundle(self.plan.search_query)

    @property
    def provenance(self) -> dict[str, tuple[str, ...]]:
        """By node id: which queries found it, and at which ranks."""
        return provenance(self.lists)

    def engine(self, synthesis: Any = None) -> BaseQueryEngine:
        """Return a query engine for this turn alone.

        Args:
            synthesis: answers from what is found; None: the engine only retrieves.
        """
        postprocessors = _compat.postprocessors_of(self.query_engine)
        n_choosing = next((i for i, p in enumerate(postprocessors) if isinstance(p, ARRANGERS)), len(postprocessors))
        choosing, arranging = postprocessors[:n_choosing], postprocessors[n_choosing:]
        if self._is_plain():
            retriever: Any = _Direct(self)
            cuts = [_Cut(self, self.settings.fusion.top_k)] if self.settings.fusion.top_k else []
        else:
            retriever = PlanRetriever(
                dict(self.retrievers),
                plan=self.plan,
                settings=self.settings,
                prefetched=self._wanted(),
                for_postprocessors=bool(choosing),
                observe=self.observe,
            )
            cuts = [_Cut(self, retriever.similarity_top_k)] if choosing else []
        answers = synthesis or _compat.synthesizer_of(self.query_engine)
        return _compat.for_turn(self.query_engine, retriever, answers, [*choosing, *cuts, *arranging])

    def _is_plain(self) -> bool:
        """One query, one retriever, nothing begun: LlamaIndex's own path, and its own events."""
        fusion = self.settings.fusion
        return (
            len(self.plan.queries) == len(self.retrievers) == 1
            and not (self.plan.reserve or self._wanted() or fusion.provenance_metadata or fusion.dedupe_text)
            and self.settings.retrieval.timeout_s is None
        )

    def _wanted(self) -> dict[str, Any]:
        """Return the retrievals under way that the plan uses; the others are dropped, and the trace says so."""
        keys = {query_key(query.text) for query in (*self.plan.queries, *self.plan.reserve)}
        return {text: pending for text, pending in self.prefetched.items() if query_key(text) in keys}

    def observe(self, lists: Sequence[RankedList]) -> None:
        """Note what each query found, and what was begun for nothing."""
        for retriever in self.retrievers.values():
            _compat.forget_events(retriever)
        dropped = [text for text in self.prefetched if text not in self._wanted()]
        for text in dropped:
            self.prefetched[text].cancel()
        unused = (RankedList(PlannedQuery(text, QueryRole.ORIGINAL), used=False) for text in dropped)
        self.lists = (*lists, *unused)


@dataclass
class _Direct:
    """Asks the only retriever the only query; one without an asynchronous side is asked in a thread."""

    search: TurnSearch

    def __post_init__(self) -> None:
        ((self._name, self._retriever),) = self.search.retrievers.items()

    def retrieve(self, bundle: QueryBundle) -> list[NodeWithScore]:
        return self._noted(self._retriever.retrieve(bundle))

    async def aretrieve(self, bundle: QueryBundle) -> list[NodeWithScore]:
        return self._noted(await aretrieve(self._retriever, bundle))

    def _noted(self, nodes: list[NodeWithScore]) -> list[NodeWithScore]:
        self.search.observe([RankedList(self.search.plan.queries[0], tuple(nodes), source=self._name)])
        return nodes


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
