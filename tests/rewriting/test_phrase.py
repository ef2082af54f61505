"""Phrases inside a sentence."""

from __future__ import annotations

import pytest

from llama_index_condense_plus.rewriting.phrase import NounPhrase, decapitalised


@pytest.mark.parametrize(
    ("words", "inside"),
    [
        ("The car", "the car"),
        ("If it rains", "if it rains"),
        ("NASA is", "NASA is"),
        ("I see", "I see"),
        ("I've seen", "I've seen"),
        ("I'm here", "I'm here"),
        ("I'd go", "I'd go"),
        ("In May", "in May"),
        ("", ""),
    ],
)
def test_decapitalised_keeps_capitals_of_their_own(words, inside):
    assert decapitalised(words) == inside


def test_phrase_ends_after_its_last_character():
    assert NounPhrase("red car", 2).end == 9
