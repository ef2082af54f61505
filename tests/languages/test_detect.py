"""The language of a message is told by its script and its most frequent words."""

from __future__ import annotations

import pytest

from llama_index_condense_plus.languages import detect_language


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("那它呢？", "zh"),
        ("它的 API 限流呢", "zh"),
        ("GTE-3000 多少钱", "zh"),
        ("那個價格是多少", "zh"),
        ("what does 你好 mean", "en"),
        ("And its price?", "en"),
        ("iPhone 15", "en"),
        ("Was kostet das?", "de"),
        ("¿Cuánto cuesta?", "es"),
        ("Combien ça coûte pour les enfants ?", "fr"),
        ("それはいくらですか", "ja"),
        ("그건 얼마예요?", "ko"),
        ("Сколько это стоит?", "und"),
        ("12345", "und"),
        ("", "und"),
    ],
)
def test_language_is_detected(text: str, code: str) -> None:
    assert detect_language(text) == code
