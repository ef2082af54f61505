"""Variants: which fire, in which order, how many, and what a model's are held to."""

from __future__ import annotations

import json

import pytest

from llama_index_condense_plus.operations import Predict, Prediction
from llama_index_condense_plus.retrieval.paraphrases import Paraphrases, select_diverse
from llama_index_condense_plus.retrieval.phrases import key_phrases, subquestions, synonym_variants
from llama_index_condense_plus.retrieval.variants import expand, without_model
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
        ("A 方案和 B 方案的价格哪个更便宜？", ["A 方案 价格 便宜", "B 方案 价格 便宜"]),
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


def test_expand_makes_the_kinds_in_a_fixed_order_each_at_its_weight():
    query = "比较 GTE-2000 和 GTE-3000 的流程"
    plan, extra, _ = run(
        query,
        original="那是什么时候？",
        variants=["keywords", "subquestions", "rules", "topic"],
        variants_max=9,
        max_queries=10,
        synonyms=GLOSSARY[:1],
    )
    assert [role for role, _ in extra] == ["topic", *["variant"] * 3, *["subquestion"] * 2, "keywords"]
    assert [query.weight for query in plan.queries] == [1.0, 1.0, *[0.5] * 6]
    assert extra[4:6] == [("subquestion", "GTE-2000 流程"), ("subquestion", "GTE-3000 流程")]
    assert plan.reason == ""


@pytest.mark.parametrize("kind", ["rules", "subquestions", "keywords", "topic"])
def test_expand_makes_only_the_kinds_that_are_asked_for(kind):
    _, extra, asked = run(
        "比较 GTE-2000 和 GTE-3000 的流程", original="那是什么时候？", variants=[kind], synonyms=GLOSSARY
    )
    roles = {"rules": "variant", "subquestions": "subquestion"}
    assert {role for role, _ in extra} == {roles.get(kind, kind)}
    assert asked == []


def test_expand_asks_a_model_only_for_the_room_that_is_left():
    answer = json.dumps({"queries": ["GTE-3000 售价", "GTE-3000 多少钱", "GTE-3000 价钱"]})
    plan, extra, asked = run("GTE-3000 的价格", variants=["keywords", "llm"], variants_max=2, answer=answer)
    assert len(extra) == 2
    assert "给出 2 个" in asked[0].messages[0].content
    assert [query.weight for query in plan.queries] == [1.0, 0.5, 0.5]
    assert run("GTE-3000 的价格", variants=["keywords", "llm"], variants_max=1, answer=answer)[2] == []


def test_expand_asks_a_model_to_reword_the_search_query_within_the_rewrites_limits():
    _, _, asked = run("GTE-3000 的价格", variants=["llm"], answer="")
    assert "GTE-3000 的价格" in asked[0].messages[1].content
    assert asked[0].timeout_s == CondensePlusSettings().rewrite.timeout_s


def test_expand_adds_nothing_that_the_plan_searches_already():
    assert run("GTE-3000", variants=["keywords"])[1] == []


def test_expand_keeps_what_waits_in_reserve():
    waiting = PlannedQuery("waiting", QueryRole.VARIANT)
    plan = QueryPlan((PlannedQuery("报销的流程", QueryRole.REWRITTEN),), reserve=(waiting,))
    settings = CondensePlusSettings(
        retrieval={"variants": ["rules"], "synonyms": GLOSSARY, "variants_when": "low_recall", "variants_max": 1}
    )
    result = RewriteResult("流程呢", "报销的流程", RewriteStatus.REWRITTEN)
    made = without_model(expand(plan, result, TALK, settings))
    assert [query.text for query in made.reserve] == ["waiting", "报销的SOP"]


def test_expand_counts_the_queries_that_the_plan_has():
    plan = QueryPlan((PlannedQuery("报销的流程", QueryRole.REWRITTEN), PlannedQuery("流程呢", QueryRole.ORIGINAL)))
    settings = CondensePlusSettings(retrieval={"variants": ["rules"], "synonyms": GLOSSARY, "max_queries": 3})
    result = RewriteResult("流程呢", "报销的流程", RewriteStatus.REWRITTEN)
    assert len(without_model(expand(plan, result, TALK, settings)).queries) == 3


@pytest.mark.parametrize(
    ("status", "limit", "expanded"),
    [
        (RewriteStatus.SKIPPED, 9, False),
        (RewriteStatus.UNCHANGED, 9, False),
        (RewriteStatus.SKIPPED, 8, True),
        (RewriteStatus.REJECTED, 9, True),
        (RewriteStatus.FAILED, 9, True),
    ],
)
def test_expand_measures_a_short_structured_question_to_the_character(status, limit, expanded):
    _, extra, _ = run(
        "流程需要哪些材料？", status=status, variants=["rules"], synonyms=GLOSSARY, short_structured_max_chars=limit
    )
    assert bool(extra) is expanded


def test_expand_compares_markers_in_any_case_and_script():
    options = {"variants": ["rules"], "synonyms": GLOSSARY, "status": RewriteStatus.SKIPPED}
    assert run("流程 FAQ", short_structured_markers=["faq"], **options)[1] == []
    assert run("流程說明", short_structured_markers=["说明"], **options)[1] == []
    assert run("流程", short_structured_markers=[], **options)[1]


@pytest.mark.parametrize(
    ("status", "talk", "has_topic"),
    [
        (RewriteStatus.REWRITTEN, TALK, True),
        (RewriteStatus.REJECTED, TALK, True),
        (RewriteStatus.FAILED, TALK, True),
        (RewriteStatus.SKIPPED, TALK, False),
        (RewriteStatus.UNCHANGED, TALK, False),
        (RewriteStatus.REWRITTEN, window(), False),
    ],
)
def test_expand_searches_the_topic_of_a_follow_up_only(status, talk, has_topic):
    extra = run("是哪年上映的？", status=status, talk=talk, variants=["topic"])[1]
    assert bool(extra) is has_topic


def test_without_model_returns_the_plan_that_needs_none():
    assert without_model(
        expand(
            QueryPlan((PlannedQuery("GTE-3000 的价格", QueryRole.REWRITTEN),)),
            RewriteResult("价格呢", "GTE-3000 的价格", RewriteStatus.REWRITTEN),
            TALK,
            CondensePlusSettings(retrieval={"variants": ["llm"]}),
        )
    ).queries == (PlannedQuery("GTE-3000 的价格", QueryRole.REWRITTEN),)
