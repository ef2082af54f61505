"""Putting what a follow-up names in the place of what the last question was about."""

from __future__ import annotations

import re

from llama_index_condense_plus.languages.patterns import regex
from llama_index_condense_plus.languages.text import has_han
from llama_index_condense_plus.rewriting.counterparts import counterpart
from llama_index_condense_plus.rewriting.fragments import BRACKETS, Fragment

_ARTICLE = regex(r"\b(?:(?P<the>the)|an?) \Z", re.IGNORECASE)
_NEAR = 8
"""Characters before a phrase in which its article stands."""


def substituted(question: str, new: Fragment) -> str | None:
    """Return a question with a fragment in the place of its counterpart; None if it has none.

    Example:
        >>> substituted("When does the north gate close?", fragment("And the south gate?"))
        'When does the south gate close?'
    """
    span = counterpart(question, new)
    if span is None:
        return None
    start, end = span
    if has_han(question):
        bracketed = question[:start][-1:] in BRACKETS
        return question[:start] + (new.new.strip(BRACKETS) if bracketed else new.new) + question[end:]
    words = new.new
    if words[1:2].islower() and not new.named and not (new.named is None and question[start].isupper()):
        words = words[0].lower() + words[1:]
    article = _ARTICLE.search(question, max(0, start - _NEAR), start)
    title = article is not None and article["the"] == "The" and article.start() > 0
    bare = new.named and not question[end : end + 2].strip().isalnum()
    if article and (new.article or title or bare or not article["the"]):
        start = article.start()
        words = f"{new.article} {words}" if new.article else words
    return question[:start] + words + question[end:]
