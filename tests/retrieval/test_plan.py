"""The plan: what each outcome of a rewrite searches, and with which weight."""

from __future__ import annotations

import pytest
from llama_index.core.schema import QueryBundle

from llama_index_condense_plus.retrieval.plan import DefaultQueryPlanner, bundles, distinct, is_low_recall, query_key
from llama_index_condense_plus.retrieval.worth import agreement, original_worth
from llama_index_condense_plus.settings.sections import RetrievalSettings
from llama_index_condense_plus.types import (
    PlannedQuery,
    QueryPlan,
    QueryRole,
    RewriteResult,
    RewriteStatus,
    TriggerDecision,
    TriggerReason,
)
from tests.retrieval.parts import node, window

TALK = window("GTE-3000 多少钱？", "2999 元。")
TALK_EN = window("How much is the GTE-3000?", "It is 2,999.")


def plan(original, query, status=RewriteStatus.REWRITTEN, *, ambiguous=False, talk=TALK, **options):
    result = RewriteResult(original, query, status, ambiguous=ambiguous)
    made = DefaultQueryPlanner(RetrievalSettings(**options)).plan(result, talk)
    return [(query.role.value, query.text, round(query.weight, 3)) for query in made.queries]


@pytest.mark.parametrize("status", [RewriteStatus.SKIPPED, RewriteStatus.UNCHANGED])
def test_plan_searches_once_what_was_not_rewritten(status):
    assert plan("GTE-3000 多少钱？", "GTE-3000 多少钱？", status) == [("original", "GTE-3000 多少钱？", 1.0)]


@pytest.mark.parametrize("status", [RewriteStatus.REJECTED, RewriteStatus.FAILED])
def test_plan_searches_the_original_alone_after_a_failure(status):
    assert plan("那它呢？", "那它呢？", status) == [("original", "那它呢？", 1.0)]


def test_plan_searches_the_fallbacks_query_alone_where_it_differs():
    assert plan("那它呢？", "GTE-3000 那它呢？", RewriteStatus.FAILED) == [("rewritten", "GTE-3000 那它呢？", 1.0)]


def test_plan_drops_an_original_that_names_nothing():
    assert [role for role, *_ in plan("那它的保修期呢？", "GTE-3000 的保修期是多久？")] == ["rewritten"]


def test_plan_keeps_an_original_that_carries_a_name():
    found = plan("那《红楼梦》的作者呢？", "《红楼梦》的作者是谁？", original_weight=0.6)
    assert found == [("rewritten", "《红楼梦》的作者是谁？", 1.0), ("original", "那《红楼梦》的作者呢？", 0.6)]


def test_plan_weighs_english_words_by_how_many_the_rewrite_kept():
    kept = plan("What about the warranty period?", "What is the warranty period of the GTE-3000?", talk=TALK_EN)
    lost = plan("What about the warranty period?", "How long is the GTE-3000 under guarantee?", talk=TALK_EN)
    assert kept[1][2] == 0.65
    assert len(lost) == 1


def test_plan_with_dual_never_searches_the_rewrite_alone_even_if_ambiguous():
    assert len(plan("《红楼梦》呢？", "《红楼梦》的作者是谁？", dual="never", ambiguous=True)) == 1


def test_plan_with_dual_always_searches_an_original_that_names_nothing():
    assert plan("那它呢？", "GTE-3000 的保修期？", dual="always", original_weight=0.4)[1] == (
        "original",
        "那它呢？",
        0.4,
    )


def test_plan_gives_both_equal_weight_when_ambiguous():
    assert [weight for *_, weight in plan("那它呢？", "GTE-3000 的保修期？", ambiguous=True)] == [1.0, 1.0]


def test_plan_searches_equal_queries_once():
    assert len(plan("ＧＴＥ-3000 price？", "gte-3000  price?", ambiguous=True)) == 1


def test_plan_obeys_max_queries():
    assert len(plan("《红楼梦》呢？", "《红楼梦》的作者是谁？", max_queries=1)) == 1


def test_plan_survives_a_blank_original():
    assert plan("  ", "GTE-3000", dual="always") == [("rewritten", "GTE-3000", 1.0)]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Price?", "price", True),
        ("价格？", "价格", True),
        ("C++", "C", False),
        ("C#", "C", False),
        ("電影", "电影", True),
        ("？", "！", False),
        ("a b", "ab", False),
    ],
)
def test_query_key_tells_equal_queries(one, other, same):
    assert (query_key(one) == query_key(other)) is same


def test_distinct_keeps_the_first_role_and_the_greatest_weight():
    queries = (PlannedQuery("a", QueryRole.REWRITTEN, 0.5), PlannedQuery("A?", QueryRole.ORIGINAL, 0.9))
    assert distinct(queries) == (PlannedQuery("a", QueryRole.REWRITTEN, 0.9),)


@pytest.mark.parametrize(
    ("message", "worth"),
    [
        ("那它呢？", 0),
        ("是哪年上映的？", 0),
        ("那张艺谋呢？", 1),
        ("《活着》好看吗？", 1),
        ("what about it?", 0),
        ("and the price?", 1),
        ("GTE-3000呢？", 1),
    ],
)
def test_original_worth_tells_words_that_can_be_searched(message, worth):
    assert original_worth(message) == worth


def test_original_worth_is_full_where_no_rewrite_is_needed():
    assert original_worth("那它呢？", TriggerDecision(False, TriggerReason.SELF_CONTAINED, "zh")) == 1


def test_agreement_is_the_share_of_kept_words():
    assert agreement("warranty period", "GTE-3000 warranty") == 0.5
    assert agreement("那它呢", "GTE-3000 的价格") == 1.0


def test_bundles_keep_image_for_all_and_embedding_strings_for_the_first():
    made_for = QueryPlan((PlannedQuery("a", QueryRole.REWRITTEN), PlannedQuery("b", QueryRole.ORIGINAL)))
    template = QueryBundle("a", image_path="cat.png", custom_embedding_strs=["a passage"], embedding=[1.0])
    first, second = bundles(made_for, template)
    assert (first.query_str, first.custom_embedding_strs, first.embedding) == ("a", ["a passage"], [1.0])
    assert (second.query_str, second.embedding_strs, second.embedding) == ("b", ["b"], None)
    assert first.image_path == second.image_path == "cat.png"


def test_is_low_recall_counts_nodes_and_compares_the_best_score():
    settings = RetrievalSettings(low_recall_min_nodes=2, low_recall_min_score=0.5)
    assert is_low_recall([node("a", 0.9)], settings)
    assert is_low_recall([node("a", 0.4), node("b", 0.3)], settings)
    assert not is_low_recall([node("a", 0.6), node("b", None)], settings)
    assert not is_low_recall([node("a"), node("b")], settings)


def test_plan_searches_the_original_on_one_line_without_control_characters():
    rewrite = RewriteResult("its\x1f price\nplease", "the GTE-3000's price", RewriteStatus.REWRITTEN)
    plan = DefaultQueryPlanner(RetrievalSettings(dual="always")).plan(rewrite, window())
    assert [query.text for query in plan.queries] == ["the GTE-3000's price", "its price please"]


def test_plan_says_why():
    def reason(original, query, status=RewriteStatus.REWRITTEN, **options):
        result = RewriteResult(original, query, status, ambiguous=options.pop("ambiguous", False))
        return DefaultQueryPlanner(RetrievalSettings(**options)).plan(result, TALK).reason

    asked, rewrite = "《活着》和它呢？", "《活着》和《兄弟》的作者？"
    assert reason(asked, asked, RewriteStatus.SKIPPED) == "skipped"
    assert reason(asked, rewrite) == "the original is worth 1.00"
    assert reason("那它呢？", rewrite) == "the original is worth 0.00"
    assert reason(asked, rewrite, dual="never") == "dual retrieval is off"
    assert reason(asked, rewrite, dual="always") == "dual retrieval is always on"
    assert reason(asked, rewrite, ambiguous=True) == "ambiguous: both at equal weight"


def test_planner_without_settings_takes_the_defaults():
    assert DefaultQueryPlanner().settings == RetrievalSettings()


def test_distinct_leaves_blank_queries_out_and_never_lowers_a_weight():
    queries = [
        PlannedQuery(" ", QueryRole.REWRITTEN),
        PlannedQuery("a", QueryRole.REWRITTEN, 0.9),
        PlannedQuery("A", QueryRole.ORIGINAL, 0.5),
        PlannedQuery("b", QueryRole.ORIGINAL, 0.5),
    ]
    assert distinct(queries) == (queries[1], queries[3])


def test_bundles_leave_a_templates_embedding_to_its_own_words():
    made_for = QueryPlan((PlannedQuery("a", QueryRole.REWRITTEN),))
    assert [bundle.query_str for bundle in bundles(made_for)] == ["a"]
    assert bundles(made_for, QueryBundle("other", embedding=[1.0]))[0].embedding is None


def test_is_low_recall_at_its_limits():
    settings = RetrievalSettings(low_recall_min_nodes=1, low_recall_min_score=0.5)
    assert is_low_recall([], settings)
    assert not is_low_recall([node("a", 0.5)], settings)
    assert not is_low_recall([node("a", 0.1)], RetrievalSettings())


@pytest.mark.parametrize("title", ["《活着》", "《 活 》", "“活着”", "「活着」", '"活着"'])
def test_original_worth_counts_a_title_or_a_quotation_as_a_name(title):
    assert original_worth(f"那{title}呢？") == 1


def test_agreement_of_an_original_without_content_words_is_full():
    assert agreement("what about it?", "the price of the GTE-3000") == 1.0
    assert agreement("the price", "a warranty") == 0.0


def test_original_worth_of_a_decision_that_asks_for_a_rewrite_is_that_of_the_words():
    needs = TriggerDecision(True, TriggerReason.PRONOUN, "zh")
    assert original_worth("那它呢？", needs) == 0
    assert original_worth("那张艺谋呢？", needs) == 1
