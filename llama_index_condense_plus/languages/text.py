"""Text in any script: folding for comparison, cutting into pieces, and remembering what was made of a text."""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Callable
from functools import cache, lru_cache, wraps
from pathlib import Path
from typing import TypeVar

from cachetools import LRUCache

MAX_CHARS = 20_000
"""Longer texts are read in their first and last halves of this size: no reference needs more."""
MANY = 4096
"""Short texts that a function remembers."""
LONG_CHARS = 1_000
"""Longer texts are remembered by their size, not by their number."""
KEPT_CHARS = 1_000_000
"""Characters of long texts that a function remembers, all together."""

HAN = r"\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_LATIN = r"A-Za-z0-9_\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f"
_OTHER = r"\u0370-\u052f\u0590-\u06ff\u3041-\u3096\u30a1-\u30fe\uac00-\ud7a3"
PIECES = re.compile(rf"([{HAN}]+)|[{_LATIN}]+(?:[-'’.+/#][{_LATIN}]+)*|[{_OTHER}]+|[^\W_]|\S")
"""A stretch of Chinese characters (group 1), a word, or a mark. ``GTE-3000`` and ``api.v2`` stay whole."""
_HAN = re.compile(f"[{HAN}]")
UNSPACED = rf"{HAN}\u3041-\u3096\u30a1-\u30fa"
"""Characters of scripts that write words without spaces between them."""
_UNSPACED = re.compile(f"[{UNSPACED}]")
_ENDINGS = ("'s", "’s", "'", "’")
_SHORTEST = 4
"""Letters of the shortest English word that has a plural ending."""
DATA = Path(__file__).with_name("data")
V = TypeVar("V")


def remembered(function: Callable[[str], V]) -> Callable[[str], V]:
    """Remember what a function makes of texts: a conversation's messages are read once, not with each turn.

    Args:
        function: pure; ``MANY`` short texts and ``KEPT_CHARS`` characters of long ones are kept.
    """
    short, lock = lru_cache(maxsize=MANY)(function), threading.Lock()
    long: LRUCache[str, tuple[int, V]] = LRUCache(KEPT_CHARS, getsizeof=lambda kept: kept[0])

    @wraps(function)
    def look_up(text: str) -> V:
        if len(text) <= LONG_CHARS:
            return short(text)
        with lock:
            kept = long.get(text)
        if kept is None:
            kept = len(text), function(text)
            if len(text) <= KEPT_CHARS:
                with lock:
                    long[text] = kept
        return kept[1]

    return look_up


def clip(text: str, limit: int = MAX_CHARS) -> str:
    """Return at most about ``limit`` characters: both ends of a longer text."""
    return text if len(text) <= limit else text[: limit // 2] + "\n" + text[-(limit // 2) :]


def has_han(text: str) -> bool:
    """Return True if the text holds a Chinese character."""
    return not text.isascii() and _HAN.search(text) is not None


def is_unspaced(text: str) -> bool:
    """Return True if the text holds characters of a script that writes words without spaces between them."""
    return not text.isascii() and _UNSPACED.search(text) is not None


@cache
def _simplified() -> tuple[dict[int, str], re.Pattern[str]]:
    """Return traditional → simplified characters (OpenCC's TSCharacters, Apache-2.0) and what finds the former."""
    traditional, simplified = (DATA / "simplified.txt").read_text(encoding="utf-8").splitlines()
    frequent = "".join(char for char in traditional if ord(char) < 0x10000)  # noqa: PLR2004 - one plane
    return dict(zip(map(ord, traditional), simplified, strict=True)), re.compile(f"[{frequent}\U00020000-\U0003ffff]")


def simplify(text: str) -> str:
    """Return the text with traditional characters replaced by simplified ones, position by position."""
    if not has_han(text):
        return text
    table, pattern = _simplified()
    return text.translate(table) if pattern.search(text) else text


def fold(text: str) -> str:
    """Return a form for comparison: width, letter case, compatibility forms and Chinese script made equal."""
    return text.lower() if text.isascii() else _folded(text)


@remembered
def _folded(text: str) -> str:
    return simplify(unicodedata.normalize("NFKC", text)).casefold()


def aligned(text: str) -> str:
    """Return a folded form with one character for each of the text, so that offsets hold in both."""
    folded = fold(text)
    return folded if len(folded) == len(text) else "".join(f if len(f := fold(c)) == 1 else c for c in text)


@lru_cache(maxsize=16_384)
def singular(word: str) -> str:
    """Return a folded word in Latin letters without possessive and English plural ending."""
    word = word.removesuffix(next((end for end in _ENDINGS if word.endswith(end) and len(word) > len(end)), ""))
    if len(word) < _SHORTEST or not word.isascii():
        return word
    if word.endswith("ies") and len(word) > _SHORTEST:
        return word[:-3] + "y"
    if word.endswith(("ches", "shes", "sses", "xes", "zes")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith(("ss", "us", "is")) else word


@cache
def rarity_classes(language: str) -> dict[str, int]:
    """Return word → class 0 (the 500 most frequent words) to 5 (ranks 8,001 to 16,000); rarer words are missing.

    English ranks come from Google's book n-grams as cut to dictionary words by SymSpell, Chinese ones from jieba's
    dictionary; NOTICE credits both.

    Args:
        language: ``zh`` or ``en``; for every other language the table is empty.
    """
    path = DATA / f"ranks_{language}.txt"
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return {word: number for number, line in enumerate(lines) for word in line.split()}
