"""Searches a plan with any retriever, in LlamaIndex's own terms: usable outside the engine too."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.callbacks.base import CallbackManager
from llama_index.core.schema import NodeWithScore, QueryBundle

from llama_index_condense_plus.errors import ConfigurationError
from llama_index_condense_plus.retrieval import blend, parallel
from llama_index_condense_plus.retrieval.fusion import candidates, fuse, fusion_method
from llama_index_condense_plus.retrieval.parallel import Job, Started, deepened
from llama_index_condense_plus.retrieval.plan import (
    DefaultQueryPlanner,
    bundles,
    is_low_recall,
    query_key,
    with_joined,
)
from llama_index_condense_plus.retrieval.variants import expand, without_model
from llama_index_condense_plus.settings import CondensePlusSettings
from llama_index_condense_plus.types import (
    HistoryWindow,
    PlannedQuery,
    QueryPlan,
    RankedList,
    RewriteResult,
    RewriteStatus,
)


class PlanRetriever(BaseRetriever):
    """Searches each query of a plan with each retriever, at once, and fuses what they find.

    A retriever that searches by vector alone is asked once, with the weighted mean of the plan's vectors. Without a
    plan and without a rewrite, the query it is asked is searched alone.

    Args:
        retriever: any retriever, or several by name: then each query goes to each.
        plan: what to search.
        result: a ready standalone question, from which the plan and the variants that need no model are made.
        window: the conversation, for plan and variants.
        settings: the settings tree; none: the process's defaults.
        prefetched: what ``prefetcher`` began, by the words of its query; with a single retriever only.
        for_postprocessors: return all ``fusion.candidates``, for a reranker that cuts, in place of ``top_k``.
        observe: called with the ranked lists of each retrieval, for a trace.
        callback_manager: LlamaIndex's callbacks.

    Raises:
        ConfigurationError: both or contradictory arguments, or an unknown fusion method.

    Example:
        ``RetrieverQueryEngine.from_args(PlanRetriever(index.as_retriever(), result=result), llm=llm)``
    """

    def __init__(
        self,
        retriever: BaseRetriever | Mapping[str, BaseRetriever],
        *,
        plan: QueryPlan | None = None,
        result: RewriteResult | None = None,
        window: HistoryWindow | None = None,
        settings: CondensePlusSettings | None = None,
        prefetched: Mapping[str, Started] | None = None,
        for_postprocessors: bool = False,
        observe: Callable[[Sequence[RankedList]], None] | None = None,
        callback_manager: CallbackManager | None = None,
    ) -> None:
        if plan is not None and result is not None:
            raise ConfigurationError("PlanRetriever: give plan or result, not both.")
        retrievers = dict(retriever) if isinstance(retriever, Mapping) else {"": retriever}
        if not retrievers:
            raise ConfigurationError("PlanRetriever: give at least one retriever.")
        self.settings: CondensePlusSettings = settings or CondensePlusSettings()
        fusion_method(self.settings.fusion)
        self.retrievers = retrievers
        self._result, self._plan, self._window = result, plan, window or HistoryWindow()
        self._prefetched = {query_key(text): started for text, started in (prefetched or {}).items()}
        self._for_postprocessors, self._observe = for_postprocessors, observe
        super().__init__(callback_manager=callback_manager)

    @property
    def similarity_top_k(self) -> int | None:
        """Most nodes of an answer: ``fusion.top_k``, else the greatest of the retrievers' own, if they have one."""
        own = [getattr(retriever, "similarity_top_k", None) for retriever in self.retrievers.values()]
        return self.settings.fusion.top_k or max((k for k in own if isinstance(k, int)), default=None)

    def with_each(self, change: Callable[[BaseRetriever], BaseRetriever]) -> PlanRetriever:
        """Return a copy that searches with changed retrievers, for example restricted ones."""
        clone = copy.copy(self)
        clone.retrievers = {name: change(own) for name, own in self.retrievers.items()}
        clone._prefetched = {}
        return clone

    def plan_for(self, query_bundle: QueryBundle) -> QueryPlan:
        """Return what is searched when this bundle is asked.

        Words that belong to neither the plan nor the user's question (a query transform has changed them) take the
        place of the plan's first query.
        """
        text, plan = query_bundle.query_str, self._plan
        known = set() if self._result is None else {query_key(self._result.original)}
        if plan is None:
            result = self._result or RewriteResult(text, text, RewriteStatus.SKIPPED)
            plan = DefaultQueryPlanner(self.settings.retrieval).plan(result, self._window)
            if self._result is not None:
                plan = without_model(expand(plan, result, self._window, self.settings))
        if not text.strip() or query_key(text) in known.union(query_key(query.text) for query in plan.queries):
            return plan
        first = plan.queries[0]
        changed = PlannedQuery(text, first.role, first.weight, first.trust)
        return QueryPlan((changed, *plan.queries[1:]), f"{plan.reason}; changed by a query transform", plan.reserve)

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        plan, own = self.plan_for(query_bundle), self.settings.retrieval
        jobs = blend.embed(self._jobs(plan, query_bundle), self._blend, own.timeout_s)
        lists = parallel.search(jobs, own.timeout_s)
        if more := self._reserve(plan, query_bundle, lists):
            jobs += more
            lists += parallel.search(more, own.timeout_s)
        return self._fused(jobs, lists)

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        plan, own = self.plan_for(query_bundle), self.settings.retrieval
        jobs = await blend.aembed(self._jobs(plan, query_bundle), self._blend, own.timeout_s)
        lists = await parallel.asearch(jobs, own.timeout_s)
        if more := self._reserve(plan, query_bundle, lists):
            jobs += more
            lists += await parallel.asearch(more, own.timeout_s)
        return self._fused(jobs, lists)

    @property
    def _blend(self) -> str:
        """What several retrievers find is fused anyway, and so are the queries' lists."""
        own = self.settings.retrieval.blend
        return "lists" if own == "auto" and len(self.retrievers) > 1 else own

    def _jobs(self, plan: QueryPlan, template: QueryBundle) -> list[Job]:
        jobs = []
        for name, retriever in self.retrievers.items():
            blends = blend.blending_model(retriever, self._blend) is not None
            searched = plan if blends else with_joined(plan, self.settings.retrieval)
            source = deepened(retriever, len(searched.queries))
            top_k = getattr(source, "similarity_top_k", None)
            for query, bundle in zip(searched.queries, bundles(searched, template), strict=True):
                started = self._prefetched.get(query_key(query.text))
                limit = top_k if started is not None and isinstance(top_k, int) else None
                jobs.append(Job(query, bundle, source, name, started, limit=limit))
        return jobs

    def _reserve(self, plan: QueryPlan, template: QueryBundle, lists: Sequence[RankedList]) -> list[Job]:
        """Return the searches held back, if those made brought too little."""
        found = [node for ranked in lists for node in ranked.nodes]
        if not plan.reserve or not is_low_recall(found, self.settings.retrieval):
            return []
        return self._jobs(QueryPlan(plan.reserve), template)

    def _fused(self, jobs: Sequence[Job], lists: Sequence[RankedList]) -> list[NodeWithScore]:
        if self._observe is not None:
            self._observe(tuple(lists))
        parallel.raise_if_all_failed(jobs)
        top_k = self.similarity_top_k or max(len(ranked.nodes) for ranked in lists)
        limit = candidates(lists, self.settings.fusion, top_k) if self._for_postprocessors else top_k
        return fuse(lists, self.settings.fusion, limit)
