"""The answer guard: what counts as saying an earlier turn again, and what as telling instead of asking."""

from __future__ import annotations

import pytest

from llama_index_condense_plus import GuardVerdict
from llama_index_condense_plus.rewriting.guards import AnswerGuard
from tests.rewriting.guards.test_single_guards import EXPANSIVE, LIMITS, talk, verdicts

PHONE = talk("有什么特点？", "支持快充和无线充电。防水等级是六级。价格是九十九元。")
PHONE_EN = talk("What is new?", "It has two cameras. The battery lasts ten hours. The price is 99 euros.")
ASKED = talk("GTE-3000的续航多久？", "10小时。")
ASKED_EN = talk("How long does the battery of the phone last?", "Ten hours.")


def repeated(original: str, rewrite: str, window=ASKED) -> str:
    return verdicts(AnswerGuard(LIMITS), original, rewrite, window)["answer.repetition"].detail


def stated(original: str, rewrite: str, window=ASKED_EN, limits=LIMITS) -> str:
    return verdicts(AnswerGuard(limits), original, rewrite, window)["answer.statement"].detail


@pytest.mark.parametrize(
    ("rewrite", "window", "whole"),
    [
        ("支持快充和无线充电", PHONE, "支持快充和无线充电。"),
        ("支持快充和无线充电吗", PHONE, "支持快充和无线充电。"),  # a particle makes no new question
        ("支持快充和无线充电。防水等级是六级。", PHONE, "支持快充和无线充电。防水等级是六级。价格是九十九元。"),
        ("battery lasts ten hours", PHONE_EN, "The battery lasts ten hours."),
        ("the battery lasts?", PHONE_EN, "The battery lasts ten hours."),
        ("GTE-3000的续航多久？", ASKED, "GTE-3000的续航多久？"),
        ("价格多少？", talk("价格多少？", "99元。"), "价格多少？"),
        ("价格呢？", talk("价格呢？", "99元。"), ""),  # too short to tell
        ("价格多", talk("价格多少？", "99元。"), ""),
        ("快充和无线充电", PHONE, ""),  # the topic of an answer may be asked about
        ("支持快充和无线", PHONE, ""),
        ("支持快充和", PHONE, ""),
    ],
)
def test_answer_finds_an_earlier_sentence_said_again(rewrite, window, whole):
    question = "那它呢？" if "\u4e00" <= rewrite[0] <= "\u9fff" or rewrite.startswith("GTE") else "and it?"
    assert repeated(question, rewrite, window) == whole


def test_answer_finds_the_beginning_of_an_answer_said_again():
    answer = (
        "Red is warm. Blue is cold. Green is calm. Grey is dull. Pink is sweet. Black is dark. " + "Gold is new. " * 9
    )
    for sentences in (2, 3, 4, 5):
        begun = ". ".join(answer.split(". ")[:sentences]) + "."
        assert repeated("and it?", begun, talk("Which colours?", answer)), begun


@pytest.mark.parametrize(
    ("original", "rewrite", "window"),
    [
        ("价格呢？", "支持快充和无线充电的价格", PHONE),  # brings the question's word into it
        ("续航多久？", "GTE-3000的续航多久？", ASKED),  # the user asks once more
        ("last?", "How long does the battery of the phone last?", ASKED_EN),
        ("phone battery?", "How long does the battery of phone last?", ASKED_EN),  # in fewer words
        ("how long does the battery of phone last", "How long does the battery of the phone last?", ASKED_EN),
    ],
)
def test_answer_lets_a_question_be_asked_again(original, rewrite, window):
    assert repeated(original, rewrite, window) == ""


@pytest.mark.parametrize("original", ["续航时间？", "那它呢？"])
def test_answer_takes_another_question_for_a_repetition(original):
    assert repeated(original, "GTE-3000的续航多久？") == "GTE-3000的续航多久？"


def test_answer_reports_the_beginning_of_what_is_repeated():
    long = "续航是" + "十" * 200 + "小时"
    assert repeated("那它呢？", long, talk("续航多久？", long)) == long[:80]


@pytest.mark.parametrize(
    ("original", "rewrite", "problem"),
    [
        ("and the price?", "Sure, the price", "begins like an answer"),
        ("The price.", "Sure, the price", ""),  # who did not ask is held to plain answers only
        ("The price.", "Sorry, the price", "begins like an answer"),
        ("Sorry, what?", "Sorry, the price", ""),
        ("sorry the price", "Sorry, the price", ""),
        ("and the price?", "Yes, what is the price?", ""),
        ("and the price?", "phone price", ""),
        ("and the price?", "phone: price", "a statement"),
        ("and the price?", "phone battery", "no word of the question"),
        ("and the price?", "phone battery last long ten hours.", "a statement"),
        ("the price", "phone battery", ""),
        ("the price", "The phone has a price of ninety euros in Rome", "a statement"),
        ("the price", "The price of the phone is long", ""),
    ],
)
def test_answer_tells_statements_from_keywords(original, rewrite, problem):
    assert stated(original, rewrite) == problem


@pytest.mark.parametrize(
    ("rewrite", "is_explained"),
    [
        ("What is the price? The company was founded in Rome by two brothers.", True),
        ("Founded in Rome by two brothers. What is the price?", True),
        ("What is the price? It is high.", False),  # too short to explain
        ("What is the price? The battery of the phone last long.", False),  # said before
        ("The battery of the phone lasts ten hours. What is the price?", False),
        ("Is the price high? What is the price in Rome for two brothers?", False),  # both ask
    ],
)
def test_answer_finds_what_explains_beside_the_question(rewrite, is_explained):
    assert bool(stated("and the price?", rewrite)) is is_explained


def test_answer_verdicts_reject_and_have_no_measure():
    found = AnswerGuard(LIMITS).check("and the price?", "What is the price?", ASKED_EN)
    assert found == [
        GuardVerdict("answer.repetition", True, "reject"),
        GuardVerdict("answer.statement", True, "reject"),
    ]


def test_answer_lets_an_expansion_state_but_not_begin_like_an_answer():
    assert stated("and the price?", "The price is high.", limits=EXPANSIVE) == ""
    assert stated("and the price?", "Sorry, the price is high.", limits=EXPANSIVE) == "begins like an answer"


def test_answer_counts_what_is_grounded_as_said():
    told = "The price of the Acme Rome Brothers Company is long"
    assert stated("the price", told) == "a statement"
    grounded = AnswerGuard(LIMITS, grounded=("Acme Rome Brothers Company",))
    assert verdicts(grounded, "the price", told, ASKED_EN)["answer.statement"].passed
