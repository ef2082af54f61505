"""Reading follow-ups that only name something ("上海呢？", "and the Pro?")."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from llama_index_condense_plus.languages.patterns import regex
from llama_index_condense_plus.languages.text import has_han, simplify, tokenize
from llama_index_condense_plus.rewriting.follow_up_words import either, follow_up_words
from llama_index_condense_plus.rewriting.noun_phrases import noun_phrases
from llama_index_condense_plus.rewriting.references import find_references

_ASKING = regex(either(follow_up_words("zh")["asking"]) + r"|(.)[不没]\1|还是|[吧啊]|了$")
_FORM_ZH = regex(
    r"^\s*(?:(?:那么?|那要是|如果是|要是|换成|换作|对于|至于|而)[，,]?)?(?P<new>[^，,。？?！!呢]{1,16}?)(?P<of>的)?"
    r"(?:呢[？?。]?|[？?])\s*$"
)
_FORM_EN = regex(
    r"^\s*(?P<lead>(?:and|but|so|ok|okay|then|or),? )*(?P<ask>(?:what|how) about |same (?:question )?(?:for|with) )?"
    r"(?:(?P<prep>in|for|at|on|with|to|from|by|of) )?(?P<article>(?:the|an?|my|your|this|that) )?"
    r"(?P<new>[^,.?!]{1,40}?)(?P<one> ones?)?\s*[?.]*\s*$",
    re.IGNORECASE,
)
_MAX_NEW_WORDS = 5
_MAX_CHARS = 80
"""A longer message says more than a name."""
BRACKETS = '《》“”"「」 '
"""Marks around a title, which a name in its place keeps."""
ADJECTIVES = frozenset(follow_up_words("en")["adjectives"])
"""English adjectives that say which of several things is meant."""


@dataclass(frozen=True, slots=True)
class Fragment:
    """What a follow-up names, without the words that lead to it."""

    new: str
    """The words."""
    preposition: str = ""
    """The English preposition before it, lower case."""
    article: str = ""
    """The English article before it, lower case."""
    modifier: bool = False
    """True if it only says which one: "a yearly one", 临时的."""
    opens: bool = False
    """True if it is the first word, so that a capital says nothing."""

    @property
    def named(self) -> bool | None:
        """True for a name, False for common words, None where a capital may be both."""
        words = self.new.split()
        capital = all(word[0].isupper() or word[0].isdigit() for word in words)
        return None if capital and self.opens and len(words) == 1 and not words[0].isupper() else capital


@lru_cache(maxsize=2048)
def fragment(message: str) -> Fragment | None:
    """Return what a message puts in the place of something; None if it says more, or asks more."""
    if len(message) > _MAX_CHARS or find_references(message):
        return None
    if has_han(message):
        match = _FORM_ZH.match(message)
        words = match["new"].strip() if match else ""
        if not match or not words or _ASKING.search(simplify(words)) or words.startswith("不"):
            return None
        whole = _covers(words.strip(BRACKETS)) or len(tokenize(words)) == 1
        return Fragment(words, modifier=bool(match["of"])) if whole else None
    match = _FORM_EN.match(message)
    if (
        not match
        or not (_covers(match["new"]) or (match["one"] and match["new"].lower() in ADJECTIVES))
        or len(match["new"].split()) > _MAX_NEW_WORDS
    ):
        return None
    if not (match["lead"] or match["ask"]) and not message.rstrip().endswith("?"):
        return None
    article, preposition = (match["article"] or "").strip().lower(), (match["prep"] or "").lower()
    return Fragment(match["new"], preposition, article, bool(match["one"]), not message[: match.start("new")].strip())


def _covers(words: str) -> bool:
    """Return True if the words are one noun phrase, or in Chinese one of another (A的B)."""
    phrases = noun_phrases(words)
    if not phrases or phrases[0].start or phrases[-1].end != len(words):
        return False
    return all(words[one.end : two.start] == "的" for one, two in pairwise(phrases))
