"""French: pronouns, openers and small talk; everything else is always rewritten."""

from __future__ import annotations

from llama_index_condense_plus.lexicons.base import Lexicon


def lexicon() -> Lexicon:
    """Return the French lexicon."""
    return Lexicon(
        code="fr",
        name="French",
        pronouns=frozenset(
            {
                "il",
                "elle",
                "ils",
                "elles",
                "ce",
                "cet",
                "cette",
                "ces",
                "celui",
                "celle",
                "ceux",
                "celles",
                "cela",
                "ça",
                "son",
                "sa",
                "ses",
                "leur",
                "leurs",
                "lui",
                "y",
                "en",
                "là",
            }
        ),
        openers=frozenset({"et", "mais", "alors", "aussi", "ou", "donc"}),
        small_talk=frozenset(
            {"bonjour", "salut", "merci", "merci beaucoup", "bonsoir", "au revoir", "d'accord", "ok", "parfait"}
        ),
    )
