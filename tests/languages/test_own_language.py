"""A language of the user's own is recognised by its lexicon's words."""

from collections.abc import Iterator

import pytest

from llama_index_condense_plus import Lexicon, decide_rewrite, register_lexicon
from llama_index_condense_plus.lexicons import base, detect_language

TALK = [("user", "Quais planos existem?"), ("assistant", "Basic e Pro.")]


@pytest.fixture(autouse=True)
def registry() -> Iterator[None]:
    kept = dict(base._registry)
    yield
    base._registry.clear()
    base._registry.update(kept)
    base._registrations += 1


def register_portuguese() -> None:
    register_lexicon(
        Lexicon(
            code="pt",
            pronouns=frozenset({"ele", "isso"}),
            openers=frozenset({"e", "mas"}),
            small_talk=frozenset({"muito obrigado"}),
            question_words=frozenset({"quanto"}),
        )
    )


def test_a_registered_language_is_recognised_though_the_text_was_read_before() -> None:
    assert detect_language("e quanto custa ele?") != "pt"
    register_portuguese()
    assert detect_language("e quanto custa ele?") == "pt"


@pytest.mark.parametrize(("text", "language"), [("How much is it?", "en"), ("¿cuánto cuesta?", "es"), ("那它呢", "zh")])
def test_the_other_languages_stay_what_they_are(text: str, language: str) -> None:
    register_portuguese()
    assert detect_language(text) == language


def test_small_talk_of_a_registered_language_is_not_rewritten() -> None:
    register_portuguese()
    assert decide_rewrite("Muito obrigado!", TALK).reason.value == "small_talk"
    assert decide_rewrite("e quanto custa ele?", TALK).rewrite
