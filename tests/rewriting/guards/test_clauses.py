"""The asking clause: which sentence, and which part of it, a turn really asks."""

from __future__ import annotations

import pytest

from llama_index_condense_plus.rewriting.guards.clauses import asking_clause, asking_sentence, asks, sentences
from llama_index_condense_plus.rewriting.guards.kinds import kinds
from llama_index_condense_plus.rewriting.guards.unresolved import UnresolvedReferenceGuard
from tests.rewriting.guards.test_single_guards import NOTHING, talk, verdicts


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Version 2.5 is out. Is it good?", ["Version 2.5 is out.", "Is it good?"]),
        ("a; b. c! d? e", ["a;", "b.", "c!", "d?", "e"]),
        ("你好。多少钱？谢谢", ["你好。", "多少钱？", "谢谢"]),
        ("版本2.5好吗；颜色", ["版本2.5好吗；", "颜色"]),
        (" ", []),
    ],
)
def test_sentences_end_at_their_marks(text, parts):
    assert sentences(text) == parts


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("Hello. What is new? Thanks.", "What is new?"),
        ("What is new? What is old?", "What is old?"),
        ("The film. Is it?", "The film. Is it?"),  # without content of its own it takes what stands before it
        ("One. Two. The film. Oh. Oh. Is it?", "The film. Oh. Oh. Is it?"),
        ("The film. Oh. Oh. Oh. Oh. Is it?", "Oh. Oh. Oh. Oh. Is it?"),  # but not from afar
        ("Oh. Is it?", "Oh. Is it?"),
        ("I came home. It rained.", "I came home. It rained."),
        ("你好！价格呢?", "价格呢?"),
    ],
)
def test_asking_sentence_is_the_last_that_asks_and_has_content(text, sentence):
    assert asking_sentence(text) == sentence


@pytest.mark.parametrize(
    ("text", "clause"),
    [
        ("我喜欢它，导演是谁？", "导演是谁？"),
        ("导演是谁，多大", "多大"),
        ("导演是谁，我忘了", "导演是谁，"),
        ("如果下雨，怎么办？", "如果下雨，怎么办？"),  # a condition stays
        ("我喜欢，在上海，多少钱", "在上海，多少钱"),
        ("他结婚了，是吗", "他结婚了，是吗"),
        ("I like it, who directed it?", "I like it, who directed it?"),  # Latin sentences stay whole
        ("今天，价格，颜色", "颜色"),
    ],
)
def test_asking_clause_is_the_last_with_content(text, clause):
    assert asking_clause(text) == clause


@pytest.mark.parametrize(
    ("text", "is_question"),
    [
        ("多少钱", True),
        ("价格；颜色", False),
        ("what is it", True),
        ("the price", False),
        ("the price?", True),
        ("价格？", True),
        ("tell me the price", True),
    ],
)
def test_asks_needs_no_question_mark(text, is_question):
    assert asks(text) is is_question


def test_kinds_are_those_of_the_texts_language():
    every = {"who", "when", "where", "why", "number"}
    assert kinds("谁什么时候在哪里为什么多少") == kinds("who when where why how many") == every
    assert kinds("谁 why") == {"who"}
    assert kinds("价格 or why") == {"number"}


@pytest.mark.parametrize(
    ("original", "rewrite", "count", "left"),
    [
        ("it and they", "it", 1.0, "it"),
        ("it and they", "it and they", 2.0, "it, they"),
        ("it?", "they?", 0.0, ""),  # another word than the question's
        ("a it they these those he", "it they these those he", 5.0, "it, they, these, those"),
        ("它呢", "它呢", 1.0, "它"),
    ],
)
def test_unresolved_reference_counts_what_is_left_of_the_question(original, rewrite, count, left):
    window = talk("the film", "yes")
    found = verdicts(UnresolvedReferenceGuard(), original, rewrite, window)["unresolved_reference"]
    assert (found.passed, found.action, found.measured, found.limit, found.detail) == (
        not left,
        "flag",
        count,
        0.0,
        left,
    )


def test_unresolved_reference_needs_a_conversation():
    assert verdicts(UnresolvedReferenceGuard(), "它呢", "它呢", NOTHING)["unresolved_reference"].passed
