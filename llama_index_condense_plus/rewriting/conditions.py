"""Follow-ups that hold only a condition or an exception of the last question ("even if I paid?", 如果还在试用期呢)."""

from __future__ import annotations

import re

from llama_index_condense_plus.lexicons.patterns import regex
from llama_index_condense_plus.lexicons.text import has_han, tokenize
from llama_index_condense_plus.rewriting.follow_up_words import either, follow_up_words
from llama_index_condense_plus.rewriting.fragments import fragment
from llama_index_condense_plus.rewriting.phrase import decapitalised

_ZH, _EN = follow_up_words("zh"), follow_up_words("en")
_DEFINITE = [word for word in _EN["articles"] if word not in ("a", "an")] + ["there"]
_LEAD = rf"^(?:(?:{either(_EN['openers'])}),? )*"
_CONDITION_ZH = regex(
    rf"^(?:那么?)?[，,]?(?P<words>(?:{either(_ZH['suppositions'])})[^，,。？?！!]{{1,30}}?)(?:的话)?"
    r"(?:呢|也一样吗|也是吗|也算吗|也行吗|也可以吗)[？?。]?\s*$"
)
_ASKING_ZH = regex(either(w for w in _ZH["asking"] if w not in ("呢", "有没有")))
_CONDITION_EN = regex(
    rf"{_LEAD}(?:what |what about |how about )?(?P<words>(?:(?:{either(_EN['limited'])}) (?:{either(_EN['limits'])})"
    rf"|{either(_EN['suppositions'])}) (?P<rest>[^,?!]{{2,80}}?))\s*[?.!]*\s*$",
    re.IGNORECASE,
)
_MAIN_CLAUSE = regex(
    rf"\b(?:{either([*_EN['auxiliaries'], *_EN['copulas']])})"
    rf" (?:{either([*_EN['subjects'], *_DEFINITE])})\b|\b(?:{either(_EN['asking'])}|whom)\b",
    re.IGNORECASE,
)
_ANY = regex(rf"{_LEAD}(?P<words>any (?P<rest>(?!idea|more\b)[\w'’ -]{{2,40}}?))\s*\?*\s*$", re.IGNORECASE)
_MAX_WORDS = 9
"""A longer condition is a question of its own."""
_ADVERBIAL = regex(
    rf"{_LEAD}(?P<words>(?:{either(_EN['adverbials'])}) (?P<rest>[^,?!]{{2,60}}?))\s*[?.!]*\s*$",
    re.IGNORECASE,
)
_END = regex(r"[\s。.？?！!，,；;]+$")


def conditioned(question: str, message: str) -> str | None:
    """Return the last question under the condition that a message names, or asking on for any of something; else None.

    Example:
        >>> conditioned("Can I get a refund?", "even if I opened it?"), conditioned("可以调岗吗？", "如果在试用期呢？")
        ('Can I get a refund, even if I opened it?', '如果在试用期，可以调岗吗？')
    """
    message = message.strip()
    if has_han(question):
        match = _CONDITION_ZH.match(message)
        if not match or _ASKING_ZH.search(match["words"]) or _names_a_thing(message):
            return None
        return f"{match['words']}，{question}"
    match = _CONDITION_EN.match(message) or _ANY.match(message) or _ADVERBIAL.match(message)
    if not match or len(match["words"].split()) > _MAX_WORDS or _MAIN_CLAUSE.search(match["rest"]):
        return None
    return f"{_END.sub('', question)}, {decapitalised(match['words'])}?"


def _names_a_thing(message: str) -> bool:
    """Return True for 如果是老人呢, which puts a thing in the place of another."""
    new = fragment(message)
    return new is not None and not tokenize(new.new)[0].pos.startswith("v") and "了" not in new.new
