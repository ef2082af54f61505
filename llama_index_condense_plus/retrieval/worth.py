"""What the user's own words are worth to a search: known before the rewrite, so that it decides on the prefetch."""

from __future__ import annotations

from llama_index_condense_plus.lexicons.memo import remembered
from llama_index_condense_plus.lexicons.patterns import regex
from llama_index_condense_plus.lexicons.text import content_tokens, has_han, tokenize
from llama_index_condense_plus.types import TriggerDecision

_NAME_TAGS = frozenset({"nr", "nrt", "nrfg", "ns", "nt", "nz", "eng"})
"""jieba's tags of people, places, organisations and other names; Latin words in a Chinese question."""
_TITLE = regex(r"[《「『“\"].+[》」』”\"]")


def original_worth(original: str, decision: TriggerDecision | None = None) -> float:
    """Return how much the user's own words would bring to a search, before the rewrite is known.

    A Chinese question is worth searching when it carries a name of its own: "是哪年上映的？" is asked of every film.
    In other languages one content word is enough (``benchmarks/retrieval.py`` prints both groups).

    Args:
        original: the user's words.
        decision: the trigger's decision; a message that needs no rewrite is worth its full weight.

    Returns:
        0 (not worth a search) to 1.
    """
    if decision is not None and not decision.rewrite:
        return 1.0
    if has_han(original):
        return 1.0 if carries_name(original) else 0.0
    return 1.0 if content_tokens(original) else 0.0


def agreement(original: str, rewrite: str) -> float:
    """Return how far a rewrite kept the original's words, and so how far both search for the same.

    Args:
        original: the user's words.
        rewrite: the standalone question.

    Returns:
        The share of the original's content words that the rewrite kept, 0 to 1. 1 for a Chinese original: there a name
        tells, not the number of words.
    """
    words = frozenset(content_tokens(original))
    if has_han(original) or not words:
        return 1.0
    return len(words & frozenset(content_tokens(rewrite))) / len(words)


@remembered
def carries_name(text: str) -> bool:
    """Return True if a Chinese text holds a title, a quotation or a word tagged as a name."""
    return _TITLE.search(text) is not None or any(
        token.pos in _NAME_TAGS and len(token.text) > 1 for token in tokenize(text)
    )
