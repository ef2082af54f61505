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


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("他的第一部作品是什么", [("他", 0, "person", 0, False)]),
        ("第一部作品是什么", [("第一部作品", 0, "ordinal", 1, False)]),
        ("最后一个怎么样", [("最后一个", 0, "ordinal", -1, False)]),
        ("前者和后者哪个好", [("前者", 0, "ordinal", 1, False), ("后者", 3, "ordinal", -1, False)]),
        ("第3种呢", [("第3种", 0, "ordinal", 3, False)]),
        ("这几个哪个好", [("这几个", 0, "plural", 0, False)]),
        ("那两位是谁", [("那两位", 0, "plural", 0, False)]),
        ("此人是谁", [("此人", 0, "person", 0, False)]),
        ("这家店在哪", [("这家", 0, "place", 0, False)]),
        ("那家怎么样", [("那家", 0, "place", 0, False)]),
        ("那座多高", [("那座", 0, "place", 0, False)]),
        ("这名叫什么", [("这名", 0, "person", 0, False)]),
        ("那儿有地铁吗", [("那儿", 0, "place", 0, False)]),
        ("当地天气", [("当地", 0, "place", 0, False)]),
        ("这里面有什么", [("这里面", 0, "thing", 0, False)]),
        ("其价格", [("其", 0, "thing", 0, False)]),
        ("其他的呢", []),
        ("the third option costs what", [("the third option", 0, "ordinal", 3, False)]),
        (
            "the former or the latter",
            [("the former", 0, "ordinal", 1, False), ("the latter", 14, "ordinal", -1, False)],
        ),
        ("who knows her?", [("her", 10, "person", 0, False)]),
        ("give her books", [("her", 5, "person", 0, True)]),
        ("is hers good", [("hers", 3, "person", 0, True)]),
        ("are both of them open", [("both of them", 4, "plural", 0, False)]),
        ("how do I get there", [("there", 13, "place", 0, False)]),
        ("is there a bus", []),
        ("there are two", []),
        ("that one is nice", [("that one", 0, "thing", 0, False)]),
        ("this phone is nice", [("this", 0, "thing", 0, False)]),
        ("the same", [("the same", 0, "thing", 0, False)]),
        ("That hotel", [("That", 0, "thing", 0, False)]),
        ("its and their", [("its", 0, "thing", 0, True), ("their", 8, "plural", 0, True)]),
        ("it department of it", [("it", 17, "thing", 0, False)]),
        ("the last one", [("the last one", 0, "ordinal", -1, False)]),
    ],
)
def test_references_have_place_kind_position_and_possession(text: str, found: list[tuple[object, ...]]) -> None:
    assert [(r.text, r.start, r.kind, r.position, r.possessive) for r in find_references(text)] == found


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("第一个呢", ["a", "a", None]),
        ("第二个呢", ["b", None, None]),
        ("最后一个呢", ["c", "a", None]),
        ("the third one", ["c", None, None]),
    ],
)
def test_item_of_counts_in_the_list(text: str, items: list[str | None]) -> None:
    (reference,) = find_references(text)
    assert [reference.item_of(listed) for listed in (("a", "b", "c"), ("a",), ())] == items
