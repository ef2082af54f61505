"""Putting what a follow-up names in the place of what the last question was about."""

from __future__ import annotations

import re

from llama_index_condense_plus.lexicons.patterns import regex
from llama_index_condense_plus.lexicons.text import has_han
from llama_index_condense_plus.rewriting.additions import added
from llama_index_condense_plus.rewriting.counterparts import counterpart
from llama_index_condense_plus.rewriting.counterparts_en import PLACED
from llama_index_condense_plus.rewriting.follow_up_words import either, follow_up_words
from llama_index_condense_plus.rewriting.fragments import BRACKETS, Fragment

_EN = follow_up_words("en")
_ARTICLE = regex(r"\b(?:(?P<the>the)|an?) \Z", re.IGNORECASE)
_TAKES_ARTICLE = regex(
    rf"\b(?:{either([*_EN['prepositions'], *_EN['auxiliaries'], *_EN['copulas']])}) \Z", re.IGNORECASE
)
"""Words after which a name may have an article that the name before it had not."""
_PLACE = regex(rf"\b({either(PLACED)}) (?:the |an? )?\Z", re.IGNORECASE)
_NEAR = 12
"""Characters before a phrase in which its article and its preposition stand."""


def substituted(question: str, new: Fragment) -> str | None:
    """Return a question with a fragment in the place of its counterpart or added to it; None if it fits nowhere.

    Example:
        >>> substituted("When does the north gate close?", fragment("And the south gate?"))
        'When does the south gate close?'
    """
    span = counterpart(question, new)
    if span is None:
        return added(question, new)
    start, end = span
    if has_han(question):
        bracketed = question[:start][-1:] in BRACKETS
        said_twice = (
            has_han(new.new[-1]) and question[end : end + 1] == new.new[-1] != question[end - 1]
        )  # 新能源|车, 油车
        end += said_twice
        return question[:start] + (new.new.strip(BRACKETS) if bracketed else new.new) + question[end:]
    words = new.new
    if new.opens and words[1:2].islower() and not new.proper and not (new.named is None and question[start].isupper()):
        words = words[0].lower() + words[1:]
    article = _ARTICLE.search(question, max(0, start - _NEAR), start)
    title = article is not None and article["the"] == "The" and article.start() > 0
    bare = new.named and not question[end : end + 2].strip().isalnum()
    if article and (new.article or title or bare or not article["the"]):
        start = article.start()
        words = f"{new.article} {words}" if new.article else words
    led = _PLACE.search(question, max(0, start - _NEAR), start)
    if led and new.preposition in PLACED and led[1].lower() != new.preposition:
        return f"{question[: led.start()]}{new.preposition} {question[led.end() : start]}{words}{question[end:]}"
    if article is None and new.article and _TAKES_ARTICLE.search(question[:start]):
        words = f"{new.article} {words}"
    return question[:start] + words + question[end:]
