"""Comparing a query with what a case asks for: terms that must occur, accepted rewrites, references left."""

from __future__ import annotations

import re
from functools import lru_cache

from llama_index_condense_plus.evaluation.cases import Case
from llama_index_condense_plus.languages import pack_of
from llama_index_condense_plus.languages.text import fold

DANGLING = frozenset({"person", "thing", "plural", "previous"})
"""Kinds of references that a search query must not hold."""
_BESIDE_LETTER = re.compile(r"\s*([^\W\d_a-zA-Z\u00c0-\u024f])\s*")
_NOT_WORDS = re.compile(r"[^\w\s]+|_")


def normal(text: str) -> str:
    """Return a form in which two texts of the same words are equal: case, width, script, punctuation, spaces."""
    return " ".join(_BESIDE_LETTER.sub(r"\1", _NOT_WORDS.sub(" ", fold(text))).split())


def holds(query: str, term: str) -> bool:
    """Return True if a query holds a term, or one of its alternatives separated by ``|``.

    Letter case, width, script and spaces beside Chinese characters make no difference. A Latin term is found at the
    beginning of a word: ``approv`` finds "approval", ``car`` does not find "scar".
    """
    text = _flat(query)
    return any(_pattern(alternative).search(text) is not None for alternative in term.split("|"))


def is_labelled(case: Case) -> bool:
    """Return True if it is known what a right query looks like."""
    return bool(case.accepted_rewrites or case.must_contain)


def is_correct(case: Case, query: str) -> bool:
    """Return True if a query is an accepted rewrite, or holds every must-term; forbidden terms rule it out."""
    if any(holds(query, term) for term in case.must_not_contain):
        return False
    if normal(query) in {normal(accepted) for accepted in case.accepted_rewrites}:
        return True
    return bool(case.must_contain) and all(holds(query, term) for term in case.must_contain)


def is_dangling(query: str) -> bool:
    """Return True if a query still refers to something that only the conversation says."""
    return any(reference.kind in DANGLING for reference in pack_of(query).references(query))


@lru_cache(maxsize=8192)
def _pattern(term: str) -> re.Pattern[str]:
    flat = _flat(term)
    words = r"\s+".join(re.escape(word) for word in flat.split())
    return re.compile(rf"(?<![a-z0-9]){words}" if flat[:1].isascii() and flat[:1].isalnum() else words)


def _flat(text: str) -> str:
    return _BESIDE_LETTER.sub(r"\1", fold(text).replace("’", "'"))
