"""Text on a terminal, where a Chinese character takes two columns."""

from __future__ import annotations

import unicodedata

WIDE = ("W", "F")
"""East Asian widths that take two columns (Unicode Standard Annex #11)."""


def columns_of(text: str) -> int:
    """Return how many columns a text takes."""
    return sum(2 if unicodedata.east_asian_width(letter) in WIDE else 1 for letter in text)


def padded(text: str, columns: int) -> str:
    """Return a text with spaces after it, up to so many columns."""
    return text + " " * (columns - columns_of(text))


def cut_to_columns(text: str, columns: int) -> str:
    """Return a text that fits into so many columns; what is cut ends in an ellipsis."""
    if columns_of(text) <= columns:
        return text
    kept = ""
    for letter in text:
        if columns_of(kept + letter) > columns - 1:
            break
        kept += letter
    return f"{kept}…"
