"""What is compared of texts: words in any of their forms, numbers, and what a conversation has said."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from llama_index_condense_plus.languages import Token, pack_of
from llama_index_condense_plus.languages.text import clip, fold, rarity_classes, remembered, singular

ORDERS = frozenset({"injection", "meta"})
"""Kinds of instructions that no user has for a search."""
PASSAGE = 3
"""An order is taken to reach over so many sentences, its own included."""
ROOTS = range(4, 7)
"""Lengths of roots: a Latin word and another one that begins with its root count as forms of one."""
RARE = 6
"""Class of a word that is not among the frequent ones of its language."""
_PARTS = re.compile(r"[-_./'’+#]+")
NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")


class Words(NamedTuple):
    """What is compared of a text, or of several."""

    plain: str
    """The folded text, in which words of scripts without spaces are looked up."""
    known: frozenset[str]
    """Every word: folded, its roots, and its parts if it has hyphens."""
    numbers: frozenset[str]
    """Numbers in digits."""
    content: tuple[Token, ...] = ()
    """Content words; those of a single text."""
    orders: tuple[Words, ...] = ()
    """Passages of a conversation that order the model to do something; they ground nothing."""

    def has(self, token: Token) -> bool:
        """Return True if the word, or another form of it, is held."""
        base, *others = _forms(token.text)
        if base in self.known:
            return True
        if not base.isascii():
            return base in self.plain or (len(base) > 2 and (base[:-1] in self.plain or base[1:] in self.plain))  # noqa: PLR2004
        if base.isalpha():
            return len(base) > ROOTS[0] and base[: max(ROOTS[0], min(ROOTS[-1], len(base) - 3))] in self.known
        return bool(others) and (others[0] in self.known or all(part in self.known for part in others[1:]))

    def has_number(self, number: str) -> bool:
        """Return True if a number is held, alone, in a code, or with its century."""
        whole = (other for other in self.numbers if other.endswith(number))
        return number in self.known or any(len(other) - len(number) in {0, 2} for other in whole)


@lru_cache(maxsize=16_384)
def _forms(word: str) -> tuple[str, ...]:
    """Return a word's folded forms: its singular and its roots; or it without separators, and its parts."""
    base = singular(fold(word))
    if base.isalpha():
        return (base, *(base[:size] for size in ROOTS if size < len(base))) if base.isascii() else (base,)
    parts = tuple(filter(None, _PARTS.split(base)))
    return (base, "".join(parts), *map(singular, parts))


@remembered
def words(text: str) -> Words:
    """Return what is compared of a text."""
    plain, tokens = fold(text), pack_of(text).tokenize(text)
    known = frozenset(form for token in tokens for form in _forms(token.text))
    return Words(plain, known, frozenset(NUMBER.findall(plain)), tuple(t for t in tokens if t.is_content))


@remembered
def _message(text: str) -> Words:
    """Return what a message of the conversation grounds, and apart from it what orders the model to do something."""
    language = pack_of(text)
    starts = [span.start for span in language.instructions(text) if span.kind in ORDERS]
    if not starts:
        return words(text)
    sentences = language.sentences(clip(text))
    first = [i for i, s in enumerate(sentences) if any(s.start <= start < s.end for start in starts)]
    ordered = {i + further for i in first for further in range(PASSAGE)}
    usual = words("\n".join(s.text for i, s in enumerate(sentences) if i not in ordered))
    return usual._replace(orders=tuple(words(s.text) for i, s in enumerate(sentences) if i in ordered))


@lru_cache(maxsize=256)
def said(texts: tuple[str, ...]) -> Words:
    """Return what the messages of a conversation ground together, computed once for each state of it.

    Args:
        texts: the messages, oldest first.
    """
    read = [_message(text) for text in texts if text]
    return Words(
        "\n".join(one.plain for one in read),
        frozenset().union(*(one.known for one in read)),
        frozenset().union(*(one.numbers for one in read)),
        orders=tuple(passage for one in read for passage in one.orders),
    )


@remembered
def bare(text: str) -> str:
    """Return the folded letters and digits of a text."""
    return "".join(filter(str.isalnum, fold(text)))


def spelt(token: Token, others: Iterable[Token]) -> bool:
    """Return True if a word is among others but for one letter or the order of letters."""
    word = fold(token.text)
    if len(word) <= ROOTS[0] or not word.isascii():
        return False
    return any(_near(word, fold(other.text)) for other in others)


def _near(word: str, other: str) -> bool:
    if word[0] != other[0] or abs(len(word) - len(other)) > 1 or len(other) <= ROOTS[0]:
        return False
    if word[:3] != other[:3] and word[-2:] != other[-2:]:  # quick to see, and seldom wrong
        return False
    mine, theirs = Counter(word), Counter(other)
    return (mine - theirs).total() <= 1 and (theirs - mine).total() <= 1


@lru_cache(maxsize=16_384)
def rarity(word: str) -> int:
    """Return the frequency class of a word in its own language: 0 for the most frequent ones, at most ``RARE``."""
    ranks, folded = rarity_classes(pack_of(word).code), fold(word)
    return min(ranks.get(folded, RARE), ranks.get(singular(folded), RARE))
