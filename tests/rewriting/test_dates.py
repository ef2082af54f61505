"""Which relative time a rewrite turned into a date."""

import pytest

from llama_index_condense_plus.rewriting.dates import resolved_dates
from llama_index_condense_plus.rewriting.review import review_rewrite
from llama_index_condense_plus.types import Edit

HISTORY = [("user", "华为 2024 年的营收是多少？"), ("assistant", "8621 亿元。")]


@pytest.mark.parametrize(
    ("original", "query", "before", "after"),
    [
        ("去年的营收呢？", "华为 2025 年的营收", "去年", "2025 年"),
        ("他下周还会去深圳吗？", "张三 2026年12月7日还会去深圳吗？", "下周", "2026年12月7日"),
        ("上个月呢？", "2026年10月的订单量", "上个月", "2026年10月"),
        ("昨天的日报", "2026-11-29 的日报", "昨天", "2026-11-29"),
        ("下季度的目标是多少？", "2027年第一季度的目标是多少？", "下季度", "2027年第一季度"),
        ("and last year?", "What was Acme's revenue in 2025?", "last year", "2025"),
        ("What about next month?", "on-call schedule for December 2026", "next month", "December 2026"),
        ("is it open tomorrow?", "Is Gale Hut open on 1 December 2026?", "tomorrow", "1 December 2026"),
        ("this week?", "rota for 2026-11-30 and 2026-12-06", "this week", "2026-11-30"),
    ],
)
def test_resolved_dates_names_what_was_resolved(original: str, query: str, before: str, after: str) -> None:
    assert resolved_dates(original, query)[1][0] == Edit("date", before, after)


@pytest.mark.parametrize(
    ("original", "query"),
    [
        ("去年的营收呢？", "华为去年的营收"),  # left as it was
        ("它的价格呢？", "GTE-2000 的价格"),  # no relative time, and no date
        ("2024 年和去年比呢？", "华为 2024 年和前一年的营收对比"),  # the only date was the user's own
        ("and last year?", "How long is the warranty of the X-2025?"),  # a product, not a year
        ("recently?", "version 2024.1 release notes"),
    ],
)
def test_resolved_dates_is_empty_where_none_was(original: str, query: str) -> None:
    assert resolved_dates(original, query) == (query, ())


@pytest.mark.parametrize(
    ("original", "query", "edit"),
    [
        ("那去年的呢？", "华为 2025 年的营收是多少？", Edit("date", "去年", "2025 年")),
        ("今年和前年比呢？", "华为 2026 年和 2024 年的营收比较", Edit("date", "前年", "2024 年")),
        ("上个月的呢？", "华为 2026年10月的营收是多少？", Edit("date", "上个月", "2026年10月")),
    ],
)
def test_review_rewrite_accepts_a_resolved_date_and_reports_it(original: str, query: str, edit: Edit) -> None:
    result = review_rewrite(query, original, HISTORY)
    assert result.query == query
    assert edit in result.attempts[-1].edits


def test_review_rewrite_still_rejects_a_date_that_nobody_asked_for() -> None:
    assert review_rewrite("华为 2019 年的营收是多少？", "净利润呢？", HISTORY).query == "净利润呢？"
