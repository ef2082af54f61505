"""Folding and tokenising text of mixed Chinese and English: shared by gate, guards, entities and plan."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from llama_index_condense_plus.lexicons.en import FUNCTION_WORDS as ENGLISH
from llama_index_condense_plus.lexicons.memo import remembered
from llama_index_condense_plus.lexicons.patterns import regex
from llama_index_condense_plus.lexicons.stems import singular
from llama_index_condense_plus.lexicons.zh import FUNCTION_WORDS as CHINESE

MAX_CHARS = 20_000
"""Longer texts are analysed in their first and last halves of this size: no reference needs more."""

FUNCTION_TAGS = frozenset("rucpyeohk")
"""First letters of jieba's tags of pronouns, particles, conjunctions, prepositions, interjections and affixes."""

_HAN_CLASS = r"\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_LATIN = r"A-Za-z0-9_\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f"
_SPACED = r"\u0370-\u052f\u0590-\u06ff\uac00-\ud7a3"
_PIECES = regex(rf"([{_HAN_CLASS}]+)|[{_LATIN}]+(?:[-'’.+/#][{_LATIN}]+)*|[{_SPACED}]+|[^\W_]|\S")
_HAN = regex(f"[{_HAN_CLASS}]")
_BEYOND_LATIN = "\u0250"
_WIDE = tuple(zip("，？！：；（）～", ",?!:;()~", strict=True))
"""The commonest compatibility forms: without them most Chinese text is normalised already, which is quick to see."""


class Token(NamedTuple):
    """A word with its place and part of speech; a tuple, for thousands are made in each turn."""

    text: str
    """The word as written."""
    start: int
    """Offset in the text, in characters."""
    pos: str
    """jieba's tag for Chinese words (https://github.com/fxsjy/jieba, ictclas tags), ``eng``, ``m`` or ``x``."""


@cache
def _simplified_table() -> dict[int, str]:
    """Return traditional → simplified characters (OpenCC's TSCharacters, Apache-2.0)."""
    data = files("llama_index_condense_plus.languages") / "data" / "simplified.txt"
    traditional, simplified = data.read_text(encoding="utf-8").splitlines()
    return dict(zip(map(ord, traditional), simplified, strict=True))


@cache
def _traditional() -> re.Pattern[str]:
    """Return what finds a character that may have a simplified form, rarer ones by their plane."""
    frequent = "".join(chr(code) for code in _simplified_table() if code < 0x10000)  # noqa: PLR2004
    return re.compile(f"[{frequent}\U00020000-\U0003ffff]")


def has_han(text: str) -> bool:
    """Return True if the text holds a Chinese character."""
    return not text.isascii() and _HAN.search(text) is not None


def simplify(text: str) -> str:
    """Return the text with traditional characters replaced by simplified ones, position by position."""
    if text.isascii() or not _traditional().search(text) or not has_han(text):
        return text
    return text.translate(_simplified_table())


def fold(text: str) -> str:
    """Return a form for comparison: width and compatibility forms, letter case and Chinese script made equal."""
    if text.isascii():
        return text.lower()
    for wide, narrow in _WIDE:
        text = text.replace(wide, narrow)
    if not unicodedata.is_normalized("NFKC", text):
        text = unicodedata.normalize("NFKC", text)
    return simplify(text).casefold()


folded = remembered(fold)
"""``fold``, remembered: the same texts are compared turn after turn."""


def clip(text: str, limit: int = MAX_CHARS) -> str:
    """Return at most ``limit`` characters: both ends of a longer text."""
    return text if len(text) <= limit else text[: limit // 2] + "\n" + text[-(limit // 2) :]


def tokenize(text: str) -> tuple[Token, ...]:
    """Return the words of a text; one beyond ``MAX_CHARS`` is clipped first.

    Chinese stretches are segmented and tagged by jieba on their simplified form; Latin words keep inner
    hyphens, dots and slashes, so that ``GTE-3000`` and ``api.v2`` stay whole.
    """
    return _tokenize(clip(text))


@cache
def _tagger() -> Callable[[str], list[tuple[str, str]]]:
    """Return jieba's tagger; its library and dictionary are loaded when Chinese is first met."""
    import rjieba  # noqa: PLC0415 - slow to load

    tag: Callable[[str], list[tuple[str, str]]] = rjieba.tag
    return tag


@remembered
def _tokenize(text: str) -> tuple[Token, ...]:
    pieces = [(match.group(), match.start(), match.lastindex) for match in _PIECES.finditer(text)]
    stretches = [piece for piece, _, is_han in pieces if is_han]
    if not stretches:
        return tuple([Token(piece, start, _kind(piece)) for piece, start, _ in pieces])
    tagged = iter(
        _tagger()(simplify("\n".join(stretches)))
    )  # one call: a line break parts as surely as a call for each
    found = []
    for piece, start, is_han in pieces:
        if not is_han:
            found.append(Token(piece, start, _kind(piece)))
            continue
        at = start
        for word, pos in tagged:
            if word == "\n":
                break
            end = at + len(word)
            found.append(Token(text[at:end], at, pos))
            at = end
    return tuple(found)


def _kind(piece: str) -> str:
    """Return the tag of a piece that is not Chinese."""
    first = piece[0]
    if first >= _BEYOND_LATIN or not first.isalnum():
        return "x"
    return "m" if first.isdigit() and not any(map(str.isalpha, piece)) else "eng"


def content_tokens(text: str) -> tuple[str, ...]:
    """Return the folded content words of a text in order, repetitions kept.

    Function words, question words, pronouns and punctuation are left out; English plurals are made singular.
    """
    return _content_tokens(clip(text))


@remembered
def _content_tokens(text: str) -> tuple[str, ...]:
    found = []
    for word, _, pos in _tokenize(text):
        if pos == "eng":
            folded = fold(word).replace("’", "'")
            if folded not in ENGLISH:
                found.append(singular(folded))
        elif pos == "m" or (pos[0] not in FUNCTION_TAGS and pos != "x"):
            folded = fold(word)
            if folded not in CHINESE:
                found.append(folded)
        elif pos == "x" and word.isalnum():
            found.append(fold(word))
    return tuple(found)
