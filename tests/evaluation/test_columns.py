from __future__ import annotations

import pytest

from llama_index_condense_plus.evaluation.columns import columns_of, cut_to_columns, padded


@pytest.mark.parametrize(
    ("text", "columns", "shown"),
    [
        ("保修期", 6, "保修期"),
        ("保修期多久", 6, "保修…"),
        ("保修期多久", 7, "保修期…"),
        ("warranty", 6, "warra…"),
        ("warranty", 8, "warranty"),
        ("保修 two", 6, "保修 …"),
    ],
)
def test_cut_to_columns_counts_two_for_a_chinese_character(text: str, columns: int, shown: str) -> None:
    assert cut_to_columns(text, columns) == shown
    assert columns_of(shown) <= columns


def test_padded_fills_up_to_equal_columns() -> None:
    assert [columns_of(padded(text, 8)) for text in ("网课", "API", "保修期ab")] == [8, 8, 8]
