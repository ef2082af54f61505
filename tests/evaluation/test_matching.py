from __future__ import annotations

import pytest

from llama_index_condense_plus.evaluation.matching import holds, is_accepted, is_correct, normal
from tests.evaluation.data import case


@pytest.mark.parametrize(
    ("query", "term", "expected"),
    [
        ("How long does approval take?", "approv", True),
        ("The scar is old", "car", False),
        ("GTE-3000 的保修期", "gte-3000", True),
        ("Mate X5是哪年发布的", "Mate X5", True),
        ("华为Mate X5 的屏幕", "Mate X5", True),
        ("金卡的年費", "年费", True),
        ("超出保修期后", "超期|超出保修期", True),
        ("ＧＴＥ-3000", "GTE-3000", True),
        ("the price", "cost|fee", False),
        ("I don’t know", "don't", True),
    ],
)
def test_holds_compares_by_words(query: str, term: str, expected: bool) -> None:
    assert holds(query, term) is expected


def test_normal_folds_case_width_script_punctuation_and_spaces() -> None:
    assert normal("那 GTE-3000 的價格， 呢？") == normal("那gte-3000的价格呢")
    assert normal("a b") != normal("ab")


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("what is the price of the gte-3000", True),
        ("GTE-3000 cost?", True),
        ("the price?", False),
        ("Is the price of the GTE-3000 that of the GTE-2000?", False),
    ],
)
def test_is_correct_takes_accepted_rewrites_and_must_terms(query: str, expected: bool) -> None:
    assert is_correct(case(), query) is expected


def test_is_correct_without_must_terms_takes_accepted_rewrites_only() -> None:
    bare = case(must_contain=(), must_not_contain=())
    assert is_correct(bare, "What is the price of the GTE-3000?")
    assert not is_correct(bare, "GTE-3000 price")
    assert not is_accepted(bare, "GTE-3000 price")
