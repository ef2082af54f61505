"""Finding the words of a question that point back, and what kind of thing each may stand for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from llama_index_condense_plus.lexicons import lexicon_for
from llama_index_condense_plus.lexicons.memo import remembered
from llama_index_condense_plus.lexicons.patterns import regex
from llama_index_condense_plus.lexicons.phrases import PhraseSet
from llama_index_condense_plus.lexicons.text import fold, has_han, tokenize
from llama_index_condense_plus.rewriting.follow_up_words import either
from llama_index_condense_plus.rewriting.han_names import entity_words


@dataclass(frozen=True, slots=True)
class Reference:
    """A reference in a text."""

    text: str
    """The words."""
    start: int
    """Offset in the text."""
    kind: str
    """``person``, ``place``, ``thing``, ``plural`` or ``ordinal``."""
    position: int = 0
    """For an ordinal: 1 for the first, -1 for the last; else 0."""
    possessive: bool = False
    """True for its, his, their …"""

    @property
    def end(self) -> int:
        """Offset after the last character."""
        return self.start + len(self.text)

    def item_of(self, items: Sequence[str]) -> str | None:
        """Return the item that an ordinal points at; None if the list is shorter."""
        index = self.position - 1 if self.position > 0 else len(items) - 1
        return items[index] if 0 <= index < len(items) else None


_ZH = entity_words()["zh"]
_EN = entity_words()["en"]
_NUMERALS = {n: i for i, n in enumerate("一二三四五六七八九十", 1)} | {str(i): i for i in range(1, 10)}
_NUMERALS |= {"一": 1, "首": 1}
_ENGLISH_ORDINALS = {
    "first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "last": -1, "former": 1, "latter": -1,
}  # fmt: skip
_MEASURE = "[部首个座家本位款张种条只件支台篇名套道处片所项类份门档辆栋趟幅]"
_CLASS = either(_ZH["classes"])
_HAN = regex(
    rf"(?P<ordinal>(?<!的)(?:第(?P<n>[一二三四五六七八九十1-9])(?:{_MEASURE}|点|步)(?:{_CLASS})?|最后一{_MEASURE})|前者|后者)"
    rf"|(?P<plural>[它他她]们|[这那](?:些|几{_MEASURE}|两{_MEASURE}|俩)(?:{_CLASS})?)"
    rf"|(?P<noun>(?:[这那]{_MEASURE}?|[该此本])(?P<class>{_CLASS}))"
    rf"|(?P<place>[这那](?:里(?!面)|[儿边])|当地|该处|此地)"
    rf"|(?P<measure>[这那]{_MEASURE})"
    r"|(?P<person>[他她])|(?P<thing>它|[这那]里面|其|此(?=[的是])|这(?=[是的款])|那(?=是))"
)
_LATIN = regex(
    r"\b(?:(?P<ordinal>the (?P<n>first|second|third|fourth|fifth|last)(?: (?:one|option|choice|way|method))?"
    r"|the (?P<m>former|latter))"
    r"|(?P<plural>they|them|their|theirs|these|those|both of them)"
    r"|(?P<person>he|him|his|she|her|hers)"
    r"|(?P<place>(?<!is )(?<!are )(?<!was )(?<!were )(?<!be )(?<!been )"
    r"there(?! (?:is|are|was|were|any|a|be|have|has)\b))"
    r"|(?P<thing>(?:this|that)(?: one)?(?= \w)|it|its|this|that|the same))\b",
    re.IGNORECASE,
)
_POSSESSIVE = frozenset({"its", "his", "their", "theirs", "hers"})
_PERSON_NOUNS = frozenset(_ZH["person_classes"])
_PLACE_NOUNS = frozenset(_ZH["place_classes"])


@remembered
def find_references(text: str) -> tuple[Reference, ...]:
    """Return the references of a text in order; none overlaps another."""
    return tuple(_chinese(text) if has_han(text) else _english(text))


@remembered
def _no_pronouns(language: str) -> PhraseSet:
    return PhraseSet(lexicon_for(language).not_pronouns)


def _blocked(text: str, language: str) -> list[tuple[int, int]]:
    """Return the spans of longer words that only look like a reference (其他, it department)."""
    folded, phrases = fold(text), _no_pronouns(language)
    if len(folded) != len(text):
        folded = text.lower()
    ends = ((at, phrases.longest(folded, at)) for at in range(len(folded)))
    return [(start, end) for start, end in ends if end]


def _chinese(text: str) -> Iterator[Reference]:
    blocked = _blocked(text, "zh")
    for match in _HAN.finditer(text):
        start, words = match.start(), match.group()
        if any(s <= start < e and e - s > len(words) for s, e in blocked):
            continue
        if match["ordinal"]:
            if _noun_follows(text, match.end()):
                continue  # 第一部作品 says which, and of what
            number = 1 if words.startswith("前") else -1 if not match["n"] else _NUMERALS[match["n"]]
            yield Reference(words, start, "ordinal", number)
        elif match["plural"]:
            yield Reference(words, start, "plural")
        elif match["noun"]:
            noun = match["class"]
            kind = "person" if noun in _PERSON_NOUNS else "place" if noun in _PLACE_NOUNS else "thing"
            yield Reference(words, start, kind)
        elif match["measure"]:
            kind = "person" if words[-1] in "位名" else "place" if words[-1] in "家座所处" else "thing"
            yield Reference(words, start, kind)
        else:
            yield Reference(words, start, match.lastgroup or "thing")


def _noun_follows(text: str, at: int) -> bool:
    return any(token.start == at and token.pos.startswith("n") for token in tokenize(text))


def _english(text: str) -> Iterator[Reference]:
    blocked = _blocked(text, "en")
    for match in _LATIN.finditer(text):
        start, words = match.start(), match.group()
        if any(s <= start < e for s, e in blocked):
            continue
        lower = words.lower()
        if match["ordinal"]:
            yield Reference(words, start, "ordinal", _ENGLISH_ORDINALS[(match["n"] or match["m"]).lower()])
            continue
        kind = next(k for k in ("plural", "person", "place", "thing") if match[k])
        followed = text[match.end() : match.end() + 1] == " " and text[match.end() + 1 : match.end() + 2].isalpha()
        yield Reference(words, start, kind, possessive=lower in _POSSESSIVE or (lower == "her" and followed))
