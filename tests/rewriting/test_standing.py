"""What earlier questions stood for, each completed by those before it."""

from __future__ import annotations

import pytest

from llama_index_condense_plus.rewriting.conditions import conditioned
from llama_index_condense_plus.rewriting.follow_ups import negated_question, reversed_question
from llama_index_condense_plus.rewriting.standing import LOOK_BACK, standing_questions
from llama_index_condense_plus.types import WindowMessage


def stood(*texts):
    messages = [WindowMessage(("user", "assistant")[n % 2], text, text) for n, text in enumerate(texts)]
    return [(one.text, one.answer, one.whole, one.about and one.about.text) for one in standing_questions(messages)]


@pytest.mark.parametrize(
    ("history", "questions"),
    [
        (
            ("北京几点开门？", "九点。", "上海呢？", "十点。"),
            [("北京几点开门？", "九点。", True, "北京"), ("上海几点开门？", "十点。", True, "上海")],
        ),
        (
            ("What does the Heron cost?", "90 euros.", "Is it light?", "Yes.", "and its size?", "Small."),
            [
                ("What does the Heron cost?", "90 euros.", True, "Heron"),
                ("Is the Heron light?", "Yes.", False, "Heron"),
                ("the Heron's size?", "Small.", False, "Heron"),
            ],
        ),
        (
            ("海豹X1的续航多少？", "420公里。要看充电吗？", "好的", "五小时"),
            [
                ("海豹X1的续航多少？", "420公里。要看充电吗？", True, "海豹X1"),
                ("海豹X1的续航多少？", "五小时", True, "海豹X1"),
            ],
        ),
        (
            ("海豹X1的续航多少？", "420公里。", "如果下雨呢？", "一样"),
            [("海豹X1的续航多少？", "420公里。", True, "海豹X1"), ("海豹X1的续航多少？", "一样", True, "海豹X1")],
        ),
        (
            ("海豹X1的续航多少？", "420公里。", "谢谢！那它的价格呢？", "十万"),
            [("海豹X1的续航多少？", "420公里。", True, "海豹X1"), ("海豹X1的价格呢？", "十万", False, "海豹X1")],
        ),
        (
            ("Does the Heron float?", "Yes.", "Who made them?", "Acme.", "Is Acme big?", "No"),
            [
                ("Does the Heron float?", "Yes.", True, "Heron"),
                ("Who made the Heron?", "Acme.", False, "Heron"),
                ("Is Acme big?", "No", True, "Acme"),
            ],
        ),
        (
            ("海豹能加急吗", "能", "能退款吗", "能"),
            [("海豹能加急吗", "能", True, "海豹"), ("海豹能退款吗", "能", False, "海豹")],
        ),
        (("Back?", "hm", "ok", ""), [("Back?", "hm", True, None), ("ok", "", True, None)]),
    ],
)
def test_standing_questions_are_completed_by_those_before(history, questions):
    assert stood(*history) == questions


def test_standing_questions_are_the_newest_and_the_first_of_all():
    texts = [text for n in range(LOOK_BACK + 3) for text in (f"Is Rome number {n} old?", "Yes.")]
    read = [text for text, *_ in stood(*texts)]
    assert read == [f"Is Rome number {n} old?" for n in (0, *range(3, LOOK_BACK + 3))]
    assert len(stood(*texts[: 2 * LOOK_BACK])) == LOOK_BACK


def test_standing_questions_take_the_last_answer_and_skip_one_before_any_question():
    messages = [WindowMessage(role, text, text) for role, text in (
        ("assistant", "Hello."), ("user", "Is Rome old?"), ("assistant", "Well."), ("assistant", "Yes."))]  # fmt: skip
    assert [(one.text, one.answer) for one in standing_questions(messages)] == [("Is Rome old?", "Yes.")]


@pytest.mark.parametrize(
    ("question", "message", "turned"),
    [
        ("从北京到上海多久？", "反过来呢？", "从上海到北京多久？"),
        ("从北京到上海多久？", "回程呢", "从上海到北京多久？"),
        ("Can I fly from Rome to Oslo?", "the other way round?", "Can I fly from Oslo to Rome?"),
        ("Can I fly from Rome to Oslo?", "and back?", "Can I fly from Oslo to Rome?"),
        ("Is Rome bigger than Oslo?", "the other way around?", "Is Oslo bigger than Rome?"),
        ("人民币换美元怎么换？", "反过来呢", None),
        ("Rome?", "the other way round?", None),
    ],
)
def test_reversed_question_changes_two_places(question, message, turned):
    assert reversed_question(question, message) == turned


@pytest.mark.parametrize(
    ("question", "message", "turned"),
    [
        ("满18岁可以报名吗？", "如果不满呢？", "不满18岁可以报名吗？"),
        ("Can I go if it is wet?", "if it isn't?", "Can I go if it is not wet?"),
        ("Can I go if it is wet?", "and if not?", "Can I go if it is not wet?"),
        ("Can I go?", "if it isn't?", "Can I go, if it isn't?"),
        ("Can I go if it is wet?", "if it is?", None),
    ],
)
def test_negated_question_negates_its_condition(question, message, turned):
    assert negated_question(question, message) == turned


@pytest.mark.parametrize(
    ("question", "message", "asked"),
    [
        ("Can I get a refund?", "even if I opened it?", "Can I get a refund, even if I opened it?"),
        ("可以调岗吗？", "如果在试用期呢？", "如果在试用期，可以调岗吗？"),
        ("可以调岗吗？", "如果是老人呢？", None),
        ("可以调岗吗？", "如果不同意怎么办呢？", None),
        ("Can I get a refund?", "any discounts?", "Can I get a refund, any discounts?"),
        ("Can I get a refund?", "without a receipt?", "Can I get a refund, without a receipt?"),
        ("Can I get a refund?", "if I opened it who pays?", None),
        (
            "Can I get a refund?",
            "only if one two three four five six seven?",
            "Can I get a refund, only if one two three four five six seven?",
        ),
        ("Can I get a refund?", "only if one two three four five six seven eight?", None),
        ("Can I get a refund?", "And, on Sundays?", "Can I get a refund, on Sundays?"),
        ("Can I get a refund?", "what if it rains", "Can I get a refund, if it rains?"),
    ],
)
def test_conditioned_asks_on_under_the_condition(question, message, asked):
    assert conditioned(question, message) == asked
