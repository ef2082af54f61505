"""A model's rephrasings: what it is asked, what of its answer is kept, and which are chosen."""

from __future__ import annotations

import pytest

from llama_index_condense_plus.operations import Predict, Prediction
from llama_index_condense_plus.retrieval.paraphrases import MAX_CHARS, paraphrases, select_diverse
from llama_index_condense_plus.settings.sections import RewriteSettings

ZH, EN = "GTE-3000 的价格是多少", "price of the GTE-3000"


def ask(query: str, answer: str = "", wanted: int = 2) -> tuple[Predict, tuple[str, ...]]:
    """Return what a model was asked, and what was made of its answer."""
    flow = paraphrases(query, wanted, RewriteSettings(max_tokens=100, timeout_s=3.0))
    asked = next(flow)
    with pytest.raises(StopIteration) as stop:
        flow.send(Prediction(answer))
    assert isinstance(asked, Predict)
    return asked, stop.value.value


@pytest.mark.parametrize(("query", "word"), [(ZH, "改写查询"), (EN, "reword")])
def test_paraphrases_ask_in_the_querys_language(query: str, word: str) -> None:
    asked, _ = ask(query)
    system, user = asked.messages
    assert (system.role.value, user.role.value) == ("system", "user")
    assert word in str(system.content)
    assert query in str(user.content)


def test_paraphrases_ask_for_twice_as_many_warmly_and_within_the_deadline() -> None:
    asked, _ = ask(EN, wanted=3)
    assert "Give 6 queries" in str(asked.messages[0].content)
    assert '{"queries": ["' in str(asked.messages[0].content)
    assert asked.options == {"temperature": 0.7, "max_tokens": 200}
    assert asked.timeout_s == 3.0


@pytest.mark.parametrize(
    ("answer", "kept"),
    [
        ('Sure: {"queries": ["GTE-3000 cost", "GTE-3000 fee"]} Done.', {"GTE-3000 cost", "GTE-3000 fee"}),
        ('Here:\n1. "GTE-3000 cost"\n* GTE-3000  fee\nI hope it helps GTE-3000', {"GTE-3000 cost", "GTE-3000 fee"}),
        ("GTE-3000 cost", set()),
        ('{"queries": ["GTE-3000 cost\\u0000\\nplease"]}', {"GTE-3000 cost please"}),
        ('{"queries": ["GTE-3000 cost in 2024", "GTE-4000 price", "weather tomorrow", "GTE-3000 价格", ""]}', set()),
    ],
)
def test_paraphrases_keep_queries_about_the_same(answer: str, kept: set[str]) -> None:
    assert set(ask(EN, answer, wanted=5)[1]) == kept


@pytest.mark.parametrize("length", [MAX_CHARS, MAX_CHARS + 1])
def test_paraphrases_drop_what_is_longer_than_a_query(length: int) -> None:
    text = "price " * 50
    kept = ask(EN, f"- {text[: length - 1]}x")[1]
    assert [len(one) for one in kept] == ([length] if length == MAX_CHARS else [])


def test_paraphrases_of_a_chinese_query_may_share_characters_only() -> None:
    assert ask("退款多久到账", '{"queries": ["退钱几天到账户"]}')[1] == ("退钱几天到账户",)
    assert ask("退款多久到账", '{"queries": ["明天下雨"]}')[1] == ()


def test_paraphrases_keep_no_more_than_wanted() -> None:
    answer = '{"queries": ["GTE-3000 cost", "GTE-3000 fee", "GTE-3000 tariff"]}'
    assert len(ask(EN, answer, wanted=2)[1]) == 2


def test_select_diverse_weighs_nearness_to_the_query_against_distance_from_the_chosen() -> None:
    candidates = ["alpha beta gamma", "alpha delta", "delta epsilon zeta"]
    assert select_diverse("alpha beta", candidates, 3) == [
        "delta epsilon zeta",  # 0.3 · 0 + 1 − 0
        "alpha delta",  # 0.3 · 0.5 + 1 − max(0.5, 0.41)
        "alpha beta gamma",  # 0.3 · 0.82 + 1 − 0.82
    ]


def test_select_diverse_keeps_the_first_of_equal_queries_and_the_order_of_equal_worth() -> None:
    assert select_diverse("query", ["one", "ONE?", "two", "Query?"], 9) == ["one", "two"]
    assert select_diverse("query", ["one", "two"], 1) == ["one"]
    assert select_diverse("query", ["one"], 0) == []
