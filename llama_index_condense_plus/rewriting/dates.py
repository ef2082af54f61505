"""Finds the dates that a rewrite put in place of the user's relative time ("last year"): for guards and trace."""

from __future__ import annotations

import re

from llama_index_condense_plus.lexicons.patterns import regex
from llama_index_condense_plus.lexicons.text import fold, has_han
from llama_index_condense_plus.rewriting.prompt import relative_times
from llama_index_condense_plus.types import Edit

_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?"
    r"|aug(?:ust)?|sep(?:tember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_DATE = regex(
    r"(?:19|20)\d\d ?年(?: ?\d{1,2} ?月(?: ?\d{1,2} ?[日号])?|[上下]半年|第?[一二三四1-4]季度)?"
    r"|\d{1,2} ?月 ?\d{1,2} ?[日号]"
    r"|(?:19|20)\d\d(?:[-/]\d{1,2}(?:[-/]\d{1,2})?|\.\d{1,2}\.\d{1,2})"
    rf"|\b(?:\d{{1,2}} )?{_MONTH}(?: \d{{1,2}})?,? (?:19|20)\d\d\b"
    rf"|\b{_MONTH} \d{{1,2}}\b|\b\d{{1,2}} {_MONTH}\b"
    r"|(?<![\w.-])(?:19|20)\d\d(?![\w-]|\.\d)",
    re.IGNORECASE,
)


def resolved_dates(original: str, query: str, language: str | None = None) -> tuple[str, tuple[Edit, ...]]:
    """Find the dates that a rewrite put in place of the user's relative time.

    Args:
        original: the user's words.
        query: the rewrite.
        language: code of the original's lexicon; none: by script.

    Returns:
        The rewrite with the user's own words in place of the dates, which is what can be compared with the original;
        and an edit for each date. The rewrite itself and nothing where no relative time became a date.

    Example:
        >>> resolved_dates("去年的营收呢？", "华为 2025 年的营收是多少？")
        ('华为 去年的营收是多少？', (Edit(kind='date', before='去年', after='2025 年'),))
    """
    kept = fold(query)
    asked = relative_times(original, language or ("zh" if has_han(original) else "en"))
    lost = [words for words in asked if words not in kept]
    said = fold(original)
    dates = [match for match in _DATE.finditer(query) if fold(match.group()) not in said] if lost else []
    if not dates:
        return query, ()
    if len(lost) > len(dates):  # one date for "the third quarter of last year"
        lost[len(dates) - 1 :] = [" ".join(lost[len(dates) - 1 :])]
    compared = query
    pairs = list(zip(lost + [""] * (len(dates) - len(lost)), dates, strict=True))
    for words, date in reversed(pairs):
        compared = compared[: date.start()] + words + compared[date.end() :]
    return compared, tuple(Edit("date", words, date.group()) for words, date in pairs)
