from __future__ import annotations

import pytest

from llama_index_condense_plus.rewriting.lists import list_items, split_items


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
        ("没有列表的一句话。", ()),
        ("", ()),
    ],
)
def test_list_items(text: str, items: tuple[str, ...]) -> None:
    assert list_items(text) == items


def test_split_items_keeps_the_prose_around_a_list() -> None:
    assert split_items("Intro:\n1. a\n2. b\nOutro") == ["Intro:", "1. a", "2. b", "Outro"]


def test_split_items_of_prose_is_the_text() -> None:
    assert split_items("no list\nhere") == ["no list\nhere"]


def test_a_long_comma_list_without_its_last_word_is_no_series() -> None:
    assert list_items("red green, " * 20_000) == ()  # with backtracking this takes minutes


def test_a_series_ends_where_its_last_name_does() -> None:
    assert list_items("Visa, Mastercard and Amex, by post, by hand") == ("Visa", "Mastercard", "Amex")
