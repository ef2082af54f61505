from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llama_index_condense_plus import Edit
from llama_index_condense_plus.aliases import AliasTable

TABLE = AliasTable(
    {"小蓝": "GTE-3000", "小蓝 Pro": "GTE-3000 Pro", "gw": "Orion Gateway", "GTE": "GTE-3000", "ＨＲ": "人力资源部"}
)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("小蓝多少钱", "GTE-3000多少钱"),
        ("小蓝 pro多少钱", "GTE-3000 Pro多少钱"),
        ("小藍多少錢", "GTE-3000多少錢"),
        ("restart the GW now", "restart the Orion Gateway now"),
        ("the gwen", "the gwen"),
        ("big-gw", "big-gw"),
        ("GTE-3000多少钱", "GTE-3000多少钱"),
        ("GTE的价格", "GTE-3000的价格"),
        ("小蓝鲸多大", "小蓝鲸多大"),
        ("hr在几楼", "人力资源部在几楼"),
        ("", ""),
    ],
)
def test_apply_expands_whole_words_longest_first(query: str, expected: str) -> None:
    assert TABLE.apply(query)[0] == expected


def test_apply_lists_each_replacement_once() -> None:
    _, edits = TABLE.apply("小蓝和小蓝哪个好，gw呢")
    assert list(edits) == [
        Edit("alias", "小蓝", "GTE-3000"),
        Edit("alias", "gw", "Orion Gateway"),
    ]


@given(st.text(alphabet="小蓝gGwWtTeE-3 0Pro", max_size=40))
def test_apply_is_stable(text: str) -> None:
    once, _ = TABLE.apply(text)
    assert TABLE.apply(once)[0] == once


def test_apply_keeps_places_where_lower_case_is_longer() -> None:
    assert AliasTable({"gw": "Gateway"}).apply("İstanbul gw İ")[0] == "İstanbul Gateway İ"


def test_apply_notes_no_edit_for_a_canonical_name() -> None:
    assert AliasTable({"GTE-3000": "GTE-3000"}).apply("GTE-3000")[1] == ()
    assert AliasTable({" ": "x"}).apply("a b") == ("a b", ())


def test_apply_reads_texts_too_long_to_be_segmented() -> None:
    long = "好" * 20_001
    assert AliasTable({"小蓝": "GTE-3000"}).apply(f"{long}小蓝鲸")[0].endswith("GTE-3000鲸")


@pytest.mark.parametrize(
    ("aliases", "query", "expected"),
    [
        ({"小蓝": "GTE-3000 小蓝"}, "小蓝和GTE-3000 小蓝", "GTE-3000 小蓝和GTE-3000 小蓝"),
        ({"a": "x a y a"}, "x a y a and a", "x a y a and x a y a"),  # wherever the alias stands in its name
        ({"gw": "G"}, "gw_x gw-x x.gw gw.x gw's", "gw_x gw-x x.gw gw.x gw's"),
        ({"gw": "G"}, "a b-gw or gw-b a", "a b-gw or gw-b a"),
        ({"gw": "G"}, "gw' .gw gw.", "G' .G G."),
        ({"Ｇ Ｗ": "G"}, "g w or g\u3000w", "G or G"),
        ({"小蓝": " G "}, "小蓝GW x小蓝x", "GGW xGx"),
        ({"北京": "G"}, "北京大学 在北京 北京市", "北京大学 在G 北京市"),
        ({"ab": "1", "abc": "2"}, "abc ab abcd", "2 1 abcd"),
        ({"小蓝": "G", " 小蓝 ": "H"}, "小蓝", "H"),
        ({"a": ""}, "b a c", "b  c"),
    ],
)
def test_apply_expands_each_alias_where_it_is_a_word(aliases: dict[str, str], query: str, expected: str) -> None:
    assert AliasTable(aliases).apply(query)[0] == expected
