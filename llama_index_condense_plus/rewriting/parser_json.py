"""JSON in a model's output: whole, wrapped in words, or nearly JSON."""

from __future__ import annotations

import json
import re
from typing import Any

from llama_index_condense_plus.lexicons.patterns import regex

KEYS = (
    "rewritten_question", "rewritten_query", "rewritten", "rewrite", "standalone_question", "standalone_query",
    "standalone", "search_query",
    "condensed_question", "reformulated_question", "final_question", "final_query", "question", "query", "output",
    "text", "result", "改写后的问题", "改写问题", "改写结果",
    "改写", "重写后的问题", "重写", "独立问题", "完整问题", "检索词", "查询", "问题", "结果",
)  # fmt: skip
"""Where the question may stand, best first."""

ENTRY = "{["
_TRIES = 6
_START = regex(r"[{\[]")
_PAIR = regex(
    r"""["'“]?\b("""
    + "|".join(KEYS)
    + r""")["'”]?\s*[:：]\s*(?:"((?:[^"\\\n]|\\.)*)"|'((?:[^'\\\n]|\\.)*)'|“([^”\n]*)”)\s*(?=[,，}\]\n]|$)""",
    re.IGNORECASE,
)
_LIKE_JSON = regex(r"^\s*(?:\{\s*(?:[\"'“}]|\w+\s*:)|\[\s*(?:[\"{\]]))")
_MAX_DEPTH = 8


def json_question(text: str) -> tuple[str | None, bool]:
    """Return the question in a JSON output, and whether the output is meant as JSON.

    Args:
        text: output without think text and fences, of bounded size.
    """
    looks_like = bool(_LIKE_JSON.match(text))
    decoder = json.JSONDecoder(strict=False)
    at = 0
    for _ in range(_TRIES):
        found = _START.search(text, at)
        if found is None:
            break
        try:
            value, _end = decoder.raw_decode(text, found.start())
        except (ValueError, RecursionError):
            at = found.start() + 1
            continue
        question = _find(value, 0)
        if question is not None and (looks_like or isinstance(value, dict)):
            return question, True
        if looks_like:
            return None, True
        at = found.start() + 1
    if looks_like or "{" in text:
        return _nearly(text), looks_like
    if text.startswith('"'):
        try:
            return str(json.loads(text, strict=False)), True
        except ValueError:
            return None, False
    return None, False


def _find(value: Any, depth: int) -> str | None:
    """Return the question in a decoded value: the best key first, then inside, then a list's first."""
    if depth > _MAX_DEPTH:
        return None
    if isinstance(value, str):
        return value.strip() or None
    if isinstance(value, dict):
        lowered = {re.sub(r"[\s-]+", "_", str(key)).lower(): inner for key, inner in value.items()}
        # camelCase keys
        lowered |= {re.sub(r"(?<=[a-z])(?=[A-Z])", "_", str(key)).lower(): inner for key, inner in value.items()}
        for key in KEYS:
            if key in lowered and (found := _find(lowered[key], depth + 1)) is not None:
                return found
        nested = [inner for inner in value.values() if isinstance(inner, (dict, list))]
        return next((found for inner in nested if (found := _find(inner, depth + 1)) is not None), None)
    if isinstance(value, list):
        return next((found for inner in value[:4] if (found := _find(inner, depth + 1)) is not None), None)
    return None


def _nearly(text: str) -> str | None:
    """Return the value of the best known key in text that is not quite JSON."""
    found = {match.group(1).lower(): match for match in reversed(list(_PAIR.finditer(text)))}
    for key in KEYS:
        if key in found:
            value = next(group for group in found[key].groups()[1:] if group is not None)
            return re.sub(r"\\([\"'])", r"\1", value).replace("\\n", " ").strip() or None
    return None
