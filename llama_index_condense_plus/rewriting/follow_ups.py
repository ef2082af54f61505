"""Follow-ups without content: they ask for more of the last question, for its reverse, or for its negation."""

from __future__ import annotations

import re
from itertools import pairwise

from llama_index_condense_plus.lexicons.patterns import regex
from llama_index_condense_plus.lexicons.text import has_han, simplify
from llama_index_condense_plus.rewriting.follow_up_words import either, follow_up_words
from llama_index_condense_plus.rewriting.noun_phrases import noun_phrases
from llama_index_condense_plus.rewriting.phrase import decapitalised

_ZH, _EN = follow_up_words("zh"), follow_up_words("en")
_MARKS = regex(r"[^\w\s'’]+")
_CONTENTLESS_ZH = frozenset(_ZH["contentless"])
_CONTENTLESS_EN = frozenset(_EN["contentless"])
_LEAD_ZH = regex(rf"^(?:{either(_ZH['interjections'])})[，,\s]*(?=.)")
_TAIL_ZH = regex(rf"(?:{either(_ZH['particles'])})$")
_LEAD_EN = regex(rf"^(?:(?:{either([*_EN['openers'], *_EN['interjections']])})\b,?\s+)+(?=\w)", re.IGNORECASE)
_LAST_MARK = regex(r"[\s。.？?！!，,；;]+$")
_REVERSAL_ZH = regex(rf"^(?:那么?)?[，,]?(?:如果|要是)?(?:{either(_ZH['reversal'])})")
_REVERSAL_EN = regex(rf"^(?:what about |how about |is it |and )*(?:{either(_EN['reversal'])})\b", re.IGNORECASE)
_NEGATED_ZH = regex(
    rf"^(?:{either(_ZH['conditions'])})(?:[我你他她它]们?)?(?P<no>{either(_ZH['negators'])})"
    r"(?P<what>[^，,。？?呢]{0,8}?)(?:的话|了|呢)*[？?。]?$"
)
_NEGATED_EN = regex(
    r"^(?:what|but|and)? ?(?:happens )?(?:if|when) (?:it|they|he|she|i|we|you|that|this|not)?"
    r"(?: ?(?:is|are|am|was|were|do|does|did|can|has|have|will|['’](?:m|re|s)))?(?: ?n[o'’]t)?\s*[?.]*$",
    re.IGNORECASE,
)
_CONDITION_EN = regex(r"\b(?:if|when)\b[^?]*?\b(?:is|are|am|was|were|can|has|have|will)\b(?! not)", re.IGNORECASE)
_AUXILIARY = regex(rf"^(?:{either([*_EN['auxiliaries'], *_EN['copulas'], 'has', 'have'])})\b", re.IGNORECASE)
_STOPS_ZH = "怎多是要需"
"""Characters that no side of a reversal holds: 怎么, 多久, 是, 要, 需要."""
_SIDE_ZH = rf"[^，,。？?{_STOPS_ZH}]{{1,20}}?"
_EXCHANGED_ZH = tuple(
    regex(rf"{re.escape(opener)}(?P<a>{_SIDE_ZH})(?P<mid>{middle})(?P<b>{_SIDE_ZH})(?=[{_STOPS_ZH}，,。？?！!的有]|$)")
    for opener, middle in _ZH["reversible"]
)
"""Questions with two sides, the surest first: 从 A 到 B."""


def is_contentless(clause: str) -> bool:
    """Return True for a clause that says nothing without the last question ("why?", 还有吗).

    Example:
        >>> is_contentless("那还有吗？"), is_contentless("And the price?")
        (True, False)
    """
    words = _MARKS.sub(" ", simplify(clause)).strip()
    if not words:
        return False
    if has_han(words):
        words = _LEAD_ZH.sub("", words).replace(" ", "")
        return words in _CONTENTLESS_ZH or _TAIL_ZH.sub("", words) in _CONTENTLESS_ZH
    folded = " ".join(words.lower().replace("’", "'").split())
    return folded in _CONTENTLESS_EN or _LEAD_EN.sub("", folded) in _CONTENTLESS_EN


def continued(question: str, clause: str) -> str:
    """Return the last question with a clause that asks for more of it, as one question.

    Example:
        >>> continued("Can I smoke here?", "Why?"), continued("申请护照要哪些材料？", "还有吗？")
        ('Why can I smoke here?', '申请护照要哪些材料，还有吗？')
    """
    base = _LAST_MARK.sub("", question)
    if has_han(base):
        asks = _LEAD_ZH.sub("", clause)
        return f"{base}，{asks if is_contentless(asks) else clause}"
    asks = _LEAD_EN.sub("", clause)
    asks = asks if is_contentless(asks) else clause
    if _MARKS.sub("", asks).strip().lower() == "why" and _AUXILIARY.match(base):
        return f"Why {decapitalised(base)}?"
    return f"{base}, {decapitalised(asks)}"


def reversed_question(question: str, clause: str) -> str | None:
    """Return the last question with its two sides exchanged, if a clause asks for that and it has sides.

    Example:
        >>> reversed_question("How long is the flight from Oslo to Lima?", "And back?")
        'How long is the flight from Lima to Oslo?'
    """
    clause = _LAST_MARK.sub("", clause)
    if has_han(question):
        return _exchanged_zh(question) if _REVERSAL_ZH.match(simplify(clause)) else None
    return _exchanged_en(question) if _REVERSAL_EN.match(_LEAD_EN.sub("", clause)) else None


def _exchanged_zh(question: str) -> str | None:
    for pattern in _EXCHANGED_ZH:
        match = pattern.search(question)
        if match:
            return f"{question[: match.start('a')]}{match['b']}{match['mid']}{match['a']}{question[match.end() :]}"
    return None


def _exchanged_en(question: str) -> str | None:
    phrases = noun_phrases(question)
    for one, two in pairwise(phrases):
        if two.before in _EN["reversible"]:
            between = question[one.end : two.start]
            return f"{question[: one.start]}{two.text}{between}{one.text}{question[two.end :]}"
    return None


def negated_question(question: str, clause: str) -> str | None:
    """Return the last question with its condition negated, if a clause says only that ("if it isn't?", 如果不满呢).

    Example:
        >>> negated_question("满18岁可以报名吗？", "如果不满呢？")
        '不满18岁可以报名吗？'
    """
    if has_han(question):
        match = _NEGATED_ZH.match(clause.strip())
        if not match:
            return None
        what = match["what"]
        said = what or _ZH["negated"].get(match["no"], "")
        if said and said in question and match["no"] + what not in question:
            return question.replace(said, match["no"] + what, 1)
        return f"{_LAST_MARK.sub('', question)}，{clause}" if len(what) <= 1 else None
    match = _NEGATED_EN.match(clause.strip())
    if not match or not re.search(r"n['’]t\b|\bnot\b|\bno\b", clause):
        return None
    verb = _CONDITION_EN.search(question)
    return f"{question[: verb.end()]} not{question[verb.end() :]}" if verb else continued(question, clause)
