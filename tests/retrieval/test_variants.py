"""Variants: which fire, in which order, how many, and what a model's are held to."""

from __future__ import annotations

import json

import pytest

from llama_index_condense_plus.operations import Predict, Prediction
from llama_index_condense_plus.retrieval.paraphrases import Paraphrases, select_diverse
from llama_index_condense_plus.retrieval.phrases import key_phrases, subquestions, synonym_variants
from llama_index_condense_plus.retrieval.variants import expand
from llama_index_condense_plus.settings import CondensePlusSettings
from llama_index_condense_plus.settings.sections import SynonymRule
from llama_index_condense_plus.types import PlannedQuery, QueryPlan, QueryRole, RewriteResult, RewriteStatus
from tests.retrieval.parts import window

TALK = window("看过电影《霸王别姬》吗？", "看过，陈凯歌导演的。")
GLOSSARY = [
    {"when_any": ["流程"], "replace": ["SOP", "处理步骤", "办理流程"]},
    {"when_any": ["webhook"], "replace": ["回调"]},
]


def run(query, *, original=None, status=RewriteStatus.REWRITTEN, answer=None, talk=TALK, **retrieval):
    """Return the expanded plan's (role, text) pairs behind the first, and what a model was asked."""
    retrieval.setdefault("variants", [])
    settings = CondensePlusSettings(retrieval=retrieval)
    result = RewriteResult(original or query, query, status)
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


def test_expand_adds_nothing_by_default_to_what_was_not_rewritten():
    plan = QueryPlan((PlannedQuery("是哪年上映的？", QueryRole.ORIGINAL),))
    result = RewriteResult("是哪年上映的？", "是哪年上映的？", RewriteStatus.SKIPPED)
    flow = expand(plan, result, TALK, CondensePlusSettings())
    with pytest.raises(StopIteration) as stop:
        next(flow)
    assert stop.value.value == plan


def test_expand_searches_topic_and_asking_clause_of_a_follow_up_without_a_name():
    _, extra, _ = run("电影的上映时间？", original="嗯，是的。是哪年上映的？", variants=["topic"])
    assert extra == [("topic", "霸王别姬 是哪年上映的？")]


def test_expand_leaves_the_topic_out_where_the_original_carries_a_name():
    assert run("《活着》的上映时间？", original="《活着》是哪年上映的？", variants=["topic"])[1] == []


def test_expand_uses_the_glossary_and_then_asks_no_model():
    _, extra, asked = run("报销的流程，详细一点", variants=["rules", "llm"], synonyms=GLOSSARY)
    assert extra == [
        ("variant", "报销的SOP，详细一点"),
        ("variant", "报销的处理步骤，详细一点"),
        ("variant", "报销的办理流程，详细一点"),
    ]
    assert asked == []


@pytest.mark.parametrize(
    ("limits", "count"),
    [({"variants_max": 2}, 2), ({"max_queries": 2}, 1), ({"variants_max": 0}, 0), ({"variants_max": -1}, 0)],
)
def test_expand_obeys_its_limits(limits, count):
    assert len(run("报销的流程", variants=["rules"], synonyms=GLOSSARY, **limits)[1]) == count


def test_expand_asks_a_model_for_more_than_it_keeps_and_drops_what_is_no_query():
    answer = json.dumps(
        {
            "queries": [
                "GTE-3000 售价多少",
                "GTE-3000 的价格是多少？",
                "GTE-3000 卖 2999 元",
                "What does it cost",
                "x" * 300,
            ]
        }
    )
    _, extra, asked = run("GTE-3000 的价格是多少", variants=["rules", "llm"], synonyms=GLOSSARY, answer=answer)
    assert extra == [("variant", "GTE-3000 售价多少")]
    assert isinstance(asked[0], Predict)
    assert asked[0].output_cls is Paraphrases
    assert "6" in asked[0].messages[0].content


@pytest.mark.parametrize(
    "answer", [TimeoutError("late"), ValueError("no structured output"), "", "Sorry.", "{broken", '{"queries": 3}']
)
def test_expand_goes_on_without_a_models_variants(answer):
    assert run("GTE-3000 的价格是多少", variants=["llm"], answer=answer)[1] == []


def test_expand_reads_a_plain_list_of_a_model_without_structured_output():
    _, extra, _ = run("GTE-3000 的价格", variants=["llm"], answer="当然：\n1. GTE-3000 售价\n- GTE-3000 多少钱")
    assert {text for _, text in extra} == {"GTE-3000 售价", "GTE-3000 多少钱"}


def test_expand_does_not_expand_a_short_structured_question():
    options = {"variants": ["rules", "llm", "keywords"], "synonyms": GLOSSARY}
    assert run("办理流程需要哪些材料", status=RewriteStatus.SKIPPED, **options)[1:] == ([], [])


def test_expand_expands_a_short_structured_follow_up_that_was_rewritten():
    assert run("报销流程需要哪些材料", original="需要哪些材料", variants=["rules"], synonyms=GLOSSARY)[1]


def test_expand_searches_key_phrases_joined_or_separate():
    query = "张三第一季度的净利润是多少？"
    assert run(query, variants=["keywords"])[1] == [("keywords", "张三 第一季度 净利润")]
    separate = run(query, variants=["keywords"], keywords="separate")[1]
    assert separate == [("keywords", "张三"), ("keywords", "第一季度"), ("keywords", "净利润")]


def test_expand_holds_variants_back_for_low_recall():
    plan, extra, _ = run("报销的流程", variants=["rules"], synonyms=GLOSSARY, variants_when="low_recall")
    assert len(plan.queries) == 1
    assert len(plan.reserve) == len(extra) == 3


@pytest.mark.parametrize(
    ("query", "parts"),
    [
        ("比较 GTE-2000 和 GTE-3000 的价格", ["GTE-2000 价格", "GTE-3000 价格"]),
        ("A 方案和 B 方案哪个更便宜？", ["A 方案 便宜", "B 方案 便宜"]),
        ("iPhone 15和小米14的续航有什么区别？", ["iPhone 15 续航", "小米14 续航"]),
        ("GTE-2000 vs GTE-3000", ["GTE-2000", "GTE-3000"]),
        ("What is the difference between term life and whole life insurance?", ["term life", "whole life insurance"]),
        ("Compare Python with Go for web servers", ["Python web servers", "Go web servers"]),
        ("比较好的餐厅有哪些？", []),
        ("红楼梦和西游记的作者是谁？", []),
        ("How do I install it?", []),
    ],
)
def test_subquestions_take_comparisons_apart(query, parts):
    assert subquestions(query) == parts


def test_key_phrases_keep_titles_and_english_noun_phrases():
    assert key_phrases("《霸王别姬》的导演是谁？")[0] == "霸王别姬"
    assert key_phrases("What was the net profit of Acme Corp in 2023?") == ["net profit", "Acme Corp", "2023"]


def test_synonym_variants_match_whole_latin_words_and_obey_case():
    rule = SynonymRule(when_any=("webhook",), replace=("回调",), ignore_case=False)
    assert list(synonym_variants("webhook怎么配", [rule])) == ["回调怎么配"]
    assert list(synonym_variants("webhooks怎么配", [rule])) == list(synonym_variants("Webhook怎么配", [rule])) == []


def test_select_diverse_prefers_what_differs_from_what_was_selected():
    chosen = select_diverse("price of GTE", ["cost of GTE", "cost of the GTE", "GTE retail tag", "Price of GTE?"], 2)
    assert len(chosen) == 2
    assert "Price of GTE?" not in chosen
    assert not {"cost of GTE", "cost of the GTE"} <= set(chosen)
