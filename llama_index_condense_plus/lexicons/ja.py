"""Japanese: pronouns, openers and small talk; everything else is always rewritten."""

from __future__ import annotations

from llama_index_condense_plus.lexicons.base import Lexicon


def lexicon() -> Lexicon:
    """Return the Japanese lexicon."""
    return Lexicon(
        code="ja",
        name="Japanese",
        pronouns=frozenset(
            {
                "それ",
                "これ",
                "あれ",
                "彼",
                "彼女",
                "彼ら",
                "それら",
                "これら",
                "そこ",
                "ここ",
                "あそこ",
                "その",
                "この",
                "あの",
            }
        ),
        openers=frozenset({"では", "じゃあ", "それで", "また", "そして", "でも"}),
        small_talk=frozenset(
            {
                "こんにちは",
                "ありがとう",
                "ありがとうございます",
                "はい",
                "こんばんは",
                "おはよう",
                "おはようございます",
                "さようなら",
                "了解",
                "了解です",
                "わかりました",
                "どうも",
            }
        ),
    )
