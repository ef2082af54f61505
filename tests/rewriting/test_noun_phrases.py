from __future__ import annotations

import pytest

from llama_index_condense_plus.rewriting.noun_phrases import noun_phrases, said, subject
from llama_index_condense_plus.rewriting.noun_phrases_zh import activity


@pytest.mark.parametrize(
    ("text", "phrases"),
    [
        ("When does the north gate close?", ["north gate"]),
        ("How long does it take to charge the Volta 5 scooter?", ["Volta 5 scooter"]),
        ("Is the swimming pool open on Sundays?", ["swimming pool", "Sundays"]),
        ("What was Northwind Energy's revenue?", ["Northwind Energy", "revenue"]),
        ("星河三号空调的制冷功率是多少？", ["星河三号空调", "制冷功率"]),
        ("新员工的入职流程是怎样的？", ["新员工", "入职流程"]),
        ("路飞和蒙奇·D·龙是什么关系？", ["路飞", "蒙奇·D·龙", "关系"]),
        ("Does the Volta 5 support fast charging?", ["Volta 5", "fast charging"]),
        ("How is the weather in Oslo in May?", ["weather", "Oslo", "May"]),
        ("杭州明天天气怎么样？", ["杭州", "明天", "天气"]),
        ("故宫下周一闭馆吗？", ["故宫", "下周一", "闭馆"]),
        ("华为2023年的营收是多少？", ["华为", "2023年", "营收"]),
        ("高血压的时候能吃海鲜吗？", ["高血压", "海鲜"]),
        ("三一重工的市值多少？", ["三一重工", "市值"]),
        ("Why?", []),
        ("为什么？", []),
    ],
)
def test_noun_phrases_are_found(text: str, phrases: list[str]) -> None:
    assert [phrase.text for phrase in noun_phrases(text)] == phrases


@pytest.mark.parametrize(
    ("text", "about"),
    [
        ("What are the side effects of the flu shot?", "flu shot"),
        ("What documents do I need to rent a van?", "van"),
        ("Who wrote The Glass Orchard?", "The Glass Orchard"),
        ("云台山门票多少钱？", "云台山"),
        ("敦煌的天空营地可以住帐篷吗？", "敦煌的天空营地"),
        ("网课退款政策是什么？", "网课退款政策"),
        ("办理离职需要交接哪些东西？", "离职"),
    ],
)
def test_subject_is_what_a_question_is_about(text: str, about: str) -> None:
    found = subject(text)
    assert found is not None
    assert found.text == about
    assert text[found.start : found.end] == about


def test_subject_of_nothing_is_none() -> None:
    assert subject("Why?") is None


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("GTE-3000的保修期多长", [("GTE-3000", 0, "name", "GTE-3000"), ("保修期", 9, "attribute", "保修期")]),
        ("北京图书馆几点开门", [("北京图书馆", 0, "name", "北京图书馆")]),
        (
            "今天北京的天气",
            [("今天", 0, "time", "今天"), ("北京", 2, "name", "北京"), ("天气", 5, "attribute", "天气")],
        ),
        ("《活着》的作者是谁", [("活着", 1, "name", "活着"), ("作者", 5, "attribute", "作者")]),
        (
            "张三和李四的区别",
            [("张三", 0, "name", "张三"), ("李四", 3, "name", "李四"), ("区别", 6, "attribute", "区别")],
        ),
        ("信用卡年费多少", [("信用卡年费", 0, "name", "信用卡年费")]),
        (
            "the price of the Acme blender",
            [("price", 4, "attribute", "the price"), ("Acme blender", 17, "term", "the Acme blender")],
        ),
        (
            "Does the Volta 5 support fast charging?",
            [("Volta 5", 9, "name", "the Volta 5"), ("fast charging", 25, "term", "fast charging")],
        ),
        (
            "How long does delivery to Norway take?",
            [("delivery", 14, "term", "delivery"), ("Norway", 26, "name", "Norway")],
        ),
        ("a red car in my garage", [("red car", 2, "term", "the red car"), ("garage", 16, "term", "the garage")]),
        ("Is Rome nice?", [("Rome", 3, "name", "Rome")]),
        ("What is its price?", [("price", 12, "attribute", "the price")]),
        ("Who is the old king's wife?", [("king", 15, "term", "king"), ("wife", 22, "attribute", "wife")]),
        ("three big apples a day", [("apples", 10, "term", "apples")]),
        (
            "Is the museum of modern art open?",
            [("museum", 7, "term", "the museum"), ("modern art", 17, "term", "modern art")],
        ),
    ],
)
def test_noun_phrases_have_place_kind_and_article(text: str, found: list[tuple[str, int, str, str]]) -> None:
    assert [(p.text, p.start, p.kind, said(p)) for p in noun_phrases(text)] == found


@pytest.mark.parametrize(
    ("text", "verb"),
    [
        ("办理离职要交接什么", "离职"),
        ("离职要交接什么", "离职"),
        ("怎么退款", "退款"),
        ("走了吗", None),
    ],
)
def test_activity_is_the_verb_a_question_opens_with(text: str, verb: str | None) -> None:
    found = activity(text)
    assert (found and found.text) == verb
