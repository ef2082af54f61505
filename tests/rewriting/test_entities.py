from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llama_index_condense_plus.protocols import EntityExtractor
from llama_index_condense_plus.rewriting.entities import DefaultEntityExtractor

EXTRACTOR = DefaultEntityExtractor()


def names(text: str) -> list[str]:
    return [e.text for e in EXTRACTOR.extract(text) if e.kind not in ("term", "number")]


def test_default_extractor_meets_the_protocol() -> None:
    assert isinstance(EXTRACTOR, EntityExtractor)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("你看过《流浪地球》吗？", "流浪地球"),
        ("请问“无忧套餐”怎么办理", "无忧套餐"),
        ("GTE-3000多少钱", "GTE-3000"),
        ("看一下 config.yaml 里的设置", "config.yaml"),
        ("A方案便宜一些", "A方案"),
        ("你看过活着这部电影吗？", "活着"),
        ("知道马尔科·波罗这个人吗", "马尔科·波罗"),
        ("编剧是尼古拉斯·斯帕克斯的朋友", "尼古拉斯·斯帕克斯"),
        ("宇智波佐助是谁", "宇智波佐助"),
        ("附近有观复博物馆和一家书店", "观复博物馆"),
        ("你对苏州博物馆了解吗", "苏州博物馆"),
        ("主演有岩男润子、松本梨香、大仓正章", "松本梨香"),
        ("Who founded Tesla Motors?", "Tesla Motors"),
        ("I use the Basic plan of Acme Cloud", "Acme Cloud"),
        ("the function read_csv fails", "read_csv"),
        ("la tasca is a nice restaurant", "la tasca"),
        ("Wagamama is in the centre", "Wagamama"),
        ("Tell me about throat cancer.", "throat cancer"),
    ],
)
def test_extract_finds_names(text: str, name: str) -> None:
    assert name in names(text)


@pytest.mark.parametrize(
    "text",
    [
        "知道是谁吗？",
        "你知道电话是多少吗",
        "那它多少钱呢",
        "Why is it so?",
        "What are they?",
        "Thanks, that helps.",
        "",
    ],
)
def test_extract_finds_no_name_where_there_is_none(text: str) -> None:
    assert names(text) == []


def test_extract_calls_common_things_terms() -> None:
    assert [(e.text, e.kind) for e in EXTRACTOR.extract("退货政策是什么")][-1][1] == "term"
    assert ("fuel economy", "term") in [(e.text, e.kind) for e in EXTRACTOR.extract("does it have good fuel economy")]


def test_extract_finds_quantities() -> None:
    assert ("12 kg", "number") in [(e.text, e.kind) for e in EXTRACTOR.extract("it weighs 12 kg")]


@given(st.text(max_size=200))
def test_extract_gives_disjoint_entities_of_the_text_in_order(text: str) -> None:
    found = EXTRACTOR.extract(text)
    assert [e.start for e in found] == sorted(e.start for e in found)
    assert all(e.text.strip() for e in found)


def test_extract_reads_a_megabyte_in_bounded_time() -> None:
    assert len(EXTRACTOR.extract("看过《活着》吗？" + "啊" * 1_000_000)) < 10_000


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("尼古拉斯·斯帕克斯写了什么", [("尼古拉斯·斯帕克斯", "person", 0)]),
        ("张艺谋和李安谁厉害", [("张艺谋", "person", 0), ("李安", "person", 4)]),
        ("北京大学在海淀区", [("北京大学", "organisation", 0), ("海淀区", "place", 5)]),
        ("看过《霸王别姬》和“活着”", [("霸王别姬", "title", 3), ("活着", "quoted", 10)]),
        ("我姓王名小明", [("小明", "person", 4)]),
        ("上海迪士尼乐园", [("上海迪士尼乐园", "organisation", 0)]),
        (
            "Barack Obama met Angela Merkel in Berlin",
            [("Barack Obama", "name", 0), ("Angela Merkel", "name", 17), ("Berlin", "name", 34)],
        ),
        ("the Acme Corp. of New York", [("Acme Corp", "name", 4), ("New York", "name", 18)]),
        ("I like Tom's camelCase api.v2", [("Tom", "name", 7), ("camelCase", "code", 13), ("api.v2", "code", 23)]),
        ("In May, Will Smith will smith", [("Will Smith", "name", 8), ("smith", "term", 24)]),
        ("what is e-mail and Wi-Fi 6?", [("e-mail", "term", 8), ("Wi-Fi 6", "name", 19)]),
        ("The The and A Tribe", [("A Tribe", "name", 12)]),
        ("A方案和套餐B", [("A方案", "name", 0), ("套餐B", "name", 4)]),
        ("iPhone多少钱", [("iPhone", "code", 0)]),  # Chinese is no part of a code
    ],
)
def test_entities_have_kind_and_place(text: str, found: list[tuple[str, str, int]]) -> None:
    assert [(e.text, e.kind, e.start) for e in DefaultEntityExtractor().extract(text)] == found
