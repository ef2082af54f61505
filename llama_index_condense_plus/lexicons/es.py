"""Spanish: pronouns, openers and small talk; everything else is always rewritten."""

from __future__ import annotations

from llama_index_condense_plus.lexicons.base import Lexicon


def lexicon() -> Lexicon:
    """Return the Spanish lexicon."""
    return Lexicon(
        code="es",
        name="Spanish",
        pronouns=frozenset(
            {
                "él",
                "ella",
                "ello",
                "ellos",
                "ellas",
                "este",
                "esta",
                "esto",
                "estos",
                "estas",
                "ese",
                "esa",
                "eso",
                "esos",
                "esas",
                "aquel",
                "aquella",
                "aquello",
                "su",
                "sus",
                "le",
                "les",
                "lo",
                "la",
                "los",
                "allí",
                "ahí",
            }
        ),
        openers=frozenset({"y", "pero", "entonces", "también", "o"}),
        small_talk=frozenset(
            {
                "hola",
                "gracias",
                "muchas gracias",
                "buenos días",
                "buenas tardes",
                "buenas noches",
                "adiós",
                "hasta luego",
                "vale",
                "ok",
                "de acuerdo",
                "perfecto",
            }
        ),
    )
