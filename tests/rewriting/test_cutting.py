from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llama_index_condense_plus.rewriting.cutting import cut, estimate_tokens, item_name, list_items


def test_estimate_tokens_counts_scripts_apart() -> None:
    assert estimate_tokens("你好，世界") == 5
    assert estimate_tokens("hello worldwide") == 1 + 2
    assert estimate_tokens("2024") == 2
    assert estimate_tokens("") == 0


def test_cut_keeps_every_list_item() -> None:
    text = "三种办法：\n" + "\n".join(f"{n}. 办法{n}" + "说明" * 60 for n in "123")
    shortened = cut(text, 80)
    assert all(f"{n}. 办法{n}" in shortened for n in "123")
    assert "三种办法" in shortened
    assert estimate_tokens(shortened) <= 80


def test_cut_counts_no_megabyte() -> None:
    counted: list[int] = []

    def count(text: str) -> int:
        counted.append(len(text))
        return len(text)

    cut("字" * 1_000_000, 100, count)
    assert max(counted) < 10_000


@given(st.text(max_size=400), st.integers(0, 60))
def test_cut_never_exceeds_its_limit(text: str, limit: int) -> None:
    assert estimate_tokens(cut(text, limit)) <= limit


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("三种办法：\n1. 原路退回\n2. 转到余额\n3. 抵扣租金", ("原路退回", "转到余额", "抵扣租金")),
        ("Options:\n- bank transfer\n- wallet credit", ("bank transfer", "wallet credit")),
        ("一、申请\n二、审批", ("申请", "审批")),
        ("可以：1）现金，2）刷卡。", ("现金", "刷卡")),
        ("①标准版②旗舰版", ("标准版", "旗舰版")),
        ("第一种是月付，第二种是年付。", ("月付", "年付")),
        ("套餐有基础版、标准版和旗舰版。", ("基础版", "标准版", "旗舰版")),
        ("We have Visa, Mastercard and Amex", ("We have Visa", "Mastercard", "Amex")),
        ("A. 流瑜伽 B. 阴瑜伽 C. 空中瑜伽", ("流瑜伽", "阴瑜伽", "空中瑜伽")),
        ("By B. Smith and A. Jones.", ()),
        ("We have Visa, Mastercard, and Amex", ("We have Visa", "Mastercard", "Amex")),
        ("We take Visa, and Amex too", ()),
        ("More than five words are here, two, three and four", ("than five words are here", "two", "three", "four")),
        ("可以首先申请，其次审批，最后付款。", ("申请", "审批", "付款")),
        ("First, apply online. Second, pay. Third, wait.", ("apply online", "pay", "wait")),
        ("| plan | price |\n|---|---|\n| Basic | 9 |\n| Pro | 19 |", ("Basic: 9", "Pro: 19")),
        ("没有列表的一句话。", ()),
        ("", ()),
    ],
)
def test_list_items(text: str, items: tuple[str, ...]) -> None:
    assert list_items(text) == items


def test_a_long_comma_list_without_its_last_word_is_no_series() -> None:
    assert list_items("red green, " * 20_000) == ()  # with backtracking this takes minutes


def test_a_series_ends_where_its_last_name_does() -> None:
    assert list_items("Visa, Mastercard and Amex, by post, by hand") == ("Visa", "Mastercard", "Amex")


@pytest.mark.parametrize(
    ("item", "name"),
    [
        ("Basic: $9 a month", "Basic"),
        ("**Pro** is for teams", "Pro"),
        ("标准版（适合家庭）", "标准版"),
        ("旗舰版是最贵的", "旗舰版"),
    ],
)
def test_item_name_is_the_head_of_an_item(item: str, name: str) -> None:
    assert item_name(item) == name
