"""Finding the phrase of a question that a name in a follow-up is of one kind with."""

from __future__ import annotations

import re

from llama_index_condense_plus.lexicons.patterns import regex
from llama_index_condense_plus.lexicons.text import fold, has_han
from llama_index_condense_plus.rewriting.counterparts_en import english_counterparts, is_english_attribute
from llama_index_condense_plus.rewriting.counterparts_zh import chinese_counterparts, is_chinese_attribute
from llama_index_condense_plus.rewriting.fragments import Fragment
from llama_index_condense_plus.rewriting.likeness import ENOUGH

_YEAR = regex(r"(?<!\d)(?:19|20)\d\d(?!\d)年?")
_NUMBER = regex(r"\d+(?:\.\d+)?")


def counterpart(question: str, new: Fragment) -> tuple[int, int] | None:
    """Return where a question names what a fragment takes the place of; None if nothing is alike enough."""
    for pattern in (_YEAR, _NUMBER):
        if pattern.fullmatch(new.new):
            found = [m for m in pattern.finditer(question) if m.group() != new.new]
            if not found:
                return None
            match = found[0]
            return match.start(), match.start() + len(match.group().rstrip("年" if not new.new.endswith("年") else ""))
    if re.search(rf"(?<![a-z0-9]){re.escape(fold(new.new))}(?![a-z0-9])", fold(question)):
        return None
    spans = chinese_counterparts(question, new) if has_han(question) else english_counterparts(question, new)
    best = max(spans, key=lambda s: s[0], default=None)
    return best[1:] if best and best[0] >= ENOUGH else None


def is_attribute(words: str) -> bool:
    """Return True for a noun that belongs to something: 价格, 分红情况, "price"."""
    return is_chinese_attribute(words) if has_han(words) else is_english_attribute(words)
