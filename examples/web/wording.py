"""The panel's words in both languages, as data beside the code."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

LANGUAGES = {"English": "en", "中文": "zh"}
"""Languages by the name shown."""


@cache
def words(language: str) -> dict[str, str]:
    """Return the words of a language, ``en`` or ``zh``."""
    tables = tomllib.loads(Path(__file__).with_name("words.toml").read_text(encoding="utf-8"))
    return tables[language]  # type: ignore[no-any-return]


def preferred(accept_language: str) -> str:
    """Return the language for a browser's ``Accept-Language`` header."""
    return "zh" if accept_language.lower().startswith("zh") else "en"
