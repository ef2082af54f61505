from __future__ import annotations

import pytest

from llama_index_condense_plus.rewriting.conditions import conditioned

REFUND = "Can I get a refund?"


@pytest.mark.parametrize(
    ("question", "message", "expected"),
    [
        (REFUND, "even if I've worn them?", "Can I get a refund, even if I've worn them?"),
        (REFUND, "even when I'm abroad?", "Can I get a refund, even when I'm abroad?"),
        (REFUND, "even without the box?", "Can I get a refund, even without the box?"),
        (REFUND, "what if I lost the receipt?", "Can I get a refund, if I lost the receipt?"),
        (REFUND, "Any exceptions?", "Can I get a refund, any exceptions?"),
        (REFUND, "after 30 days?", "Can I get a refund, after 30 days?"),
        ("可以调岗吗？", "如果还在试用期呢？", "如果还在试用期，可以调岗吗？"),
        ("能改签吗？", "就算已经取票了也可以吗？", "就算已经取票了，能改签吗？"),
        ("孩子发烧怎么办？", "要是超过39度呢？", "要是超过39度，孩子发烧怎么办？"),
    ],
)
def test_conditioned_asks_the_last_question_under_a_condition(question: str, message: str, expected: str) -> None:
    assert conditioned(question, message) == expected


@pytest.mark.parametrize(
    ("question", "message"),
    [
        (REFUND, "If I lost the receipt, can I exchange it?"),
        (REFUND, "if I cancel do I get it back?"),
        (REFUND, "In what year was it founded?"),
        (REFUND, "Any idea?"),
        (REFUND, "And the price?"),
        (REFUND, "what if I want to return more than ten of the items that I bought?"),
        ("可以调岗吗？", "如果提前还款要付多少钱？"),
        ("门票多少钱？", "如果是老人呢？"),
        ("门票多少钱？", "老人呢？"),
    ],
)
def test_conditioned_leaves_what_asks_more(question: str, message: str) -> None:
    assert conditioned(question, message) is None
