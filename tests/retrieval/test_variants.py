"""Variants: which fire, in which order, how many, and what a model's are held to."""

from __future__ import annotations

import json

import pytest

from llama_index_condense_plus.operations import Predict, Prediction
from llama_index_condense_plus.retrieval.variants import expand, without_model
from llama_index_condense_plus.settings import CondensePlusSettings
from llama_index_condense_plus.types import (
    Entity,
    HistoryWindow,
    PlannedQuery,
    QueryPlan,
    QueryRole,
    RewriteResult,
    RewriteStatus,
    Trust,
)
from tests.retrieval.parts import window

TALK = window("看过电影《霸王别姬》吗？", "看过，陈凯歌导演的。")
GLOSSARY = [
    {"when_any": ["流程"], "replace": ["SOP", "处理步骤", "办理流程"]},
    {"when_any": ["webhook"], "replace": ["回调"]},
]
EVERY = {"variants": ["keywords", "subquestions", "rules", "topic"], "variants_max": 9, "max_queries": 10}


def run(query, *, original=None, status=RewriteStatus.REWRITTEN, trust=Trust.TRUSTED, answer=None, talk=TALK, **own):
    """Return the expanded plan's (role, text) pairs behind the first, and what a model was asked."""
    own.setdefault("variants", [])
    settings = CondensePlusSettings(retrieval=own)
    result = RewriteResult(original or query, query, status, trust=trust)
    flow = expand(QueryPlan((PlannedQuery(query, QueryRole.REWRITTEN),)), result, talk, settings)
    asked = []
    try:
        operation = next(flow)
        while True:
            asked.append(operation)
            operation = flow.throw(answer) if isinstance(answer, Exception) else flow.send(Prediction(answer))
    except StopIteration as stop:
        plan = stop.value
    assert plan.queries[0].text == query
    return plan, [(q.role.value, q.text) for q in (*plan.queries[1:], *plan.reserve)], asked


def texts(query, **options):
    return [text for _, text in run(query, **options)[1]]


def test_glossary_words_are_exchanged_and_then_no_model_is_asked():
    _, extra, asked = run("报销的流程", variants=["rules", "llm"], synonyms=GLOSSARY)
    assert extra == [("variant", f"报销的{word}") for word in ("SOP", "处理步骤", "办理流程")]
    assert asked == []


@pytest.mark.parametrize(
    ("query", "rule", "variants"),
    [
        ("How does a WebHook work?", {"when_any": ["webhook"], "replace": ["callback"]}, ["How does a callback work?"]),
        ("Webhook怎么配", {"when_any": ["webhook"], "replace": ["回调"], "ignore_case": False}, []),
        ("webhooks怎么配", {"when_any": ["webhook"], "replace": ["回调"]}, []),
        ("refund or return", {"when_any": ["refund"], "replace": ["Return", "money"]}, ["money or return"]),
        ("流程图里的流程", {"when_any": ["流程"], "replace": ["步骤"]}, ["步骤图里的步骤"]),
        ("C++ templates", {"when_any": ["C++"], "replace": ["cpp"]}, ["cpp templates"]),
        ("C++17 templates", {"when_any": ["C++"], "replace": ["cpp"]}, []),
        ("share path", {"when_any": ["share"], "replace": [r"\\1\g<0>"]}, [r"\\1\g<0> path"]),
        ("审批的流程", {"when_any": ["审批"], "replace": [["流程", "SOP"]]}, ["审批的SOP"]),
        ("报销的流程", {"replace": [["流程", "SOP"]]}, ["报销的SOP"]),
    ],
)
def test_a_glossary_rule_replaces_whole_words_as_they_are(query, rule, variants):
    assert texts(query, variants=["rules"], synonyms=[rule]) == variants


@pytest.mark.parametrize(
    ("query", "parts"),
    [
        ("比较 GTE-2000 和 GTE-3000 的价格", ["GTE-2000 价格", "GTE-3000 价格"]),
        ("A 方案和 B 方案的价格哪个更便宜？", ["A 方案 价格 便宜", "B 方案 价格 便宜"]),
        ("iPhone 15和小米14的续航有什么区别？", ["iPhone 15 续航", "小米14 续航"]),
        ("GTE-2000 vs GTE-3000", ["GTE-2000", "GTE-3000"]),
        ("What is the difference between term life and whole life insurance?", ["term life", "whole life insurance"]),
        ("Compare Python with Go for web servers", ["Python web servers", "Go web servers"]),
        ("Which is cheaper, Foo or Bar?", ["Foo cheaper", "Bar cheaper"]),
        ("比较好的餐厅有哪些？", []),
        ("红楼梦和西游记的作者是谁？", []),
        ("How do I install it?", []),
    ],
)
def test_comparisons_are_taken_apart(query, parts):
    assert texts(query, variants=["subquestions"]) == parts


@pytest.mark.parametrize(
    ("query", "phrases"),
    [
        ("张三第一季度的净利润是多少？", ["张三", "第一季度", "净利润"]),
        ("《霸王别姬》的价格是多少？", ["霸王别姬", "价格"]),
        ("What was the net profit of Acme Corp in 2023?", ["net profit", "Acme Corp", "2023"]),
    ],
)
def test_key_phrases_are_searched_joined_or_apart_and_none_is_lost(query, phrases):
    assert texts(query, variants=["keywords"]) == [" ".join(phrases)]
    assert texts(query, variants=["keywords"], keywords="separate") == phrases
    cramped = texts(query, variants=["keywords"], keywords="separate", max_queries=3)
    assert cramped == [phrases[0], " ".join(phrases[1:])]


def test_variants_come_in_a_fixed_order_at_their_weight():
    plan, extra, _ = run(
        "比较 GTE-2000 和 GTE-3000 的流程",
        original="那是什么时候？",
        synonyms=GLOSSARY[:1],
        variant_weight=0.4,
        **EVERY,
    )
    assert [role for role, _ in extra] == ["topic", *["variant"] * 3, *["subquestion"] * 2, "keywords"]
    assert {query.weight for query in plan.queries[2:]} == {0.4}


@pytest.mark.parametrize(
    ("limits", "count"),
    [({"variants_max": 2}, 2), ({"max_queries": 2}, 1), ({"variants_max": -1}, 0), ({"variant_weight": 0}, 0)],
)
def test_variants_obey_their_limits(limits, count):
    assert len(texts("报销的流程", variants=["rules"], synonyms=GLOSSARY, **limits)) == count


@pytest.mark.parametrize("message", ["你好", "thanks!", "好的", "👍"])
def test_small_talk_gets_no_variants(message):
    options = {**EVERY, "variants": [*EVERY["variants"], "llm"]}
    assert run(message, status=RewriteStatus.SKIPPED, **options)[1:] == ([], [])


@pytest.mark.parametrize(
    ("query", "status", "options", "expanded"),
    [
        ("流程需要哪些材料？", RewriteStatus.SKIPPED, {"short_structured_max_chars": 9}, False),
        ("流程需要哪些材料？", RewriteStatus.SKIPPED, {"short_structured_max_chars": 8}, True),
        ("流程需要哪些材料？", RewriteStatus.REJECTED, {}, True),
        ("流程 FAQ", RewriteStatus.SKIPPED, {"short_structured_markers": ["faq"]}, False),
        ("流程說明", RewriteStatus.UNCHANGED, {"short_structured_markers": ["说明"]}, False),
        ("流程", RewriteStatus.SKIPPED, {"short_structured_markers": []}, True),
    ],
)
def test_a_short_structured_question_is_not_expanded(query, status, options, expanded):
    assert bool(texts(query, status=status, variants=["rules"], synonyms=GLOSSARY, **options)) is expanded


def test_variants_wait_for_low_recall_behind_what_waits_already():
    waiting = PlannedQuery("waiting", QueryRole.VARIANT)
    plan = QueryPlan((PlannedQuery("报销的流程", QueryRole.REWRITTEN),), reserve=(waiting,))
    own = {"variants": ["rules"], "synonyms": GLOSSARY, "variants_when": "low_recall", "variants_max": 1}
    result = RewriteResult("流程呢", "报销的流程", RewriteStatus.REWRITTEN)
    made = without_model(expand(plan, result, TALK, CondensePlusSettings(retrieval=own)))
    assert [query.text for query in made.reserve] == ["waiting", "报销的SOP"]
    assert made.queries == plan.queries


@pytest.mark.parametrize(
    ("original", "status", "talk", "has_topic"),
    [
        ("是哪年上映的？", RewriteStatus.REWRITTEN, TALK, True),
        ("是哪年上映的？", RewriteStatus.REJECTED, TALK, True),
        ("是哪年上映的？", RewriteStatus.FAILED, TALK, True),
        ("是哪年上映的？", RewriteStatus.SKIPPED, TALK, False),
        ("是哪年上映的？", RewriteStatus.UNCHANGED, TALK, True),
        ("是哪年上映的？", RewriteStatus.REWRITTEN, window(), False),
        ("《活着》是哪年上映的？", RewriteStatus.REWRITTEN, TALK, False),
    ],
)
def test_the_topic_is_searched_for_a_follow_up_that_says_nothing(original, status, talk, has_topic):
    assert bool(texts("电影的上映时间？", original=original, status=status, talk=talk, variants=["topic"])) is has_topic


@pytest.mark.parametrize(
    ("query", "trust", "weight"),
    [
        ("陈凯歌的电影？", Trust.TRUSTED, 0.5),
        ("陈凯歌的电影？", Trust.DOUBTED, 1.0),
        ("哪年上映的电影？", Trust.TRUSTED, 1.0),
    ],
)
def test_the_topic_counts_less_beside_a_trusted_rewrite_with_a_name(query, trust, weight):
    known = tuple(Entity(name, kind) for name, kind in (("霸王别姬", "title"), ("陈凯歌", "person")))
    talk = HistoryWindow(TALK.messages, entities=known)
    plan, _, _ = run(query, original="是哪年上映的？", trust=trust, talk=talk, variants=["topic"])
    assert [(each.role.value, each.weight) for each in plan.queries[1:]] == [("topic", weight)]


def test_a_model_is_asked_for_more_than_is_kept_in_the_querys_language():
    answer = json.dumps({"queries": ["GTE-3000 售价", "GTE-3000 多少钱", "GTE-3000 价钱"]})
    _, extra, asked = run("GTE-3000 的价格", variants=["keywords", "llm"], variants_max=2, answer=answer)
    assert len(extra) == 2
    assert isinstance(asked[0], Predict)
    system, user = (str(message.content) for message in asked[0].messages)
    assert "给出 1 个" in system
    assert "GTE-3000 的价格" in user
    assert asked[0].timeout_s == CondensePlusSettings().rewrite.timeout_s
    assert "queries" in str(run("GTE-3000 price", variants=["llm"], answer="")[2][0].messages[0].content)
    assert run("GTE-3000 的价格", variants=["keywords", "llm"], variants_max=1, answer=answer)[2] == []


@pytest.mark.parametrize(
    ("answer", "kept"),
    [
        ('Sure: {"queries": ["GTE-3000 cost", "GTE-3000 fee"]} Done.', {"GTE-3000 cost", "GTE-3000 fee"}),
        ('Here:\n1. "GTE-3000 cost"\n* GTE-3000  fee\nI hope it helps GTE-3000', {"GTE-3000 cost", "GTE-3000 fee"}),
        ('{"queries": ["GTE-3000 cost\\u0000\\nplease"]}', {"GTE-3000 cost please"}),
        ('{"queries": ["GTE-3000 cost in 2024", "GTE-4000 price", "weather tomorrow", "GTE-3000 的价格", ""]}', set()),
        ('{"queries": ["Price of the GTE-3000?"]}', set()),
        (
            '{"queries": ["GTE-3000 cost", "GTE-3000 fee", "GTE-3000 tariff", "GTE-3000 rate"]}',
            {"GTE-3000 cost", "GTE-3000 fee", "GTE-3000 tariff"},
        ),
        (f"- GTE-3000 {'price ' * 50}", set()),
        ("GTE-3000 cost", set()),
        ("{broken", set()),
        (TimeoutError("late"), set()),
        (ValueError("no structured output"), set()),
    ],
)
def test_of_a_models_answer_queries_about_the_same_are_kept(answer, kept):
    assert set(texts("price of the GTE-3000", variants=["llm"], answer=answer)) == kept
