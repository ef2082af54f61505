"""Comparing a query with what a case asks for: terms that must occur, and accepted rewrites."""

from __future__ import annotations

import re
from functools import lru_cache

from llama_index_condense_plus.evaluation.cases import ALTERNATIVES, Case
from llama_index_condense_plus.lexicons.text import fold

_BESIDE_HAN = re.compile(r"\s*([\u3400-\u9fff])\s*")
_NOT_WORDS = re.compile(r"[^\w\s]+|_")


def normal(text: str) -> str:
    """Return a form in which two texts of the same words are equal: case, width, script, punctuation, spaces."""
    return " ".join(_BESIDE_HAN.sub(r"\1", _NOT_WORDS.sub(" ", fold(text))).split())


def holds(query: str, term: str) -> bool:
    """Return True if a query holds a term, or one of its alternatives separated by ``|``.

    Letter case, width, script and the spaces beside Chinese characters make no difference. A Latin term is found
    at the beginning of a word, so that ``approv`` finds "approval" and ``car`` does not find "scar".
    """
    text = _flat(query)
    return any(_pattern(alternative).search(text) is not None for alternative in term.split(ALTERNATIVES))


def is_correct(case: Case, query: str) -> bool:
    """Return True if a query is an accepted rewrite, or holds every must-term; forbidden terms rule it out."""
    if any(holds(query, term) for term in case.must_not_contain):
        return False
    if is_accepted(case, query):
        return True
    return bool(case.must_contain) and all(holds(query, term) for term in case.must_contain)


def is_accepted(case: Case, query: str) -> bool:
    """Return True if a query equals one of the accepted rewrites."""
    return normal(query) in {normal(accepted) for accepted in case.accepted_rewrites}


@lru_cache(maxsize=8192)
def _pattern(term: str) -> re.Pattern[str]:
    flat = _flat(term)
    words = r"\s+".join(re.escape(word) for word in flat.split())
    return re.compile(rf"(?<![a-z0-9]){words}" if flat[:1].isascii() and flat[:1].isalnum() else words)


def _flat(text: str) -> str:
    return _BESIDE_HAN.sub(r"\1", fold(text).replace("’", "'"))
