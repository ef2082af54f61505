"""Variants that need no model: which glossary words are exchanged, how comparisons fall apart, what is a key phrase."""

from __future__ import annotations

import pytest

from llama_index_condense_plus.retrieval.phrases import key_phrases, subquestions, synonym_variants
from llama_index_condense_plus.settings.sections import SynonymRule


def rule(*words: str, to: tuple[str, ...], **options: bool) -> SynonymRule:
    return SynonymRule(when_any=words, replace=to, **options)


def test_synonym_variants_ignore_case_by_default() -> None:
    assert list(synonym_variants("How does a WebHook work?", [rule("webhook", to=("callback",))])) == [
        "How does a callback work?"
    ]


def test_synonym_variants_leave_out_what_the_query_says_already() -> None:
    wanted = rule("refund", to=("Return", "money back"))
    assert list(synonym_variants("refund or return", [wanted])) == ["money back or return"]
    minded = rule("refund", to=("Return", "money back"), ignore_case=False)
    assert list(synonym_variants("refund or return", [minded])) == ["Return or return", "money back or return"]


def test_synonym_variants_take_the_first_word_of_a_rule_that_is_there() -> None:
    words = rule("步骤", "流程", "手续", to=("SOP",))
    assert list(synonym_variants("报销的流程和手续", [words])) == ["报销的SOP和手续"]


def test_synonym_variants_of_several_rules_come_in_their_order() -> None:
    rules = [rule("price", to=("cost",)), rule("missing", to=("lost",)), rule("plan", to=("tariff",))]
    assert list(synonym_variants("plan price", rules)) == ["plan cost", "tariff price"]


def test_synonym_variants_replace_every_place() -> None:
    assert list(synonym_variants("流程图里的流程", [rule("流程", to=("步骤",))])) == ["步骤图里的步骤"]


@pytest.mark.parametrize(
    ("query", "word", "variant"),
    [
        ("C++ templates", "C++", "cpp templates"),
        ("用C++写", "c++", "用cpp写"),
        ("C++17 templates", "C++", None),
        ("objc++", "C++", None),
        ("a_b", "a", None),
        ("a.b", "a.b", "cpp"),
        ("axb", "a.b", None),
    ],
)
def test_synonym_variants_read_a_word_literally_and_whole(query: str, word: str, variant: str | None) -> None:
    assert list(synonym_variants(query, [rule(word, to=("cpp",))])) == ([variant] if variant else [])


def test_synonym_variants_insert_backslashes_as_they_are() -> None:
    assert list(synonym_variants("share path", [rule("share", to=(r"\\1\g<0>",))])) == [r"\\1\g<0> path"]


@pytest.mark.parametrize(
    ("query", "parts"),
    [
        ("  GTE-2000 vs. GTE-3000  ", ["GTE-2000", "GTE-3000"]),
        ("GTE-2000 vs GTE-3000的价格？", ["GTE-2000 价格", "GTE-3000 价格"]),
        ("Compare the Basic plan and the Pro plan in terms of the price", ["Basic plan price", "Pro plan price"]),
        ("What are the differences between Python and Go: the speed?", ["Python speed", "Go speed"]),
        ("Which one is cheaper, Basic or Pro?", ["Basic cheaper", "Pro cheaper"]),
        ("A套餐和B套餐哪个更便宜", ["A套餐 便宜", "B套餐 便宜"]),
        ("A套餐和B套餐哪个最便宜", ["A套餐 便宜", "B套餐 便宜"]),
        ("最新款和上一款的续航有什么区别", ["最新款 续航", "上一款 续航"]),
        ("对比一下北京和上海的最低工资", ["北京 最低工资", "上海 最低工资"]),
        ("", []),
    ],
)
def test_subquestions_ask_each_side_for_the_same(query: str, parts: list[str]) -> None:
    assert subquestions(query) == parts


@pytest.mark.parametrize(
    ("query", "phrases"),
    [
        ("怎么修改密码？", ["密码"]),
        ("《活着》和《活着》的作者", ["活着", "作者"]),
        ("“年度 报告”里的净利润", ["年度 报告", "净利润"]),
        ("net profit of Acme Corp, Acme Corp in 2023", ["net profit", "Acme Corp", "2023"]),
        ("张三净利润", ["张三", "净利润"]),
        ("what is it?", []),
        ("价格，价格", ["价格"]),
        ("", []),
    ],
)
def test_key_phrases_are_names_quantities_and_nouns(query: str, phrases: list[str]) -> None:
    assert key_phrases(query) == phrases
