from __future__ import annotations

import pytest

from llama_index_condense_plus.languages.quantities import quantities


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("三百五十元", [("350", "元")]),
        ("十二个人", [("12", "")]),
        ("二〇二四年", [("2024", "year")]),
        ("2.5万元", [("25000", "元")]),
        ("百分之五十", [("50", "%")]),
        ("两天一晚", [("2", "day")]),
        ("第二种方案", [("#2", "")]),
        ("十分好", []),
        ("gte-3000有3个", [("3", "")]),
        ("v2.3.1", []),
        ("8:30-17:30", [("8", ""), ("30", ""), ("17", ""), ("30", "")]),
        ("1,000 dollars", [("1000", "$")]),
        ("$50k", [("50000", "$")]),
        ("twenty-five people", [("25", "人")]),
        ("two hundred and five", [("205", "")]),
        ("the second one", [("#2", "")]),
        ("a 5-star hotel", [("5", "")]),
        ("which one is better", []),
        ("500mg", [("500", "mg")]),
    ],
)
def test_quantities_makes_numbers_equal(text: str, found: list[tuple[str, str]]) -> None:
    assert [(quantity.value, quantity.unit) for quantity in quantities(text)] == found
