"""The words of follow-ups in ``data/follow_ups.toml``, read once."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


@cache
def follow_up_words(language: str) -> Mapping[str, Any]:
    """Return the words of a language, ``zh`` or ``en``, or of all (``units``), by what they are for."""
    data = files("llama_index_condense_plus.rewriting") / "data" / "follow_ups.toml"
    found: Mapping[str, Any] = tomllib.loads(data.read_text(encoding="utf-8"))[language]
    return found


def either(words: Iterable[str]) -> str:
    """Return a regular expression for any of the words, the longest first."""
    return "|".join(sorted(map(re.escape, words), key=len, reverse=True))
