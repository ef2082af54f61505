from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llama_index_condense_plus.rewriting.clauses import asking_clause, asking_span


@pytest.mark.parametrize(
    ("text", "clause"),
    [
        ("嗯，我看过了，很好看。它是哪年上映的？", "它是哪年上映的？"),
        ("如果提前还款，要付多少钱？", "如果提前还款，要付多少钱？"),
        ("是的，周边有八达岭长城，还有别的景点吗？", "还有别的景点吗？"),
        ("Yes, what is the address of Restaurant Two Two?", "what is the address of Restaurant Two Two?"),
        ("I like it. Who made it?", "Who made it?"),
        ("In Python, how do I sort a list?", "In Python, how do I sort a list?"),
        ("怎么申请", "怎么申请"),
    ],
)
def test_asking_clause_leaves_out_what_is_said_before(text: str, clause: str) -> None:
    assert asking_clause(text) == clause


@given(st.text(max_size=80))
def test_asking_span_lies_in_the_text(text: str) -> None:
    start, end = asking_span(text)
    assert 0 <= start <= end <= len(text)
    assert asking_clause(text).strip() or not text.strip()
