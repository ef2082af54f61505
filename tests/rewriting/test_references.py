from __future__ import annotations

import pytest

from llama_index_condense_plus.rewriting.references import find_references


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("它多少钱", [("它", "thing")]),
        ("他多大了", [("他", "person")]),
        ("这部电影的导演是谁", [("这部电影", "thing")]),
        ("这位歌手多大", [("这位歌手", "person")]),
        ("这个景点的门票", [("这个景点", "place")]),
        ("那里有什么好玩的", [("那里", "place")]),
        ("它们的区别", [("它们", "plural")]),
        ("这两个的区别", [("这两个", "plural")]),
        ("第二种多久到账", [("第二种", "ordinal")]),
        ("该产品的保修", [("该产品", "thing")]),
        ("那个方案比这个好吗", [("那个方案", "thing"), ("这个", "thing")]),
        ("有其他的吗", []),
        ("吉他怎么学", []),
        ("应该怎么办", []),
        ("他的第一部作品", [("他", "person")]),
        ("how much does it cost", [("it", "thing")]),
        ("what is its price", [("its", "thing")]),
        ("who is her husband", [("her", "person")]),
        ("are they open", [("they", "plural")]),
        ("how long does the second one take", [("the second one", "ordinal")]),
        ("is there a fee", []),
        ("who runs the it department", []),
    ],
)
def test_find_references(text: str, expected: list[tuple[str, str]]) -> None:
    assert [(r.text, r.kind) for r in find_references(text)] == expected


@pytest.mark.parametrize(
    ("text", "position"),
    [("第三个呢", 3), ("前者呢", 1), ("后者呢", -1), ("the latter?", -1), ("the first option?", 1)],
)
def test_find_references_knows_positions(text: str, position: int) -> None:
    assert find_references(text)[0].position == position


def test_find_references_tells_possessives() -> None:
    assert find_references("what is her name")[0].possessive
    assert not find_references("who knows her?")[0].possessive
