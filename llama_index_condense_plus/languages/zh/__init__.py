"""Chinese: words without spaces between them, segmented and tagged by jieba."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

from llama_index_condense_plus.languages.base import Token
from llama_index_condense_plus.languages.text import rarity_classes, simplify
from llama_index_condense_plus.languages.words import WordPack

WORDS = Path(__file__).with_name("words.toml")
_OF_TAG = {
    "nr": "person",
    "ns": "place",
    "nt": "organisation",
    "nz": "name",
    "n": "noun",
    "t": "time",
    "v": "verb",
    "a": "adjective",
    "d": "adverb",
    "m": "number",
    "r": "pronoun",
} | dict.fromkeys("ucpyeohk", "function")
"""Beginnings of jieba's tags (https://github.com/fxsjy/jieba) → kinds of tokens."""


@cache
def _tagger() -> Callable[[str], list[tuple[str, str]]]:
    """Return jieba's tagger; its library and dictionary are loaded when Chinese is first met."""
    import rjieba  # noqa: PLC0415 - slow to load

    tag: Callable[[str], list[tuple[str, str]]] = rjieba.tag
    return tag


class ChinesePack(WordPack):
    """The Chinese pack."""

    def _segment(self, piece: str, start: int) -> Iterator[Token]:
        at, known, titles = 0, rarity_classes(self.code), self.words("title")
        for word, tag in _tagger()(simplify(piece)):
            kind = self._kinds.get(word) or _OF_TAG.get(tag[:2]) or _OF_TAG.get(tag[:1], "word")
            name = len(word)
            if kind in ("person", "verb") and word[1:2] in titles and word not in known:
                name, kind = 2, "person"  # a surname and its title; jieba adds what follows
            yield Token(piece[at : at + name], start + at, kind)
            if name < len(word):
                yield Token(piece[at + name : at + len(word)], start + at + name, "function")
            at += len(word)

    def _edges(self, text: str) -> frozenset[int]:
        return frozenset(edge for token in self.tokenize(text) for edge in (token.start, token.end))
