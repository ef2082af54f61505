"""German: pronouns, openers and small talk; everything else is always rewritten."""

from __future__ import annotations

from llama_index_condense_plus.lexicons.base import Lexicon


def lexicon() -> Lexicon:
    """Return the German lexicon."""
    return Lexicon(
        code="de",
        name="German",
        pronouns=frozenset(
            {
                "er",
                "sie",
                "es",
                "dieser",
                "diese",
                "dieses",
                "diesen",
                "jener",
                "jene",
                "jenes",
                "ihn",
                "ihm",
                "ihr",
                "ihre",
                "ihren",
                "sein",
                "seine",
                "seinen",
                "deren",
                "dessen",
                "das",
                "dies",
                "dort",
                "da",
            }
        ),
        openers=frozenset({"und", "aber", "dann", "auch", "oder", "also"}),
        small_talk=frozenset(
            {
                "hallo",
                "danke",
                "vielen dank",
                "guten tag",
                "guten morgen",
                "guten abend",
                "tschüss",
                "auf wiedersehen",
                "ok",
                "alles klar",
                "danke schön",
            }
        ),
    )
