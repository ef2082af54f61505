"""How rare a word is: a rare one names something, a frequent one says something about it."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

EDGES = (500, 1000, 2000, 4000, 8000, 16_000)
"""Ranks at which the classes end: class 0 holds the 500 most frequent words, class 5 ranks 8,001 to 16,000."""
RAREST = len(EDGES)
"""Class of every other word."""


@cache
def rarity_classes(language: str) -> dict[str, int]:
    """Return word → class 0 to 5 for ``zh`` or ``en``; a word that is not there is of class ``RAREST``.

    English ranks come from Google's book n-grams as cut to dictionary words by SymSpell, Chinese ones from jieba's
    dictionary; both are credited in NOTICE. Vulgar English words are left out, and so of the rarest class.
    """
    data = files("llama_index_condense_plus.languages") / "data" / f"ranks_{language}.txt"
    lines = data.read_text(encoding="utf-8").splitlines()
    return {word: number for number, line in enumerate(lines) for word in line.split()}
