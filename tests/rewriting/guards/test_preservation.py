"""Preservation: which numbers, negations, quotations, codes and kinds of question must stay, and which may go."""

from __future__ import annotations

import pytest

from llama_index_condense_plus import GuardVerdict
from llama_index_condense_plus.rewriting.guards import PreservationGuard
from tests.rewriting.guards.test_single_guards import NOTHING, talk

GUARD = PreservationGuard()


def lost(original: str, rewrite: str, window=NOTHING) -> dict[str, str]:
    found = GUARD.check(original, rewrite, window)
    return {one.guard.removeprefix("preservation."): one.detail for one in found if not one.passed}


@pytest.mark.parametrize(
    ("original", "rewrite", "gone"),
    [
        ("98年的呢", "2098年的呢", ""),  # two figures of a year
        ("98 of them", "198 of them", "98"),
        ("8年的呢", "1998年的呢", "8"),
        ("3000的价格", "30000的价格", "3000"),
        ("3000 price", "gte 3000 price", ""),  # part of a name now
        ("3000 price", "gte-30001 price", "3000"),
        ("价格", "第二种的价格", ""),
        ("第二种", "第二种和第三种", "#3"),
        ("第二种", "标准版", ""),  # what stands there in the list
        ("5 kg and 5 lb", "5 kg and 5 lb of it", ""),
        ("5 kg", "5 pieces", ""),
        ("5", "5 kg", ""),
        ("5 kg", "5 lb", "5kg"),
        ("2 and 2 apples", "2 apples", "2"),
        ("1.2", "1.3", "1.2"),
        ("5pm at 3:30", "later", "5, 3, 30"),
    ],
)
def test_preservation_of_numbers(original, rewrite, gone):
    assert lost(original, rewrite).get("numbers", "") == gone


@pytest.mark.parametrize(
    ("original", "rewrite", "gone"),
    [
        ("not and never and no one", "not", "lost not, lost never"),
        ("do not go without it", "go", "lost not, lost without"),
        ("why not?", "why?", ""),
        ("不错的价格", "价格", ""),
        ("没有不好的吗", "有好的吗", "lost 没有, lost 不好"),
        ("价格", "不便宜的价格", "new 不"),
    ],
)
def test_preservation_of_negation(original, rewrite, gone):
    assert lost(original, rewrite, talk("它贵", "是的")).get("negation", "") == gone


def test_preservation_lets_a_negation_of_the_conversation_in():
    assert lost("价格", "不便宜的价格", talk("它不贵", "是的")) == {}


@pytest.mark.parametrize(
    ("original", "rewrite", "gone"),
    [
        ('"a b" and `c`', '"ab" and c', ""),
        ("the 'low power' mode", "the mode", "low power"),
        ("it's John's", "its Johns", ""),  # apostrophes quote nothing
        ("《活着》和「兄弟」", "《活着》", "兄弟"),
        ("“活着，真好”", "活着真好", ""),
    ],
)
def test_preservation_of_quotations(original, rewrite, gone):
    assert lost(original, rewrite).get("quotes", "") == gone


@pytest.mark.parametrize(
    ("original", "rewrite", "gone"),
    [
        ("gte-3000?", "gte3000?", ""),
        ("gte-3000?", "gte 3000?", ""),
        ("gte-3000?", "gte-30001?", "gte-3000"),
        ("gte-3000?", "agte-3000?", "gte-3000"),
        ("gte-3000?", "gte-3000-x?", "gte-3000"),
        ("read config.yaml", "read configyaml", "config.yaml"),
        ("a/b.txt", "b.txt", "a/b.txt"),
        ("long-term and/or", "term", ""),  # words, no codes
        ("IN-HOUSE", "in house", ""),
        ("TCP/IP", "TCP", "TCP/IP"),
        ("useState", "use state", ""),
        ("useState", "state", "useState"),
        ("10.0.0.1", "10.0.0.2", "10.0.0.1"),
        ("at 3:30 or 5pm", "at 3:30 or 5pm sharp", ""),
        ("at 5pm", "at five", ""),  # the numbers' measure
        ("C++", "C", "C++"),
        ("mail a@b.com", "mail", "a@b.com"),
        ("https://a.b/c?", "https://a.b/d?", "https://a.b/c"),
        ("config.yaml and useState", "it", "config.yaml, useState"),
        ("does it run on 3.10.4?", "Does the Kestrel app run on 3.10?", "3.10.4"),
        ("does it run on 3.10.4?", "Does the Kestrel app run on 3.10.4?", ""),
        ("它支持 3.10 吗？", "红隼支持 3.10 吗？", ""),
    ],
)
def test_preservation_of_identifiers(original, rewrite, gone):
    assert lost(original, rewrite).get("identifiers", "") == gone


@pytest.mark.parametrize(
    ("original", "rewrite", "change"),
    [
        ("谁写的", "什么时候写的", "who → when"),
        ("谁写的", "什么时候谁写的", ""),
        ("谁写的", "写的", ""),
        ("谁什么时候写的", "多少钱", ""),  # two kinds: which one was meant?
        ("how many", "why", "number → why"),
        ("how many", "why and where", "number → where, why"),
        ("the founder", "why", ""),  # asks nothing
        ("它是谁写的，我忘了", "什么时候写的", "who → when"),
    ],
)
def test_preservation_of_the_kind_of_question(original, rewrite, change):
    assert lost(original, rewrite).get("question_type", "") == change


def test_preservation_binds_an_answer_to_what_it_asks_itself():
    reply, rewrite = "2004年上映的，导演是谁？", "恋恋笔记本的导演是谁？"
    assert lost(reply, rewrite, talk("恋恋笔记本这部电影", "是哪年上映的？")) == {}
    assert lost(reply, rewrite, talk("恋恋笔记本这部电影", "是很好看的。")) == {"numbers": "2004"}
    assert lost(reply, rewrite, talk("恋恋笔记本是哪年上映的？")) == {"numbers": "2004"}  # the user asked that


def test_preservation_verdicts_count_what_is_gone_and_name_six_at_most():
    found = GUARD.check("1 2 3 4 5 6 7 of them", "all of them", NOTHING)
    assert found[0] == GuardVerdict("preservation.numbers", False, "reject", 7.0, 0.0, "1, 2, 3, 4, 5, 6")
    names = ["numbers", "negation", "quotes", "identifiers", "question_type"]
    assert [one.guard for one in found] == [f"preservation.{name}" for name in names]
    assert found[1] == GuardVerdict("preservation.negation", True, "reject", 0.0, 0.0)
