from __future__ import annotations

import pytest

from llama_index_condense_plus.rewriting.noun_phrases import noun_phrases, subject


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
