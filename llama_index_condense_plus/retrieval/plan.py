"""Which queries a turn searches, which of them leads, and with which weight."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from llama_index.core.schema import NodeWithScore, QueryBundle

from llama_index_condense_plus.cleanup import safe_line
from llama_index_condense_plus.languages import pack_of
from llama_index_condense_plus.languages.base import NAMING
from llama_index_condense_plus.languages.text import fold, remembered
from llama_index_condense_plus.settings.sections import RetrievalSettings
from llama_index_condense_plus.types import (
    HistoryWindow,
    PlannedQuery,
    QueryPlan,
    QueryRole,
    RewriteResult,
    RewriteStatus,
    Trust,
)

CARRIED = 0.4
"""Least that a query carried over without a model counts: on MTRAG the user's own words find more."""
QUOTED = re.compile('[\u300a\u300c\u300e\u201c"]([^\u300b\u300d\u300f\u201d"]+)[\u300b\u300d\u300f\u201d"]')
"""A title or quotation, in Chinese or Latin marks."""
_SPACES = re.compile(r"\s+")
_END_MARKS = "?!.,;:~…\u3001\u3002 "


class DefaultQueryPlanner:
    """Searches the rewrite, and the user's words beside it where they say something by themselves.

    Args:
        settings: the ``retrieval`` section; none: its defaults.

    Example:
        >>> result = RewriteResult("GTE-3000 呢？", "GTE-3000 的价格是多少？", RewriteStatus.REWRITTEN)
        >>> [query.role.value for query in DefaultQueryPlanner().plan(result, HistoryWindow()).queries]
        ['rewritten', 'original']
    """

    def __init__(self, settings: RetrievalSettings | None = None) -> None:
        self.settings: RetrievalSettings = settings or RetrievalSettings()

    def plan(self, result: RewriteResult, window: HistoryWindow) -> QueryPlan:  # noqa: ARG002 - the protocol has it
        """Return the plan of a turn, never empty; variants are added by ``expand``.

        Args:
            result: the standalone question, how it came about, and how far it is trusted.
            window: the conversation; the words alone decide here.
        """
        own, original = self.settings, safe_line(result.original)
        if result.status is not RewriteStatus.REWRITTEN:
            role = QueryRole.ORIGINAL if same_query(result.query, result.original) else QueryRole.REWRITTEN
            return QueryPlan((PlannedQuery(result.query, role),), result.status.value)
        rewrite = PlannedQuery(result.query, QueryRole.REWRITTEN, trust=result.trust)
        speaks, is_doubted = says_something(original), result.trust is Trust.DOUBTED
        if own.dual == "never" or not original:
            return QueryPlan((rewrite,), "the rewrite alone")
        if own.dual == "auto" and not speaks and not result.ambiguous:
            return QueryPlan((rewrite,), f"{result.trust.value}: the original says nothing by itself")
        weight = own.doubted_weights.original if is_doubted else own.original_weight
        beside = PlannedQuery(original, QueryRole.ORIGINAL, 1.0 if result.ambiguous else weight)
        if is_doubted and not result.ambiguous:
            rewrite = replace(rewrite, weight=own.doubted_weights.rewrite * _certainty(result))
        leads = (beside, rewrite) if is_doubted and speaks else (rewrite, beside)
        queries = distinct(query for query in leads if query.weight > 0) or (rewrite,)
        return QueryPlan(queries[: own.max_queries], f"{result.trust.value}: rewrite and original")


def _certainty(result: RewriteResult) -> float:
    """Return what a doubted rewrite counts: a model's fully, a carried one by its confidence."""
    made = (attempt.confidence for attempt in result.attempts if attempt.rewriter == result.rewriter)
    known = [confidence for confidence in made if confidence is not None]
    return min(1.0, max(CARRIED, known[-1])) if known else 1.0


@remembered
def says_something(text: str) -> bool:
    """Return True if a user's words would find something without the conversation.

    Where words stand apart, any content word will do. A language that does not write them apart leaves its topic out
    instead of pointing at it, so that "是哪年上映的？" may be asked of every film: there it takes a name.
    """
    pack = pack_of(text)
    if pack.small_talk(text) or any(cue.name == "pick" for cue in pack.cues(text)):
        return False
    if pack.joiner:
        return bool(pack.content_words(text))
    return QUOTED.search(text) is not None or any(
        len(token.text) > 1 and (token.kind in NAMING or (token.kind == "word" and token.text.isascii()))
        for token in pack.tokenize(text)
    )


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
        if key:
            first = kept.setdefault(key, query)
            kept[key] = replace(first, weight=max(first.weight, query.weight))
    return tuple(kept.values())


def with_joined(plan: QueryPlan, settings: RetrievalSettings) -> QueryPlan:
    """Return the plan with one more query where a rewrite and the user's words are both searched: the words of both.

    A passage that holds words of either and of both comes out ahead, which no fusion of two lists can see.

    Args:
        plan: the plan.
        settings: ``joined_weight`` says what the query's list counts, 0 leaves it out.
    """
    by_role = {query.role: query for query in reversed(plan.queries)}
    rewrite, original = by_role.get(QueryRole.REWRITTEN), by_role.get(QueryRole.ORIGINAL)
    if not rewrite or not original or not settings.joined_weight or len(plan.queries) >= settings.max_queries:
        return plan
    joined = PlannedQuery(f"{rewrite.text} {original.text}", QueryRole.JOINED, settings.joined_weight)
    return replace(plan, queries=(*plan.queries, joined))


def bundles(plan: QueryPlan, template: QueryBundle) -> list[QueryBundle]:
    """Return a fresh query bundle for each query of a plan.

    Args:
        plan: the plan.
        template: the bundle a query engine was asked with. Its image goes with every query; its embedding and
            ``custom_embedding_strs`` (a HyDE passage, say) belong to its words, and so to the first query.
    """
    made = [QueryBundle(query.text, image_path=template.image_path) for query in plan.queries]
    made[0].custom_embedding_strs = template.custom_embedding_strs
    if template.query_str == plan.search_query:
        made[0].embedding = template.embedding
    return made


def is_low_recall(nodes: Sequence[NodeWithScore], settings: RetrievalSettings) -> bool:
    """Return True if a search brought too little, so that the plan's reserve is to be searched."""
    scores = [node.score for node in nodes if node.score is not None]
    limit = settings.low_recall_min_score
    return len(nodes) < settings.low_recall_min_nodes or (bool(scores) and limit is not None and max(scores) < limit)
