"""Which queries a turn searches, and with which weight."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from llama_index.core.schema import NodeWithScore, QueryBundle

from llama_index_condense_plus.lexicons.patterns import regex
from llama_index_condense_plus.lexicons.text import fold
from llama_index_condense_plus.retrieval.worth import agreement, original_worth
from llama_index_condense_plus.rewriting.cleanup import safe_line
from llama_index_condense_plus.settings.sections import RetrievalSettings
from llama_index_condense_plus.types import (
    HistoryWindow,
    PlannedQuery,
    QueryPlan,
    QueryRole,
    RewriteResult,
    RewriteStatus,
)

_SPACES = regex(r"\s+")
_END_MARKS = " ?!.。,;:~…、"


class DefaultQueryPlanner:
    """Searches the rewrite, and the user's words beside it where they are worth it.

    Args:
        settings: the ``retrieval`` section; none: its defaults.

    Example:
        >>> result = RewriteResult("GTE-3000 呢？", "GTE-3000 的价格是多少？", RewriteStatus.REWRITTEN)
        >>> [query.role.value for query in DefaultQueryPlanner().plan(result, HistoryWindow()).queries]
        ['rewritten', 'original']
    """

    def __init__(self, settings: RetrievalSettings | None = None) -> None:
        self.settings = settings or RetrievalSettings()

    def plan(self, result: RewriteResult, window: HistoryWindow) -> QueryPlan:  # noqa: ARG002 - the protocol has it
        """Return the plan of a turn, never empty; variants are added by ``expand``.

        Args:
            result: the standalone question and how it came about.
            window: the conversation; the words alone decide here.
        """
        if result.status is not RewriteStatus.REWRITTEN:
            role = QueryRole.ORIGINAL if same_query(result.query, result.original) else QueryRole.REWRITTEN
            return QueryPlan((PlannedQuery(result.query, role),), result.status.value)
        rewritten = PlannedQuery(result.query, QueryRole.REWRITTEN)
        weight, reason = self._original_weight(result)
        original = safe_line(result.original)
        if weight <= 0 or not original:
            return QueryPlan((rewritten,), reason)
        return self._limited((rewritten, PlannedQuery(original, QueryRole.ORIGINAL, weight)), reason)

    def _original_weight(self, result: RewriteResult) -> tuple[float, str]:
        if self.settings.dual == "never":
            return 0.0, "dual retrieval is off"
        if result.ambiguous:
            return 1.0, "ambiguous: both at equal weight"
        if self.settings.dual == "always":
            return self.settings.original_weight, "dual retrieval is always on"
        worth = original_worth(result.original) * agreement(result.original, result.query)
        return self.settings.original_weight * worth, f"the original is worth {worth:.2f}"

    def _limited(self, queries: tuple[PlannedQuery, ...], reason: str) -> QueryPlan:
        return QueryPlan(distinct(queries)[: self.settings.max_queries], reason)


def query_key(text: str) -> str:
    """Return a form in which queries that find the same are equal: width, case, script, spaces and end marks."""
    folded = _SPACES.sub(" ", fold(text)).strip()
    return folded.rstrip(_END_MARKS) or folded


def same_query(first: str, second: str) -> bool:
    """Return True if two queries are equal after normalisation."""
    return query_key(first) == query_key(second)


def distinct(queries: Iterable[PlannedQuery]) -> tuple[PlannedQuery, ...]:
    """Return the queries without later repetitions; the first keeps its role and the greatest weight."""
    kept: dict[str, PlannedQuery] = {}
    for query in queries:
        key = query_key(query.text)
        if not key:
            continue
        first = kept.setdefault(key, query)
        if query.weight > first.weight:
            kept[key] = replace(first, weight=query.weight)
    return tuple(kept.values())


def bundles(plan: QueryPlan, template: QueryBundle | None = None) -> list[QueryBundle]:
    """Return a fresh query bundle for each query of a plan.

    Args:
        plan: the plan.
        template: the bundle a query engine was asked with. Its image goes with every query; its embedding and
            ``custom_embedding_strs`` (a HyDE passage, say) belong to its words, and so to the first query.
    """
    if template is None:
        return [QueryBundle(query.text) for query in plan.queries]
    made = [QueryBundle(query.text, image_path=template.image_path) for query in plan.queries]
    made[0].custom_embedding_strs = template.custom_embedding_strs
    if template.query_str == plan.search_query:
        made[0].embedding = template.embedding
    return made


def is_low_recall(nodes: Sequence[NodeWithScore], settings: RetrievalSettings) -> bool:
    """Return True if a search brought too little, so that the plan's reserve is to be searched."""
    scores = [node.score for node in nodes if node.score is not None]
    limit = settings.low_recall_min_score
    is_weak = limit is not None and bool(scores) and max(scores) < limit
    return len(nodes) < settings.low_recall_min_nodes or is_weak
