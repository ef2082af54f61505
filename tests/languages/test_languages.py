from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llama_index_condense_plus.errors import ConfigurationError
from llama_index_condense_plus.lexicons import (
    Lexicon,
    detect_language,
    lexicon_for,
    register_lexicon,
    registered_lexicons,
)
from llama_index_condense_plus.lexicons.rarity import RAREST, rarity_classes
from llama_index_condense_plus.lexicons.text import content_tokens, fold, tokenize
from llama_index_condense_plus.settings import CondensePlusSettings


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("它的 API 限流呢", "zh"),
        ("這個多少錢", "zh"),
        ("what does 你好 mean", "en"),
        ("GTE-5000", "en"),
        ("Describe Netflix's subscriber growth over time.", "en"),
        ("値段はいくらですか", "ja"),
        ("가격이 얼마예요?", "ko"),
        ("¿Cuánto cuesta?", "es"),
        ("Combien ça coûte ?", "fr"),
        ("Wie viel kostet das?", "de"),
        ("Сколько это стоит?", "und"),
        ("👍", "und"),
        ("", "und"),
    ],
)
def test_detect_language_by_script_and_frequent_words(text: str, code: str) -> None:
    assert detect_language(text) == code


@given(st.text(st.characters(), max_size=100))
def test_text_functions_take_any_text(text: str) -> None:
    detect_language(text)
    fold(text)
    assert all(text[token.start : token.start + len(token.text)] == token.text for token in tokenize(text))
    assert all(content_tokens(text))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("What are the prices of the plans?", ("price", "plan")),
        ("它的保修期是多久？", ("保修期",)),
        ("GTE-5000 的保修期呢", ("gte-5000", "保修期")),
        ("Nandos' address", ("nando", "address")),
        ("Сколько это стоит?", ("сколько", "это", "стоит")),
    ],
)
def test_content_tokens_leave_out_function_words(text: str, words: tuple[str, ...]) -> None:
    assert content_tokens(text) == words


def test_traditional_and_simplified_give_the_same_content() -> None:
    assert content_tokens("這張專輯的發行時間") == content_tokens("这张专辑的发行时间")


def test_rarity_orders_words_by_use() -> None:
    assert rarity_classes("en")["time"] < rarity_classes("en").get("melatonin", RAREST)
    assert rarity_classes("zh")["时间"] < rarity_classes("zh").get("郁金香", RAREST)


def test_lexicon_is_adapted_once_by_the_settings() -> None:
    settings = CondensePlusSettings(languages={"zh": {"pronouns_add": ["本品"], "openers_remove": ["那"]}})
    lexicon = lexicon_for("zh", settings)
    assert "本品" in lexicon.pronouns
    assert "那" not in lexicon.openers
    assert lexicon_for("zh", settings) is lexicon
    assert "本品" not in lexicon_for("zh").pronouns


def test_unknown_language_has_an_empty_lexicon() -> None:
    assert lexicon_for("xx") == Lexicon(code="xx")


def test_register_lexicon_refuses_a_nameless_one() -> None:
    with pytest.raises(ConfigurationError):
        register_lexicon(Lexicon(code=""))


@pytest.mark.parametrize("code", ["zh", "en", "ja", "ko", "es", "fr", "de"])
def test_every_language_brings_pronouns_openers_and_small_talk(code: str) -> None:
    lexicon = registered_lexicons()[code]
    assert lexicon.pronouns
    assert lexicon.openers
    assert lexicon.small_talk
    assert lexicon.models_ellipsis == (code in ("zh", "en"))
