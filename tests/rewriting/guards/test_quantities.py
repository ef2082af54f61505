from __future__ import annotations

import pytest

from llama_index_condense_plus.lexicons.quantities import quantities


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


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("一百零五元", "105"),
        ("两千零八元", "2008"),
        ("三千五元", "3500"),
        ("十元", "10"),
        ("两万三千元", "23000"),
        ("三亿五千万元", "350000000"),
        ("万元", None),
        ("twelve hundred euros", "1200"),
        ("three million dollars", "3000000"),
    ],
)
def test_quantities_reads_scales_and_zeros(text: str, value: str | None) -> None:
    found = [quantity.value for quantity in quantities(text)]
    assert found == ([value] if value else [])
