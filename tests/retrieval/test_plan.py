"""The plan: what each outcome of a rewrite searches, who leads, and with which weight."""

from __future__ import annotations

import pytest

from llama_index_condense_plus.retrieval.plan import (
    DefaultQueryPlanner,
    distinct,
    query_key,
    says_something,
    with_joined,
)
from llama_index_condense_plus.settings.sections import RetrievalSettings
from llama_index_condense_plus.types import PlannedQuery, QueryRole, RewriteAttempt, RewriteResult, RewriteStatus, Trust
from tests.retrieval.parts import window

NAMED, NAMELESS, REWRITE = "那《红楼梦》的作者呢？", "那它的作者呢？", "《红楼梦》的作者是谁？"


def plan(original, query, status=RewriteStatus.REWRITTEN, trust=Trust.TRUSTED, *, ambiguous=False, **options):
    result = RewriteResult(original, query, status, ambiguous=ambiguous, trust=trust)
    return DefaultQueryPlanner(RetrievalSettings(**options)).plan(result, window("你好", "你好"))


def queries(*args, **options):
    return [(query.role.value, query.text, query.weight) for query in plan(*args, **options).queries]


@pytest.mark.parametrize("status", [s for s in RewriteStatus if s is not RewriteStatus.REWRITTEN])
def test_the_users_words_are_searched_alone_where_nothing_was_rewritten(status):
    assert queries(NAMED, NAMED, status) == [("original", NAMED, 1.0)]


def test_a_fallbacks_query_is_searched_in_place_of_the_users_words():
    assert queries(NAMELESS, REWRITE, RewriteStatus.FAILED) == [("rewritten", REWRITE, 1.0)]


@pytest.mark.parametrize(
    ("original", "trust", "roles"),
    [
        (NAMED, Trust.TRUSTED, ["rewritten", "original"]),
        (NAMED, Trust.DOUBTED, ["original", "rewritten"]),
        (NAMELESS, Trust.TRUSTED, ["rewritten"]),
        (NAMELESS, Trust.DOUBTED, ["rewritten"]),
        ("And the warranty?", Trust.DOUBTED, ["original", "rewritten"]),
        ("What about it?", Trust.DOUBTED, ["rewritten"]),
    ],
)
def test_trust_and_what_the_original_says_decide_who_leads(original, trust, roles):
    made = plan(original, REWRITE, trust=trust)
    assert [query.role.value for query in made.queries] == roles
    assert {query.trust for query in made.queries if query.role is QueryRole.REWRITTEN} == {trust}
    assert made.reason.startswith(trust.value)


@pytest.mark.parametrize(("confidence", "weight"), [(0.1, 0.4), (0.7, 0.7), (1.0, 1.0), (None, 1.0)])
def test_what_was_carried_over_without_a_model_counts_by_its_confidence(confidence, weight):
    made = RewriteAttempt("rules", REWRITE, REWRITE, confidence=confidence)
    result = RewriteResult(NAMED, REWRITE, RewriteStatus.REWRITTEN, "rules", (made,), trust=Trust.DOUBTED)
    found = DefaultQueryPlanner().plan(result, window()).queries
    assert [(query.role.value, query.weight) for query in found] == [("original", 0.65), ("rewritten", weight)]


def test_weights_follow_the_settings():
    assert queries(NAMED, REWRITE, original_weight=0.6)[1][2] == 0.6
    weights = {"original": 0.7, "rewrite": 0.9}
    assert queries(NAMED, REWRITE, trust=Trust.DOUBTED, doubted_weights=weights) == [
        ("original", NAMED, 0.7),
        ("rewritten", REWRITE, 0.9),
    ]
    assert len(queries(NAMED, REWRITE, original_weight=0)) == 1


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ({"dual": "never", "ambiguous": True}, [("rewritten", 1.0)]),
        ({"dual": "always", "original_weight": 0.4}, [("rewritten", 1.0), ("original", 0.4)]),
        ({"ambiguous": True}, [("rewritten", 1.0), ("original", 1.0)]),
        ({"dual": "always", "max_queries": 1}, [("rewritten", 1.0)]),
    ],
)
def test_an_original_that_says_nothing_is_searched_if_it_is_wanted(options, found):
    assert [(role, weight) for role, _, weight in queries(NAMELESS, REWRITE, **options)] == found


def test_the_original_is_searched_on_one_line_and_not_if_blank():
    assert queries("its\x1f price\nplease", "GTE-3000 price")[1][1] == "its price please"
    assert len(queries("  ", "GTE-3000", dual="always")) == 1
    assert len(queries("ＧＴＥ-3000 price？", "gte-3000  price?", ambiguous=True)) == 1


@pytest.mark.parametrize(
    ("message", "options", "joined"),
    [
        (NAMED, {}, [f"{REWRITE} {NAMED}"]),
        (NAMELESS, {}, []),
        (NAMED, {"joined_weight": 0}, []),
        (NAMED, {"max_queries": 2}, []),
    ],
)
def test_both_wordings_are_also_searched_as_one_query(message, options, joined):
    made = with_joined(plan(message, REWRITE, **options), RetrievalSettings(**options))
    assert [query.text for query in made.queries if query.role is QueryRole.JOINED] == joined


@pytest.mark.parametrize(
    ("message", "says"),
    [
        ("那它呢？", False),
        ("是哪年上映的？", False),
        ("那张艺谋呢？", True),
        ("《活着》好看吗？", True),
        ("那「活着」呢", True),
        ("iPhone 15呢", True),
        ("GTE-3000呢？", True),
        ("what about it?", False),
        ("and the price?", True),
    ],
)
def test_words_say_something_where_they_could_be_searched(message, says):
    assert says_something(message) is says


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Price?", "price", True),
        ("价格？", "价格", True),
        ("C++", "C", False),
        ("電影", "电影", True),
        ("？", "！", False),
        ("a b", "ab", False),
    ],
)
def test_query_key_tells_equal_queries(one, other, same):
    assert (query_key(one) == query_key(other)) is same


def test_distinct_keeps_the_first_role_and_the_greatest_weight():
    given = [PlannedQuery(*each) for each in ((" ", QueryRole.TOPIC), ("a", QueryRole.REWRITTEN, 0.5))]
    again = PlannedQuery("A?", QueryRole.ORIGINAL, 0.9)
    assert distinct([*given, again]) == (PlannedQuery("a", QueryRole.REWRITTEN, 0.9),)
