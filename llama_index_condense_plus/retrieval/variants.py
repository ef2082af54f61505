"""Additional queries of a turn: glossary, topic, sub-questions, key phrases, and a model's rephrasings."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import cast

from llama_index_condense_plus.languages import pack_of
from llama_index_condense_plus.lexicons.text import fold
from llama_index_condense_plus.operations import Flow
from llama_index_condense_plus.retrieval.paraphrases import paraphrases
from llama_index_condense_plus.retrieval.phrases import key_phrases, subquestions, synonym_variants
from llama_index_condense_plus.retrieval.plan import distinct, query_key
from llama_index_condense_plus.retrieval.worth import original_worth
from llama_index_condense_plus.rewriting.cleanup import safe_line
from llama_index_condense_plus.rewriting.rules import topic_query
from llama_index_condense_plus.settings import CondensePlusSettings
from llama_index_condense_plus.settings.sections import RetrievalSettings
from llama_index_condense_plus.types import (
    HistoryWindow,
    PlannedQuery,
    QueryPlan,
    QueryRole,
    RewriteResult,
    RewriteStatus,
)

TOPIC_WEIGHT = 1.0
VARIANT_WEIGHT = 0.5
"""Fusion weights; ``benchmarks/retrieval.py`` sweeps the topic's."""
_STANDALONE = (RewriteStatus.SKIPPED, RewriteStatus.UNCHANGED)


def expand(
    plan: QueryPlan, result: RewriteResult, window: HistoryWindow, settings: CondensePlusSettings
) -> Flow[QueryPlan]:
    """Add a turn's variants to its plan; a model is asked only if no glossary rule fired, and may fail.

    Args:
        plan: the plan; its first query stays the first.
        result: the standalone question.
        window: the conversation.
        settings: the settings tree; its ``retrieval`` section says which variants.

    Returns:
        The plan with at most ``variants_max`` more and ``max_queries`` in all; with ``variants_when`` "low_recall" they
        wait in ``reserve``.
    """
    own = settings.retrieval
    room = min(own.variants_max, own.max_queries - len(plan.queries))
    if room <= 0 or not own.variants:
        return plan
    found = list(_by_rule(plan, result, window, own))
    asks_model = "llm" in own.variants and not any(query.role is QueryRole.VARIANT for query in found)
    if asks_model and len(found) < room and not _is_closed(result, own):
        texts = yield from paraphrases(plan.search_query, room - len(found), settings.rewrite)
        found += [PlannedQuery(text, QueryRole.VARIANT, VARIANT_WEIGHT) for text in texts]
    found = [replace(query, text=safe_line(query.text)) for query in found]
    known = {query_key(query.text) for query in plan.queries}
    extra = tuple(query for query in distinct(found) if query_key(query.text) not in known)[:room]
    if own.variants_when == "low_recall":
        return replace(plan, reserve=(*plan.reserve, *extra))
    return replace(plan, queries=(*plan.queries, *extra))


def without_model(expanding: Flow[QueryPlan]) -> QueryPlan:
    """Return the plan that variants make where there is no model to ask.

    Args:
        expanding: what ``expand`` returned.
    """
    try:
        next(expanding)
        while True:
            expanding.throw(NotImplementedError("there is no model here"))
    except StopIteration as stop:
        return cast(QueryPlan, stop.value)


def _by_rule(
    plan: QueryPlan, result: RewriteResult, window: HistoryWindow, settings: RetrievalSettings
) -> Iterable[PlannedQuery]:
    query, kinds = plan.search_query, settings.variants
    if "topic" in kinds:
        topic = _topic(result, window)
        if topic:
            yield PlannedQuery(topic, QueryRole.TOPIC, TOPIC_WEIGHT)
    if _is_closed(result, settings):
        return
    if "rules" in kinds:
        for text in synonym_variants(query, settings.synonyms):
            yield PlannedQuery(text, QueryRole.VARIANT, VARIANT_WEIGHT)
    if "subquestions" in kinds:
        for text in subquestions(query):
            yield PlannedQuery(text, QueryRole.SUBQUESTION, VARIANT_WEIGHT)
    if "keywords" in kinds:
        phrases = key_phrases(query)
        for text in phrases if settings.keywords == "separate" else [" ".join(phrases)]:
            yield PlannedQuery(text, QueryRole.KEYWORDS, VARIANT_WEIGHT)


def _topic(result: RewriteResult, window: HistoryWindow) -> str | None:
    """Return the topic query of a follow-up whose own words are worth nothing.

    With words of its own the topic takes the place of what was asked: it lost on KdConv's searchable questions, and
    won nothing on MTRAG.
    """
    if result.status in _STANDALONE or not window:
        return None
    if original_worth(result.original) > 0:
        return None
    return topic_query(window, result.original)


def _is_closed(result: RewriteResult, settings: RetrievalSettings) -> bool:
    """Return True for a short structured question that was not rewritten: it says all there is to say."""
    if result.status not in _STANDALONE or len(result.query) > settings.short_structured_max_chars:
        return False
    markers, folded = settings.short_structured_markers, fold(result.query)
    if markers is None:
        markers = tuple(pack_of(result.query).phrase("structured").split())
    return any(fold(marker) in folded for marker in markers)
