"""English endings: what plural, past and -ing share, and what is left alone."""

from __future__ import annotations

import pytest

from llama_index_condense_plus.lexicons.phrases import PhraseSet
from llama_index_condense_plus.lexicons.stems import common_words, known_words, singular, stem


@pytest.mark.parametrize(
    ("word", "one", "base"),
    [
        ("plans", "plan", "plan"),
        ("planned", "planned", "plan"),
        ("planning", "planning", "plan"),
        ("policies", "policy", "policy"),
        ("dies", "die", "die"),
        ("boxes", "box", "box"),
        ("classes", "class", "class"),
        ("churches", "church", "church"),
        ("user's", "user", "user"),
        ("users’", "user", "user"),
        ("bus", "bus", "bus"),
        ("basis", "basis", "basis"),
        ("as", "as", "as"),
        ("his", "his", "his"),
        ("red", "red", "red"),
        ("used", "used", "used"),
        ("price", "price", "pric"),
        ("quickly", "quickly", "quick"),
        ("missed", "missed", "miss"),
        ("gte-3000s", "gte-3000", "gte-3000s"),
        ("'s", "'s", "'s"),
        ("", "", ""),
    ],
)
def test_singular_and_stem_take_endings_off(word: str, one: str, base: str) -> None:
    assert singular(word) == one
    assert stem(word) == base


def test_known_words_hold_the_common_ones() -> None:
    assert common_words("en") < known_words()
    assert stem("people") in common_words("en")
    assert "我们" in common_words("zh")


PHRASES = PhraseSet({"you", "you said", "said", "刚才", "刚才说的", "c#"})


@pytest.mark.parametrize(
    ("text", "at", "end"),
    [
        ("you said it", 0, 8),
        ("you saidit", 0, 3),
        ("younger", 0, 0),
        ("刚才说的价格", 0, 4),
        ("刚才价格", 0, 2),
        ("用c#写", 1, 3),
        ("it", 0, 0),
        ("you", 3, 0),
    ],
)
def test_longest_phrase_at_a_place_matches_whole_latin_words(text: str, at: int, end: int) -> None:
    assert PHRASES.longest(text, at) == end


@pytest.mark.parametrize(
    ("text", "stop", "start"),
    [("as you said", 11, 3), ("as unsaid", 9, None), ("价格刚才", 4, 2), ("said", 2, None), ("", 0, None)],
)
def test_longest_phrase_before_a_place(text: str, stop: int, start: int | None) -> None:
    assert PHRASES.longest_before(text, stop) == start


def test_phrases_start_at_words_or_anywhere_in_chinese() -> None:
    assert list(PHRASES.starts("you say 刚才 byou")) == [0, 4, 8]
    assert list(PhraseSet(()).starts("anything")) == []
