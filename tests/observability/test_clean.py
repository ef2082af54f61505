"""Words of anybody on a terminal, in a CSV cell or on a page."""

from __future__ import annotations

import doctest

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llama_index_condense_plus.observability import clean
from llama_index_condense_plus.observability.clean import printable


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("那它的价格呢？ 👨‍👩‍👧 naïve", "那它的价格呢？ 👨‍👩‍👧 naïve"),
        ("a\r\nb\tc\u2028d\x85e\x0bf", "a b c d e f"),
        ("\x1b[31mred\x07", "\\x1b[31mred\\x07"),
        ("pay \u202etxt.exe", "pay \\u202etxt.exe"),
        ("\u2066x\u2069\u200f", "\\u2066x\\u2069\\u200f"),
        ("\x9b2J\x00", "\\x9b2J\\x00"),
        ("\ud800", "\\ud800"),
    ],
)
def test_printable_shows_words_and_lets_nothing_act(text: str, shown: str) -> None:
    assert printable(text) == shown


@given(st.text(st.characters()))
def test_printable_is_one_line_that_can_be_encoded_and_is_clean_for_good(text: str) -> None:
    shown = printable(text)
    assert len(shown.splitlines()) <= 1
    assert shown.encode("utf-8").decode("utf-8") == shown
    assert printable(shown) == shown


def test_examples_run() -> None:
    assert doctest.testmod(clean).failed == 0
