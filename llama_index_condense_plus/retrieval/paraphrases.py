"""A model's rephrasings of a query, held to what the query says."""

from __future__ import annotations

import re

from llama_index.core.base.llms.types import ChatMessage, MessageRole
from pydantic import BaseModel, Field

from llama_index_condense_plus.cleanup import safe_line
from llama_index_condense_plus.languages import detect_language, pack_of
from llama_index_condense_plus.languages.text import fold
from llama_index_condense_plus.operations import Flow, Predict, Prediction
from llama_index_condense_plus.settings.sections import RewriteSettings

MAX_CHARS = 200
"""A longer line is an answer, not a query."""
TEMPERATURE = 0.7
"""Rephrasings must differ; the rewrite itself is asked at 0."""
_DIGITS = re.compile(r"\d+")
_BULLET = re.compile(r"^\s*(?:[-*•]|\d+[.)\u3001\uff0e])\s*")


class Paraphrases(BaseModel):
    """A search query in other words."""

    queries: list[str] = Field(description="Queries that mean the same in different words.")


def paraphrases(query: str, wanted: int, settings: RewriteSettings) -> Flow[list[str]]:
    """Ask a model for rephrasings of a query; none if it fails.

    Args:
        query: the search query.
        wanted: how many rephrasings.
        settings: the ``rewrite`` section, for the deadline and the length.
    """
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
