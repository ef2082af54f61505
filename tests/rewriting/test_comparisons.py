"""Questions that compare: two things unnamed, or one with what was asked about."""

from __future__ import annotations

import pytest

from llama_index_condense_plus.rewriting.comparisons import compared, with_other_side
from llama_index_condense_plus.rewriting.standing import Standing

VELKA, RYSA = "Is Mount Velka high?", "Is Mount Rysa high?"


@pytest.mark.parametrize(
    ("clause", "questions", "asked"),
    [
        ("Which one is steeper?", (VELKA, RYSA), "Which one is steeper, Mount Velka or Mount Rysa?"),
        ("Which one is steeper", (VELKA, RYSA), "Which one is steeper, Mount Velka or Mount Rysa?"),
        ("Which one is steeper?", (VELKA,), None),
        ("Which one is steeper?", (VELKA, VELKA), None),
        (
            "Which one is steeper?",
            ("Is Mount Velka or Mount Rysa high?",),
            "Which one is steeper, Mount Velka or Mount Rysa?",
        ),
        (
            "Which one is steeper?",
            (VELKA, RYSA, "Is Mount Velka old?"),
            "Which one is steeper, Mount Rysa or Mount Velka?",
        ),
        ("which is cheaper?", (VELKA, "Is a hut open?"), "which is cheaper, Mount Velka or the hut?"),
        ("哪个更高？", ("泰山多高？", "黄山多高？"), "泰山和黄山哪个更高？"),
        ("哪个更高？", (), None),
        ("Which one is Rome?", (VELKA, RYSA), None),
        ("Is it steep?", (VELKA, RYSA), None),
    ],
)
def test_compared_names_the_two_that_were_asked_about(clause, questions, asked):
    assert compared(clause, [Standing(question, "") for question in questions]) == asked


@pytest.mark.parametrize(
    ("clause", "asked"),
    [
        ("Is a CT faster?", "Is a CT faster than the MRI?"),
        ("Is a CT faster", "Is a CT faster than the MRI?"),
        ("Is a CT more precise?", "Is a CT more precise than the MRI?"),
        ("Is a CT faster than this?", None),
        ("Is the MRI faster?", None),
        ("Is it ever?", None),
        ("What is faster?", None),
        ("Is a CT better water?", None),
    ],
)
def test_with_other_side_compares_with_what_was_asked_about(clause, asked):
    assert with_other_side(clause, Standing("What does an MRI cost?", "")) == (asked or clause)


@pytest.mark.parametrize(
    ("clause", "asked"),
    [
        ("奥迪更快吗", "奥迪比宝马更快吗"),
        ("更快吗", "更快吗"),
        ("奥迪比宝马更快吗", "奥迪比宝马更快吗"),
        ("宝马更快吗", "宝马更快吗"),
        ("奥迪快吗", "奥迪快吗"),
    ],
)
def test_with_other_side_in_chinese(clause, asked):
    assert with_other_side(clause, Standing("宝马多少钱", "")) == asked
