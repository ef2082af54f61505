from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llama_index_condense_plus.rewriting.aliases import AliasTable

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
    assert [(edit.kind, edit.before, edit.after) for edit in edits] == [
        ("alias", "小蓝", "GTE-3000"),
        ("alias", "gw", "Orion Gateway"),
    ]


def test_apply_does_not_expand_what_it_has_put_in() -> None:
    table = AliasTable({"a": "b", "b": "c"})
    assert table.apply("a or b")[0] == "b or c"


@given(st.text(alphabet="小蓝gGwWtTeE-3 0Pro", max_size=40))
def test_apply_is_stable(text: str) -> None:
    once, _ = TABLE.apply(text)
    assert TABLE.apply(once)[0] == once
