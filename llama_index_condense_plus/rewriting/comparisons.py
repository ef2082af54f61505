"""Questions that compare: "which one is steeper?" after two questions, "is a CT faster?" than what was asked about."""

from __future__ import annotations

import re
from collections.abc import Sequence

from llama_index_condense_plus.lexicons.patterns import regex
from llama_index_condense_plus.lexicons.text import fold, has_han, simplify
from llama_index_condense_plus.rewriting.choices import coordinated
from llama_index_condense_plus.rewriting.follow_up_words import either, follow_up_words
from llama_index_condense_plus.rewriting.noun_phrases import noun_phrases, said
from llama_index_condense_plus.rewriting.phrase import NounPhrase
from llama_index_condense_plus.rewriting.standing import Standing

_ZH, _EN = follow_up_words("zh"), follow_up_words("en")
_PAIR_ZH = regex(rf"(?:{either(_ZH['pair'])}).*(?:{either(_ZH['comparing'])})|^(?:哪|谁)[^，,]{{0,6}}(?:更|比较|最)")
_PAIR_EN = regex(
    rf"\b(?:{either(_EN['pair'])})\b.*\b(?:{either(_EN['comparing'])}|\w+er)\b|^which (?:one )?is \w+er\b",
    re.IGNORECASE,
)
_COMPARES_ZH = regex(r"更(?=[\u3400-\u9fff])")
_COMPARES_EN = regex(
    r"^(?:is|are|was|were|would|will|does|do|did|can) .{1,80}\b(?:(?:more|less) \w{1,20}|[a-z]{3,14}er)\W{0,3}$",
    re.IGNORECASE,
)
_NO_COMPARATIVE = regex(rf"\b(?:{either(_EN['no_comparatives'])})\W*$", re.IGNORECASE)
_OTHER = regex(r"比|\bthan\b", re.IGNORECASE)
_END = regex(r"[\s?.!？。！]*$")


def compared(clause: str, rounds: Sequence[Standing]) -> str | None:
    """Return a clause that compares two things unnamed, with the two that were asked about; None if it does not.

    Example: "Which one is steeper?" after questions about Mount Velka and Mount Rysa.
    """
    han = has_han(clause)
    if not (_PAIR_ZH if han else _PAIR_EN).search(simplify(clause)):
        return None
    if any(p.kind == "name" and p.text[:1].isupper() for p in noun_phrases(clause)):
        return None
    pair = _two(rounds)
    if pair is None:
        return None
    if han:
        return f"{pair[0]}和{pair[1]}{clause}"
    mark = _END.search(clause)
    words = clause[: mark.start()] if mark else clause
    return f"{words}, {pair[0]} or {pair[1]}?"


def _two(rounds: Sequence[Standing]) -> tuple[str, str] | None:
    """Return the two things that the last question named, or that the last two were about."""
    if not rounds:
        return None
    both = coordinated(rounds[-1].text)
    if both:
        return both
    topics: list[NounPhrase] = []
    for standing in reversed(rounds):
        about = standing.about
        if about and all(fold(about.text) != fold(t.text) for t in topics):
            topics.insert(0, about)
        if len(topics) == 2:  # noqa: PLR2004 - two are compared
            return said(topics[0]), said(topics[1])
    return None


def with_other_side(clause: str, last: Standing) -> str:
    """Return a clause that compares what it names with nothing, compared with what the last question was about."""
    about = last.about
    if about is None or _OTHER.search(clause) or fold(about.text) in fold(clause):
        return clause
    if has_han(clause):
        match = _COMPARES_ZH.search(clause)
        named = match and [p for p in noun_phrases(clause[: match.start()]) if p.kind in ("name", "term")]
        return f"{clause[: match.start()]}比{about.text}{clause[match.start() :]}" if match and named else clause
    if not _COMPARES_EN.match(clause) or _NO_COMPARATIVE.search(clause):
        return clause
    mark = _END.search(clause)
    return f"{clause[: mark.start()] if mark else clause} than {said(about)}?"
