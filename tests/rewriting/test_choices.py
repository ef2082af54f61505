from __future__ import annotations

import pytest

from llama_index_condense_plus.rewriting.choices import chosen, coordinated, find_superlative, pair_of
from llama_index_condense_plus.types import WindowMessage


def said(*texts: str) -> tuple[WindowMessage, ...]:
    return tuple(WindowMessage(("user", "assistant")[n % 2], text, text) for n, text in enumerate(texts))


PLANS = "- Basic: $9 a month\n- Plus: $19 a month\n- Pro: $49 a month"
TABLE = "| 产品 | 年费 |\n| --- | --- |\n| 安心保 | 260元 |\n| 全家保 | 880元 |\n| 旅途保 | 90元 |"


@pytest.mark.parametrize(
    ("question", "listed", "expected"),
    [
        ("Is the cheapest one enough?", PLANS, "Basic"),
        ("Is the most expensive one enough?", PLANS, "Pro"),
        ("最便宜的那个能退吗？", TABLE, "旅途保"),
        ("最贵的那款能退吗？", TABLE, "全家保"),
        ("Is the heaviest one enough?", PLANS, None),
        ("最安静的那家几点关门？", TABLE, None),
        ("Is the cheapest one enough?", "- Basic: $9\n- Plus: $9", None),
        ("Is the cheapest one enough?", "Basic and Plus.", None),
        ("Is the cheapest one enough?", "- Basic: $9\n- Plus: 3 kg", None),
        ("Is the biggest one enough?", "- Basic: 9 GB\n- Plus: 3 kg", None),
    ],
)
def test_chosen_goes_by_the_numbers(question: str, listed: str, expected: str | None) -> None:
    superlative = find_superlative(question)
    assert superlative is not None
    assert chosen(superlative, said("Which are there?", listed)) == expected


@pytest.mark.parametrize(
    "text", ["Where is the cheapest hotel?", "最便宜的酒店在哪？", "有没有比它更大的？", "最近怎么样？"]
)
def test_find_superlative_leaves_one_with_its_own_noun(text: str) -> None:
    assert find_superlative(text) is None


def test_pair_of_is_what_was_last_named_in_one_breath() -> None:
    assert pair_of(said("Do you offer yoga and pilates?", "Yes, on Mondays.")) == ("yoga", "pilates")
    assert pair_of(said("去千岛湖坐大巴还是自驾好？", "都可以。")) == ("大巴", "自驾")
    assert pair_of(said("Hello", "Tea, coffee and milk are free.")) is None


def test_coordinated_skips_times() -> None:
    assert coordinated("Yoga on Mondays and pilates on Fridays.") is None
