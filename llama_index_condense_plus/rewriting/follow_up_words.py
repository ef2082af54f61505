"""The words of follow-ups in ``data/follow_ups.toml``, read once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from llama_index_condense_plus.settings.reading import shipped_table


def follow_up_words(language: str) -> Mapping[str, Any]:
    """Return the words of a language, ``zh`` or ``en``, or of all (``units``), by what they are for."""
    found: Mapping[str, Any] = shipped_table("llama_index_condense_plus.rewriting", "follow_ups.toml")[language]
    return found


def either(words: Iterable[str]) -> str:
    """Return a regular expression for any of the words, the longest first."""
    return "|".join(sorted(map(re.escape, words), key=len, reverse=True))
