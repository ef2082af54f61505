"""Follow-ups that hold only a condition or an exception of the last question ("even if I paid?", 如果还在试用期呢)."""

from __future__ import annotations

import re

from llama_index_condense_plus.languages.patterns import regex
from llama_index_condense_plus.languages.text import has_han, tokenize
from llama_index_condense_plus.rewriting.follow_up_words import either, follow_up_words
from llama_index_condense_plus.rewriting.fragments import fragment
from llama_index_condense_plus.rewriting.phrase import decapitalised

_ZH = follow_up_words("zh")
_CONDITION_ZH = regex(
    rf"^(?:那么?)?[，,]?(?P<words>(?:{either(_ZH['suppositions'])})[^，,。？?！!]{{1,30}}?)(?:的话)?"
    r"(?:呢|也一样吗|也是吗|也算吗|也行吗|也可以吗)[？?。]?\s*$"
)
_ASKING_ZH = regex(either(w for w in _ZH["asking"] if w not in ("呢", "有没有")))
_CONDITION_EN = regex(
    r"^(?:and |but |so |ok,? |also |what |what about |how about )*"
    r"(?P<words>(?:(?:even|only|especially|just) (?:if|when|though|with|without|after|before|during|for|in|on|at)"
    r"|if|unless|without|although) [^,?!]{2,80}?)\s*[?.!]*\s*$",
    re.IGNORECASE,
)
_MAIN_CLAUSE = regex(
    r"\b(?:can|could|do|does|did|is|are|was|were|will|would|should|may|must|has|have)"
    r" (?:i|we|you|it|they|he|she|this|that|there|the|my|your)\b|\b(?:what|how|when|where|who|whom|which|why)\b",
    re.IGNORECASE,
)
_ANY = regex(r"^(?:and |but |so |also |ok,? )*(?P<words>any (?!idea|more\b)[\w'’ -]{2,40}?)\s*\?*\s*$", re.IGNORECASE)
_MAX_WORDS = 9
"""A longer condition is a question of its own."""
_ADVERBIAL = regex(
    r"^(?:and |but |so |also |ok,? )*"
    r"(?P<words>(?:for|in|on|at|with|by|from|during|after|before|within|per) [^,?!]{2,60}?)\s*[?.!]*\s*$",
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
    if not match or len(match["words"].split()) > _MAX_WORDS or _MAIN_CLAUSE.search(match["words"].partition(" ")[2]):
        return None
    return f"{_END.sub('', question)}, {decapitalised(match['words'])}?"


def _names_a_thing(message: str) -> bool:
    """Return True for 如果是老人呢, which puts a thing in the place of another."""
    new = fragment(message)
    return new is not None and not tokenize(new.new)[0].pos.startswith("v")
