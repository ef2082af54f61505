"""Additional queries of a turn: glossary, topic, sub-questions, key phrases, and a model's rephrasings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import cast

from llama_index.core.base.llms.types import ChatMessage, MessageRole
from pydantic import BaseModel, Field

from llama_index_condense_plus.cleanup import safe_line
from llama_index_condense_plus.languages import detect_language, pack_of
from llama_index_condense_plus.languages.text import fold
from llama_index_condense_plus.operations import Flow, Predict, Prediction
from llama_index_condense_plus.retrieval.phrases import key_phrases, subquestions, synonym_variants
from llama_index_condense_plus.retrieval.plan import distinct, query_key, says_something
from llama_index_condense_plus.rewriting.carry import CarryRewriter
from llama_index_condense_plus.settings import CondensePlusSettings
from llama_index_condense_plus.settings.sections import RetrievalSettings, RewriteSettings
from llama_index_condense_plus.trust.refusals import REMARK
from llama_index_condense_plus.types import (
    HistoryWindow,
    PlannedQuery,
    QueryPlan,
    QueryRole,
    RewriteResult,
    RewriteStatus,
    Trust,
)

MAX_CHARS = 200
"""A longer line is an answer, not a query."""
TEMPERATURE = 0.7
"""Rephrasings must differ; the rewrite itself is asked at 0."""
_DIGITS = re.compile(r"\d+")
_BULLET = re.compile(r"^\s*(?:[-*•]|\d+[.)\u3001\uff0e])\s*")
ALONE = 5.0
"""Weight of the topic beside nothing but words that say nothing."""
_AS_TYPED = (RewriteStatus.SKIPPED, RewriteStatus.UNCHANGED)


def expand(
    plan: QueryPlan,
    result: RewriteResult,
    window: HistoryWindow,
    settings: CondensePlusSettings,
    carry: CarryRewriter | None = None,
) -> Flow[QueryPlan]:
    """Add a turn's variants to its plan; a model is asked only if no glossary rule fired, and may fail.

    Greetings, thanks and the like get none, and a short structured question gets none but the topic.

    Args:
        plan: the plan; its first query stays the first.
        result: the standalone question.
        window: the conversation.
        settings: the settings tree; its ``retrieval`` section says which variants.
        carry: finds the topic; none: a new one.

    Returns:
        The plan with at most ``variants_max`` more and ``max_queries`` in all; with ``variants_when`` "low_recall" they
        wait in ``reserve``.
    """
    own = settings.retrieval
    room = min(own.variants_max, own.max_queries - len(plan.queries))
    if room <= 0 or not own.variants or pack_of(result.original).small_talk(result.original):
        return plan
    found = [*_topic(result, window, own, carry or CarryRewriter())]
    if not _is_closed(result, own):
        found += _by_rule(plan.search_query, own, room - len(found))
        asks_model = "llm" in own.variants and not any(query.role is QueryRole.VARIANT for query in found)
        if asks_model and len(found) < room:
            texts = yield from _paraphrases(plan.search_query, room - len(found), settings.rewrite)
            found += [PlannedQuery(text, QueryRole.VARIANT, own.variant_weight) for text in texts]
    found = [replace(query, text=safe_line(query.text)) for query in found if query.weight > 0]
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


def _by_rule(query: str, settings: RetrievalSettings, room: int) -> Iterator[PlannedQuery]:
    kinds, weight = settings.variants, settings.variant_weight
    synonyms = list(synonym_variants(query, settings.synonyms)) if "rules" in kinds else []
    sides = subquestions(query) if "subquestions" in kinds else []
    yield from (PlannedQuery(text, QueryRole.VARIANT, weight) for text in synonyms)
    yield from (PlannedQuery(text, QueryRole.SUBQUESTION, weight) for text in sides)
    if "keywords" in kinds:
        phrases = key_phrases(query)
        count = max(1, room - len(synonyms) - len(sides)) if settings.keywords == "separate" else 1
        apart = [*phrases[: count - 1], " ".join(phrases[count - 1 :])]  # no phrase is lost for want of room
        yield from (PlannedQuery(text, QueryRole.KEYWORDS, weight) for text in apart)


def _topic(
    result: RewriteResult, window: HistoryWindow, settings: RetrievalSettings, carry: CarryRewriter
) -> Iterator[PlannedQuery]:
    """Yield the topic query of a follow-up without a model's rewrite, or whose own words say nothing.

    It has full weight where no rewrite is trusted, or where the rewrite names nothing that was talked about; else it
    is a variant among others, for the rewrite may name the right thing and the topic another.
    """
    if "topic" not in settings.variants or result.status is RewriteStatus.SKIPPED or not window:
        return
    says, is_rewritten = says_something(result.original), result.status is RewriteStatus.REWRITTEN
    has_model = result.rewriter != ("rules" if is_rewritten else "original")
    is_remark = any(reason.endswith(REMARK) for reason in result.reasons)
    if is_remark or (has_model and (says or not is_rewritten)):
        return
    topic = carry.topic_query(result.original, window)
    if topic:
        said, asked = fold(result.query), fold(result.original)
        names = (fold(entity.text) for entity in window.entities)
        is_led = result.trust is Trust.TRUSTED and any(name in said and name not in asked for name in names)
        alone = 1.0 if says or is_rewritten else ALONE
        yield PlannedQuery(topic, QueryRole.TOPIC, settings.variant_weight if has_model and is_led else alone)


def _is_closed(result: RewriteResult, settings: RetrievalSettings) -> bool:
    """Return True for a short structured question that was not rewritten: it says all there is to say."""
    if result.status not in _AS_TYPED or len(result.query) > settings.short_structured_max_chars:
        return False
    markers, folded = settings.short_structured_markers, fold(result.query)
    if markers is None:
        markers = tuple(pack_of(result.query).phrase("structured").split())
    return any(fold(marker) in folded for marker in markers)


class Paraphrases(BaseModel):
    """A search query in other words."""

    queries: list[str] = Field(description="Queries that mean the same in different words.")


def _paraphrases(query: str, wanted: int, settings: RewriteSettings) -> Flow[list[str]]:
    """Ask a model for rephrasings of a query; none if it fails."""
    system = pack_of(query).phrase("paraphrase").strip().format(n=wanted)
    messages = (ChatMessage(system, role=MessageRole.SYSTEM), ChatMessage(query, role=MessageRole.USER))
    options = {"temperature": TEMPERATURE, "max_tokens": 2 * settings.max_tokens}
    try:
        predicted: Prediction = yield Predict(
            messages, options=options, output_cls=Paraphrases, timeout_s=settings.timeout_s
        )
    except Exception:  # noqa: BLE001 - fails open: the plan is complete without variants
        return []
    return [text for text in _read(predicted.text) if _is_faithful(text, query)][:wanted]


def _read(output: str) -> list[str]:
    start, end = output.find("{"), output.rfind("}")
    try:
        return [safe_line(text) for text in Paraphrases.model_validate_json(output[start : end + 1]).queries]
    except ValueError:
        lines = [_BULLET.sub("", line) for line in output.splitlines() if _BULLET.match(line)]
        return [safe_line(line.strip("\"'“”")) for line in lines]


def _is_faithful(text: str, query: str) -> bool:
    """Return True if a rephrasing is a query about the same: no new number, a word in common, the same language."""
    if not text or len(text) > MAX_CHARS or detect_language(text) != detect_language(query):
        return False
    if set(_DIGITS.findall(fold(text))) - set(_DIGITS.findall(fold(query))):
        return False
    asked = _words(query)
    return not asked or not asked.isdisjoint(_words(text))


def _words(text: str) -> set[str]:
    """Return the words that say something; where they are not written apart, their characters."""
    pack = pack_of(text)
    words = pack.content_words(text)
    return set(words if pack.joiner else (*words, *"".join(words)))
