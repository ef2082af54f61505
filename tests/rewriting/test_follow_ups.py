from __future__ import annotations

import pytest

from llama_index_condense_plus.rewriting.follow_ups import (
    continued,
    is_contentless,
    negated_question,
    reversed_question,
)


@pytest.mark.parametrize("clause", ["Why?", "And then?", "Anything else?", "为什么？", "那还有吗？", "说详细点"])
def test_is_contentless_knows_what_asks_for_more(clause: str) -> None:
    assert is_contentless(clause)


@pytest.mark.parametrize("clause", ["And the price?", "Why is it red?", "那价格呢？", "为什么要退款？", "？", ""])
def test_is_contentless_leaves_what_says_something(clause: str) -> None:
    assert not is_contentless(clause)


@pytest.mark.parametrize(
    ("question", "clause", "expected"),
    [
        ("Can I smoke here?", "Why?", "Why can I smoke here?"),
        ("What do I need?", "Anything else?", "What do I need, anything else?"),
        ("申请护照要哪些材料？", "还有吗？", "申请护照要哪些材料，还有吗？"),
    ],
)
def test_continued_keeps_the_last_question(question: str, clause: str, expected: str) -> None:
    assert continued(question, clause) == expected


@pytest.mark.parametrize(
    ("question", "clause", "expected"),
    [
        ("How long is the flight from Oslo to Lima?", "And back?", "How long is the flight from Lima to Oslo?"),
        ("怎么把美元换算成欧元？", "反过来呢？", "怎么把欧元换算成美元？"),
        ("从拱北口岸到澳门机场怎么走？", "那反过来怎么走？", "从澳门机场到拱北口岸怎么走？"),
        ("How heavy is it?", "And back?", None),
        ("怎么退款？", "反过来呢？", None),
        ("How do I get from Oslo to Lima?", "And the price?", None),
    ],
)
def test_reversed_question_exchanges_the_sides(question: str, clause: str, expected: str | None) -> None:
    assert reversed_question(question, clause) == expected


@pytest.mark.parametrize(
    ("question", "clause", "expected"),
    [
        ("What happens if it is paid?", "What if it isn't?", "What happens if it is not paid?"),
        ("满18岁可以报名吗？", "如果不满呢？", "不满18岁可以报名吗？"),
        ("有驾照可以租车吗？", "要是没有呢？", "没有驾照可以租车吗？"),
        ("What happens if it is paid?", "What if it is?", None),
        ("可以报名吗？", "如果迟到呢？", None),
    ],
)
def test_negated_question_negates_the_condition(question: str, clause: str, expected: str | None) -> None:
    assert negated_question(question, clause) == expected
