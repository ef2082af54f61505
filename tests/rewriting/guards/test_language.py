"""Language: scripts, names and codes in other scripts, and Latin languages by their function words."""

from __future__ import annotations

import pytest

from llama_index_condense_plus import GuardVerdict
from llama_index_condense_plus.rewriting.guards import LanguageGuard
from tests.rewriting.guards.test_single_guards import NOTHING, talk

HAN, LATIN = "script of the question: han", "script of the question: latin"
UNUSED, FOREIGN = "a script that nobody used", "another language than the question"
RUSSIAN = "多少钱 цена телефона"


@pytest.mark.parametrize(
    ("original", "rewrite", "share", "problem"),
    [
        ("多少钱？", "How much GTE", 1.0, HAN),
        ("多少钱？", "GTE X", 0.0, ""),  # names alone are in no language
        ("多少钱？", "GTE X Y", 1.0, HAN),
        ("多少钱？", "is GTE", 1.0, HAN),
        ("多少钱", RUSSIAN, 0.8, HAN),
        ("多少钱", "多少钱 " + "price of the telephone " * 9, 0.934, HAN),  # drowned in another language
        ("GTE-3000?", "GTE-3000多少钱", 0.8, UNUSED),
        ("GTE X Y?", "多少钱啊多少钱", 1.0, UNUSED),
        ("a b c d", "多少钱啊多少钱", 1.0, LATIN),
        ("the GTE?", "多少钱", 1.0, LATIN),
        ("Wie ist das?", "Wie ist der Preis für das Telefon?", 0.0, ""),
        ("what?", "Wie ist der Preis?", 1.0, FOREIGN),
        ("what?", "wo ist Peter?", 1.0, FOREIGN),
        ("what?", "der Preis?", 0.0, ""),  # one word tells nothing
        ("what?", "der preis of the house and the garden die der", 0.0, ""),  # as many English ones
        ("price?", "цена", 1.0, UNUSED),
        ("価格はいくら", "价格多少", 0.0, ""),
        ("价格多少", "価格はいくらですか", 0.778, HAN),
        ("가격", "价格", 1.0, "script of the question: hangul"),
        ("price", "!!", 0.0, ""),
    ],
)
def test_language_measures_the_share_of_another_script(original, rewrite, share, problem):
    assert LanguageGuard().check(original, rewrite, NOTHING) == [
        GuardVerdict("language", not problem, "reject", share, 0.2, problem)
    ]


@pytest.mark.parametrize(
    ("original", "rewrite", "said", "problem"),
    [
        ("price?", "price of 活着", "活着", ""),
        ("price?", "price of 活着", "it", UNUSED),
        ("price of it in the house?", "price of 活着 in the house?", "it", LATIN),
        ("price", "活着", "活着", ""),
        ("price?", "价格 цена", "цена", UNUSED),
        ("GTE?", "GTE цена телефона", "сколько стоит", ""),  # the conversation is in that script
        ("多少钱", RUSSIAN, "цена", HAN),
    ],
)
def test_language_lets_in_what_the_conversation_wrote_in_another_script(original, rewrite, said, problem):
    assert [one.detail for one in LanguageGuard().check(original, rewrite, talk(said, "ok"))] == [problem]


@pytest.mark.parametrize(("original", "rewrite"), [("", "price"), ("?!", "多少钱")])
def test_language_of_marks_is_any(original, rewrite):
    assert LanguageGuard().check(original, rewrite, NOTHING) == [GuardVerdict("language", True)]
