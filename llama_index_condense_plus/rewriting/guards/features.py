"""What the guards measure: the content of a text on its folded form, and what a conversation grounds."""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import chain, pairwise
from typing import NamedTuple

from llama_index_condense_plus.lexicons.memo import remembered
from llama_index_condense_plus.lexicons.patterns import regex
from llama_index_condense_plus.lexicons.stems import common_words, known_words, stem
from llama_index_condense_plus.lexicons.synonyms import SYNONYMS_EN, SYNONYMS_ZH
from llama_index_condense_plus.lexicons.text import clip, fold, has_han, tokenize
from llama_index_condense_plus.lexicons.weak_words import WEAK_EN, WEAK_ZH
from llama_index_condense_plus.types import HistoryWindow

MAX_CHECKED_CHARS = 8_000
"""Longer rewrites are measured on their first and last halves of this size; the length guard rejects them anyway."""

_EMPTY_TAGS = frozenset({"x", "u", "ul", "uj", "uz", "ug", "ud", "uv", "y", "e", "o", "p", "c", "r", "zg"})
NAME_TAGS = frozenset({"nr", "nrt", "nrfg", "ns", "nt", "nz"})
"""jieba's tags of people, places, organisations and other names."""
_DEMONSTRATIVE = regex(
    r"^(?:[这那该此](?:一)?[个些部首家位款种本条座台张件项次所间]?|第.{1,3}|前者|后者|this|that|these|those|such|same|first|second|third|last|latter|former)$"
)
_POSSESSION = frozenset(
    ["的", "它", "他", "她", "它们", "他们", "她们", "it", "its", "it's", "they", "their", "he", "his", "she", "her"]
)
_OPENERS = frozenset(("那", "那么"))
_SPLIT = regex(r"[-_/.'’+#]+")


class Word(NamedTuple):
    """A content word of a text."""

    text: str
    """Folded; English reduced to its stem."""
    raw: str
    """As written."""
    start: int
    """Offset in the text."""
    pos: str
    """jieba's tag, ``eng``, ``m`` or ``x``."""
    han: bool
    """True for Chinese."""
    parts: tuple[str, ...] = ()
    """Stems of a hyphenated word's parts."""
    referred: bool = False
    """True right behind a demonstrative: "that restaurant", 这部电影 may become a name."""


@dataclass(frozen=True, slots=True)
class Features:
    """A text's folded form and content words."""

    folded: str
    """The folded text, for look-ups of Chinese words."""
    words: tuple[Word, ...]
    """Content words in order."""
    stems: frozenset[str]
    """Stems of all Latin words, weak ones too."""
    roots: frozenset[str]
    """Beginnings of these stems."""
    initials: str
    """First letters of the Latin words in order, a point for each word in lower case."""
    acronyms: frozenset[str]
    """Words in capitals, folded: what capitalised words may spell out."""


@remembered
def folded(text: str) -> str:
    """Return the folded form of a text, computed once per text."""
    return fold(clip(text, MAX_CHECKED_CHARS))


def features(text: str) -> Features:
    """Return the features of a text, computed once per text."""
    return _features(clip(text, MAX_CHECKED_CHARS))


@remembered
def _features(text: str) -> Features:
    whole = folded(text)
    aligned = len(whole) == len(text)
    words: list[Word] = []
    stems: set[str] = set()
    initials: list[str] = []
    acronyms: set[str] = set()
    referred = False
    for token in tokenize(text):
        if token.pos == "x" and not token.text.isalnum():
            referred = False
            continue
        start = token.start
        lowered = whole[start : start + len(token.text)] if aligned else fold(token.text)
        if lowered in _POSSESSION or (lowered in _OPENERS and not whole[:start].strip()):
            referred = False  # its noun is said outright: 那它的保修期, 那保修期
        elif _DEMONSTRATIVE.match(lowered):
            referred = True
        if lowered[0] > "\u33ff" and has_han(lowered):
            lowered, cut = _without_edges(lowered)
            if not lowered or lowered in WEAK_ZH or token.pos in _EMPTY_TAGS:
                continue
            raw = token.text[cut : cut + len(lowered)]
            words.append(Word(lowered, raw, token.start + cut, token.pos, True, referred=referred))
            referred = False
            continue
        parts = tuple(stem(part) for part in _SPLIT.split(lowered) if part)
        base = stem(lowered)
        stems.update(parts, (base,))
        initials.append(lowered[0] if token.text[0].isupper() else ".")
        if token.text.isupper() and len(token.text) > 1:
            acronyms.add(lowered.replace(".", ""))
        if lowered.replace("’", "'") in WEAK_EN:
            continue
        words.append(Word(base, token.text, token.start, token.pos, False, parts if len(parts) > 1 else (), referred))
        referred = False
    roots = frozenset(word[:_ROOT] for word in stems if len(word) >= _ROOT and word.isalpha())
    return Features(whole, tuple(words), frozenset(stems), roots, "".join(initials), frozenset(acronyms))


def _without_edges(word: str) -> tuple[str, int]:
    """Return a Chinese word without the pronoun or particle that the segmenter left on it, and how much went in front.

    Words that everybody uses are whole.
    """
    if len(word) < 2 or word in common_words("zh"):  # noqa: PLR2004
        return word, 0
    cut = 1 if word[0] in _FRONT else 0
    end = len(word) - 1 if word[-1] in _BACK and len(word) - cut > 1 else len(word)
    return word[cut:end], cut


_FRONT = frozenset("它他她这那我你您该其最更很太")
_BACK = frozenset("的了是在有要吗呢吧啊过着得都也就和与")


@dataclass(frozen=True, slots=True)
class Grounding:
    """What was said: everything that a rewrite may draw on."""

    texts: tuple[Features, ...]
    """Features of every message."""
    folded: str
    """All of it, folded, for look-ups of Chinese words."""
    stems: frozenset[str]
    """Stems of all Latin words."""
    roots: frozenset[str]
    """Beginnings of these stems."""
    pairs: frozenset[str]
    """Pairs of neighbouring Chinese characters."""
    acronyms: frozenset[str]
    """Words in capitals, folded."""

    def has(self, word: Word) -> bool:
        """Return True if a word was said, in this or a related form."""
        if word.han:
            return word.text in self.folded
        return latin_in(word, self.stems)


def latin_in(word: Word, stems: frozenset[str]) -> bool:
    """Return True if a Latin word, or all its parts, are among stems."""
    return word.text in stems or (
        bool(word.parts) and all(part in stems or (part.isdigit() is False and part in WEAK_EN) for part in word.parts)
    )


def grounding(window: HistoryWindow, extra: Iterable[str] = ()) -> Grounding:
    """Return what a conversation grounds, computed once per conversation state.

    Args:
        window: the whole history, its summary and entities.
        extra: more that counts as said, such as alias targets.
    """
    said = tuple(message.full_text for message in window.all_messages)
    named = tuple(entity.text for entity in window.entities)
    return _grounding((*said, *named, window.summary, *extra))


@lru_cache(maxsize=256)
def _grounding(texts: tuple[str, ...]) -> Grounding:
    parts = [_block(texts[start : start + _BLOCK]) for start in range(0, len(texts), _BLOCK)]
    return Grounding(
        tuple(chain.from_iterable(part.texts for part in parts)),
        "\n".join(part.folded for part in parts),
        frozenset().union(*(part.stems for part in parts)),
        frozenset().union(*(part.roots for part in parts)),
        frozenset().union(*(part.pairs for part in parts)),
        frozenset().union(*(part.acronyms for part in parts)),
    )


_BLOCK = 32
"""Texts that are joined at a time: in a conversation that goes on, only the last block is new."""


@lru_cache(maxsize=1024)
def _block(texts: tuple[str, ...]) -> Grounding:
    found = tuple(features(text) for text in texts if text)
    everything = "\n".join(fold(text) for text in texts)
    return Grounding(
        found,
        everything,
        frozenset().union(*(f.stems for f in found)),
        frozenset().union(*(f.roots for f in found)),
        han_pairs(everything),
        frozenset().union(*(f.acronyms for f in found)),
    )


def han_pairs(folded: str) -> frozenset[str]:
    """Return the pairs of neighbouring Chinese characters of a folded text, dots inside names left out."""
    if folded.isascii():
        return frozenset()
    joined = folded.replace("·", "").replace("・", "").replace("•", "")
    return frozenset(a + b for a, b in pairwise(joined) if a > "\u33ff" and b > "\u33ff")


def retained(word: Word, rewrite: Features) -> bool:
    """Return True if a word of the question survives in a rewrite."""
    if word.han:
        if word.text in rewrite.folded or any(other in rewrite.folded for other in synonyms().get(word.text, ())):
            return True
        # 演员表 → 演员: a longer word that lost one end
        if len(word.text) == 2 and all(char in rewrite.folded for char in word.text):  # noqa: PLR2004
            return True  # 泡水 → 泡在水里
        return len(word.text) > 2 and (word.text[:-1] in rewrite.folded or word.text[1:] in rewrite.folded)  # noqa: PLR2004
    if latin_in(word, rewrite.stems) or shares_root(word, rewrite.roots):
        return True
    return not rewrite.stems.isdisjoint(synonyms().get(word.text, ()))


@cache
def synonyms() -> dict[str, tuple[str, ...]]:
    """Return Chinese word or English stem → words that ask for the same."""
    found: dict[str, tuple[str, ...]] = {}
    for group in (*(g.split() for g in SYNONYMS_ZH), *([stem(w) for w in g.split()] for g in SYNONYMS_EN)):
        for word in group:
            found[word] = (*found.get(word, ()), *(other for other in group if other != word))
    return found


def shares_root(word: Word, roots: Container[str]) -> bool:
    """Return True if another form of the word has one of the roots: treatable, treatment."""
    text = word.text
    return len(text) > _ROOT and text.isalpha() and text[:_ROOT] in roots


def mistyped(word: Word, stems: Iterable[str]) -> bool:
    """Return True if the word is among stems but for the order of letters, or a single letter."""
    text = word.text
    return len(text) > _ROOT and text.isalpha() and any(_near(text, other) for other in stems)


def _near(text: str, other: str) -> bool:
    if other[:1] != text[0] or abs(len(other) - len(text)) > 1 or len(other) <= _ROOT:
        return False
    rest = list(text)
    missed = 0
    for char in other:
        if char in rest:
            rest.remove(char)
        else:
            missed += 1
    return missed + len(rest) <= 1 or (missed == 1 and len(rest) == 1 and len(text) > _LONG)


_ROOT = 4
"""Latin words that share this many first letters count as forms of one word."""
_LONG = 6


def is_common(word: Word) -> bool:
    """Return True if everybody uses the word, so that it names nothing."""
    if word.han:
        return word.text in common_words("zh")
    common = common_words("en")
    return word.text in common or (bool(word.parts) and all(part in common for part in word.parts))


def is_rare(word: Word) -> bool:
    """Return True if a Latin word is not among the 16,000 most frequent ones, nor made of them."""
    known = known_words()
    return word.text not in known and not (
        word.parts and all(part in known or not part.isalpha() for part in word.parts)
    )
