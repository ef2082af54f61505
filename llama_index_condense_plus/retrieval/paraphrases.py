"""A model's rephrasings of a query: more are asked for than are kept, and those that differ most are kept."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence

from llama_index.core.base.llms.types import ChatMessage, MessageRole
from pydantic import BaseModel, Field

from llama_index_condense_plus.languages import detect_language, pack_of
from llama_index_condense_plus.languages.text import fold
from llama_index_condense_plus.operations import Flow, Predict, Prediction
from llama_index_condense_plus.retrieval.plan import query_key
from llama_index_condense_plus.rewriting.cleanup import safe_line
from llama_index_condense_plus.settings.sections import RewriteSettings

OVER_GENERATE = 2
"""Asked for this many times as many as are kept."""
CLOSENESS = 0.3
"""Weight of being close to the query against being far from what was selected."""
MAX_CHARS = 200
"""A longer line is an answer, not a query."""
TEMPERATURE = 0.7
"""Rephrasings must differ; the rewrite itself is asked at 0."""
_DIGITS = re.compile(r"\d+")
_BULLET = re.compile(r"^\s*(?:[-*•]|\d+[.)\u3001\uff0e])\s*")


class Paraphrases(BaseModel):
    """A search query in other words."""

    queries: list[str] = Field(description="Queries that mean the same in different words.")


def paraphrases(query: str, wanted: int, settings: RewriteSettings) -> Flow[tuple[str, ...]]:
    """Ask a model for rephrasings of a query; none if it fails.

    Args:
        query: the search query.
        wanted: most rephrasings.
        settings: the ``rewrite`` section, for the deadline and the length.
    """
    system = pack_of(query).phrase("paraphrase").strip().format(n=wanted * OVER_GENERATE)
    messages = (ChatMessage(system, role=MessageRole.SYSTEM), ChatMessage(query, role=MessageRole.USER))
    options = {"temperature": TEMPERATURE, "max_tokens": 2 * settings.max_tokens}
    try:
        predicted: Prediction = yield Predict(
            messages, options=options, output_cls=Paraphrases, timeout_s=settings.timeout_s
        )
    except Exception:  # noqa: BLE001 - fails open: the plan is complete without variants
        return ()
    return tuple(select_diverse(query, [text for text in _read(predicted.text) if _is_faithful(text, query)], wanted))


def select_diverse(query: str, candidates: Sequence[str], wanted: int) -> list[str]:
    """Return the candidates that are near the query and far from each other.

    Each step takes the greatest ``0.3 · cos(query, c) + 1 − max cos(selected, c)``, the query counted as selected, over
    words and character pairs: no embedding is computed.

    Args:
        query: the search query.
        candidates: rephrasings.
        wanted: most that are returned.
    """
    unique = {query_key(text): text for text in reversed(candidates)}
    unique.pop(query_key(query), None)
    left = sorted(unique.values(), key=list(candidates).index)
    chosen: list[str] = []
    terms = {text: _terms(text) for text in (query, *left)}

    def value(text: str) -> float:
        nearest = max(_cosine(terms[text], terms[other]) for other in (query, *chosen))
        return CLOSENESS * _cosine(terms[query], terms[text]) + 1 - nearest

    while left and len(chosen) < wanted:
        chosen.append(max(left, key=value))
        left.remove(chosen[-1])
    return chosen


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
    return not pack_of(query).content_words(query) or _cosine(_terms(text), _terms(query)) > 0


def _terms(text: str) -> Counter[str]:
    """Count words, and the pairs of characters where words are not written apart."""
    pack, folded = pack_of(text), fold(text)
    pairs = [] if pack.joiner else [folded[i : i + 2] for i in range(len(folded) - 1)]
    return Counter([*pack.content_words(text), *pairs])


def _cosine(one: Counter[str], other: Counter[str]) -> float:
    dot = sum(count * other[term] for term, count in one.items())
    size = math.sqrt(sum(c * c for c in one.values()) * sum(c * c for c in other.values()))
    return dot / size if size else 0.0
