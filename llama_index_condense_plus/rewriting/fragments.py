"""Reading follow-ups that only name something ("上海呢？", "and the Pro?")."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

from llama_index_condense_plus.lexicons.memo import remembered
from llama_index_condense_plus.lexicons.patterns import regex
from llama_index_condense_plus.lexicons.text import has_han, simplify, tokenize
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
QUANTITY = regex(
    r"(?P<lead>[\u3400-\u9fff]{0,4}?)(?P<number>(?:\d+(?:\.\d+)?|[零一二两三四五六七八九十百千万半几]+)个?)"
    rf"(?P<unit>(?P<time>{either(follow_up_words('zh')['spans'])})|{either(follow_up_words('zh')['counters'])})"
    r"(?:以[上下内]|之[内后前]|左右|[内后前])?"
)
"""A number with its unit, after the words that say of what (逾期 + 十天)."""
VERSION = regex(r"[\u3400-\u9fffA-Za-z0-9]{1,6}[版款型挡档席舱]")
"""Words for one of several versions of a thing: 四驱版, 白色款."""
_MODEL = regex(r"[\u3400-\u9fff]{1,4}[A-Za-z]?\d{1,4}[系代级]?")
"""A thing by its number: 宝马5系."""
_MAX_NAME = 4
"""Characters of a Chinese person's name, which the tagger may cut (屠|呦|呦)."""
_SUPPOSED = regex(either(follow_up_words("zh")["suppositions"]))
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
    asked: bool = False
    """True if "what about" or the like leads to it."""

    @property
    def named(self) -> bool | None:
        """True for a name, False for common words, None where a capital may be both."""
        words = self.new.split()
        capital = all(word[0].isupper() or word[0].isdigit() for word in words)
        return None if capital and self.opens and len(words) == 1 and not words[0].isupper() else capital

    @property
    def proper(self) -> bool | None:
        """True if any word says that it is a name ("Orsay museum"), None where a capital may be the sentence's."""
        inside = self.new.split()[self.opens :]
        return True if any(word[0].isupper() for word in inside) else self.named


@remembered
def fragment(message: str) -> Fragment | None:
    """Return what a message puts in the place of something; None if it says more, or asks more."""
    if len(message) > _MAX_CHARS or find_references(message):
        return None
    if has_han(message):
        match = _FORM_ZH.match(message)
        words = match["new"].strip() if match else ""
        if not match or not words or _ASKING.search(simplify(words)) or words.startswith("不"):
            return None
        bare = words.strip(BRACKETS)
        counted = QUANTITY.fullmatch(bare) and not _SUPPOSED.match(bare)
        model = VERSION.fullmatch(bare) or _MODEL.fullmatch(bare)
        tokens = tokenize(words)
        person = tokens[0].pos == "nr" and len(words) <= _MAX_NAME
        whole = _covers(bare) or len(tokens) == 1 or counted or model or person
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
    opens = not message[: match.start("new")].strip()
    return Fragment(match["new"], preposition, article, bool(match["one"]), opens, bool(match["ask"]))


def _covers(words: str) -> bool:
    """Return True if the words are one noun phrase, or in Chinese one of another (A的B)."""
    head, _, rest = words.partition(" ")
    phrases = noun_phrases(rest if rest and head.lower() in ADJECTIVES else words)  # late payment
    words = rest if rest and head.lower() in ADJECTIVES else words
    if not phrases or phrases[0].start or phrases[-1].end != len(words):
        return False
    return all(words[one.end : two.start] == "的" for one, two in pairwise(phrases))
