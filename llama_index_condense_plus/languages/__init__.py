"""Languages: one folder each, behind one ``LanguagePack`` protocol, registered explicitly."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from llama_index_condense_plus.errors import ConfigurationError
from llama_index_condense_plus.languages.base import LanguagePack, Reference, Span, Token
from llama_index_condense_plus.languages.detect import SAMPLE, UNKNOWN, Detector
from llama_index_condense_plus.languages.words import WordPack
from llama_index_condense_plus.languages.zh import ChinesePack
from llama_index_condense_plus.settings.sections import LanguageSettings

if TYPE_CHECKING:
    from llama_index_condense_plus.settings import CondensePlusSettings

SHIPPED = ("en", "zh", "ja", "ko", "es", "fr", "de")
"""Languages that come with the package, English first: the others know its words too."""
OFTEN_MEANT = {"cn": "zh", "tw": "zh", "hk": "zh", "jp": "ja", "kr": "ko", "uk": "en", "us": "en"}
"""Codes of countries, written for those of languages."""
_registered: dict[str, WordPack] = {}


@lru_cache(maxsize=1)
def _shipped() -> dict[str, WordPack]:
    folder = Path(__file__).parent
    packs: dict[str, WordPack] = {}
    for code in SHIPPED:
        kind = ChinesePack if code == "zh" else WordPack
        packs[code] = kind.from_toml(folder / code / "words.toml", packs.get("en"))
    other = {"code": UNKNOWN, "name": "the user's language", "models_ellipsis": False}
    packs[UNKNOWN] = WordPack({**packs["en"].table, **other})
    return packs


@lru_cache(maxsize=1)
def _detector() -> Detector:
    return Detector(registered_packs())


def registered_packs() -> dict[str, WordPack]:
    """Return the known languages by code."""
    return {**_shipped(), **_registered}


def register_pack(folder: Path) -> LanguagePack:
    """Make a language known, or replace one, for the whole process; return its pack.

    Args:
        folder: holds ``words.toml``, and ``prompt.toml`` if the rewriting prompt is to speak the language.

    Raises:
        ConfigurationError: the folder holds no pack.
    """
    made = WordPack.from_toml(Path(folder) / "words.toml", _shipped()["en"])
    _registered[made.code] = made
    _detector.cache_clear()
    patterns.cache_clear()
    speakers.cache_clear()
    return made


@lru_cache(maxsize=64)
def patterns(name: str) -> tuple[re.Pattern[str], ...]:
    """Return a pattern of every language that has it, each once: models write in a language of their own choice."""
    packs = (pack for pack in registered_packs().values() if name in pack.table.get("patterns", ()))
    return tuple(dict.fromkeys(pack.pattern(name) for pack in packs))


@lru_cache(maxsize=1)
def speakers() -> tuple[str, ...]:
    """Return what stands before a turn of a conversation, in every language."""
    packs = registered_packs().values()
    return tuple(sorted({pack.phrase(who) for pack in packs for who in ("user", "assistant", "summary")}))


def detect_language(text: str) -> str:
    """Return the code of a message's language, or ``und``.

    Text in Latin letters that holds Chinese characters is Chinese if one of them is a function word or if they are
    not few; a few words without any sign of another language count as English.

    Args:
        text: a message; its first ``SAMPLE`` characters are looked at.
    """
    return _detector().detect(text[:SAMPLE])


def pack(code: str, settings: CondensePlusSettings | None = None) -> WordPack:
    """Return a language's pack, that of an unknown language if there is none.

    Args:
        code: a language code.
        settings: its ``languages`` section adds words and removes some.
    """
    known = registered_packs()
    own = known.get(code, known[UNKNOWN])
    changes = settings.languages.get(code) if settings else None
    return own if changes is None else _adapted(own, changes)


def pack_of(text: str, settings: CondensePlusSettings | None = None) -> WordPack:
    """Return the pack of a text's language.

    Args:
        text: a message.
        settings: its ``languages`` section adds words and removes some.
    """
    return pack(detect_language(text), settings)


@lru_cache(maxsize=64)
def _adapted(own: WordPack, changes: LanguageSettings) -> WordPack:
    return own.adapted(changes)


def check_languages(settings: CondensePlusSettings) -> None:
    """Refuse words for a language that no message can be in.

    Raises:
        ConfigurationError: ``languages`` has a code that is neither shipped nor registered.
    """
    known = registered_packs()
    for code in settings.languages:
        if code not in known:
            meant = OFTEN_MEANT.get(code.lower()) or code.lower().replace("_", "-").split("-")[0]
            hint = f"Did you mean {meant}?" if meant in known else f"Known: {', '.join(sorted(known))}."
            raise ConfigurationError(
                f"Option languages.{code}: no such language. {hint} "
                "For another one, call register_pack before the engine is made."
            )


__all__ = [
    "LanguagePack", "Reference", "Span", "Token", "WordPack", "check_languages", "detect_language", "pack", "pack_of",
    "patterns", "register_pack", "registered_packs", "speakers",
]  # fmt: skip
