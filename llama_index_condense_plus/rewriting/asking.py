"""Telling whether words ask anything, in Chinese or English, by their marks and question words."""

from __future__ import annotations

import re

from llama_index_condense_plus.lexicons.patterns import regex
from llama_index_condense_plus.rewriting.follow_up_words import either, follow_up_words

_ASKS = regex(
    rf"[?？几]|{either(follow_up_words('zh')['asking'])}|\b(?:{either(follow_up_words('en')['asking'])})\b",
    re.IGNORECASE,
)


def asks(words: str) -> bool:
    """Return True for words that ask.

    Example:
        >>> asks("多久到账"), asks("tell me more"), asks("谢谢")
        (True, True, False)
    """
    return _ASKS.search(words) is not None
