"""New names: what is one, and what only looks new: abbreviations, versions, compounds, dates."""

from __future__ import annotations

import pytest

from llama_index_condense_plus.rewriting.guards import NewEntityGuard
from tests.rewriting.guards.test_single_guards import LIMITS, talk

GUARD = NewEntityGuard(LIMITS)
FILM = talk("看过活着吗？", "看过，张艺谋导演的。")
PHONE = talk(
    "Which phone is good?",
    "The Orion Gateway v2 of the World Health Organization, version 3, WHO, EU rules; state-of-the-art. Bill it.",
)


def named(original: str, rewrite: str, window) -> list[str]:
    (verdict,) = GUARD.check(original, rewrite, window)
    assert verdict.measured is not None
    assert verdict.passed is (verdict.measured == 0)
    names = verdict.detail.removeprefix("nobody mentioned: ").split(", ") if verdict.detail else []
    assert len(names) == verdict.measured
    return names


@pytest.mark.parametrize(
    ("original", "rewrite", "new"),
    [
        ("price?", "price of the Nokia", ["Nokia"]),
        ("price?", "the Weather price", ["Weather"]),
        ("price?", "Weather price", []),  # a common word that begins a sentence
        ("price?", "is it ok. Weather price", []),
        ("price?", "the weather price", []),
        ("price?", "xylotril price", ["xylotril"]),  # a rare word
        ("price?", "xyl price", []),
        ("price?", "X price", []),
        ("price?", "X9 price", ["X9"]),
        ("price?", "price of the WHO phone", []),
        ("price?", "price of the OG phone", []),  # Orion Gateway
        ("price?", "price of the GO phone", []),  # Gateway … Organization
        ("price?", "price of the XQ phone", ["XQ"]),
        ("price?", "price of the European Union phone", []),  # EU
        ("price?", "price of the European Cake phone", ["European", "Cake"]),
        ("price?", "price of v3", []),
        ("price?", "price of v4", ["v4"]),
        ("price of 7?", "price of version7", []),
        ("price?", "is it billable", []),
        ("price?", "price in 2025 for 30 kg", ["2025", "30kg"]),
        ("price last year?", "price in 2025", []),  # a date may be worked out
        ("price last year?", "price in 2025 for 30 kg", ["30kg"]),
        ("price of 25?", "price in 2025?", ["2025"]),
    ],
)
def test_new_entity_names_what_is_new_in_english(original, rewrite, new):
    assert named(original, rewrite, PHONE) == new


@pytest.mark.parametrize(
    ("original", "rewrite", "new"),
    [
        ("导演呢", "陈凯歌导演呢", ["陈凯歌"]),
        ("导演呢", "张艺谋的导演呢", []),
        ("价格呢", "牛奶咖啡价格呢", ["牛奶", "咖啡"]),
        ("怎么洗", "羊毛地毯怎么洗", ["羊毛", "地毯"]),
        ("价格呢", "茶价格呢", []),  # one character is mere wording
        ("价格呢", "咖啡价格呢", ["咖啡"]),  # all that the rewrite adds was said by nobody
        ("价格呢", "维修报销价格呢", ["维修报销"]),
        ("价格呢", "电话号码价格", []),  # attributes name nothing
        ("多大", "公司多大", []),
        ("价格呢", "GTE价格呢", ["GTE"]),
        ("价格呢", "price价格呢", ["price"]),  # any Latin word in Chinese
        ("价格呢", "《兄弟》价格呢", ["兄弟"]),
        ("价格呢", "“兄弟”价格呢", ["兄弟"]),
        ("价格呢", "「兄弟」价格呢", ["兄弟"]),
        ("价格呢", "《红楼梦》和《三国演义》", ["红楼梦", "三国演义"]),
        ("价格呢", "《活着》价格呢", []),
        ("价格呢", "《 活 着 》价格呢", []),
        ("《 活 着 》呢", "《活着》的价格", []),
        ("价格呢", "上海市价格", ["上海市"]),
        ("价格呢", "电脑桌价格", ["电脑桌"]),
        ("去年的营收", "2025年的营收", []),
        ("营收", "2025年的营收", ["2025year"]),
    ],
)
def test_new_entity_names_what_is_new_in_chinese(original, rewrite, new):
    assert named(original, rewrite, FILM) == new


@pytest.mark.parametrize(
    ("said", "rewrite", "new"),
    [("yes 33100", "price of 3310", ["3310"]), ("thirty-three", "price of 33", []), ("GTE-3310", "price of 3310", [])],
)
def test_new_entity_knows_a_number_in_words_and_in_codes(said, rewrite, new):
    assert named("price?", rewrite, talk("which one?", said)) == new


@pytest.mark.parametrize(
    ("said", "rewrite", "new"),
    [
        ("霸王别姬", "《霸王别姬传》的价格", []),  # most of the title was said
        ("霸王别姬", "《霸王别传》的价格", ["别传"]),
        ("大王很明白", "王大明价格", ["王大明"]),  # a name made of known characters
        ("毛毯", "毛毯子价格", []),
        ("毯", "地毯价格", ["地毯"]),
    ],
)
def test_new_entity_compares_a_new_name_with_what_was_said(said, rewrite, new):
    assert named("价格呢", rewrite, talk("嗯", said)) == new


def test_new_entity_names_at_most_six():
    (verdict,) = GUARD.check("price?", "price of Nokia, Sony, Bosch, Fiat, Opel, Seiko, Omega", PHONE)
    assert verdict.detail == "nobody mentioned: Nokia, Sony, Bosch, Fiat, Opel, Seiko"
    assert verdict.measured == 7


def test_new_entity_looks_through_the_whole_conversation():
    long = [f"question {number}" if number % 2 == 0 else f"answer {number}" for number in range(80)]
    long[3] += " Nokia"
    long[70] += " Bosch"
    assert named("price?", "price of Nokia and Bosch and Sony", talk(*long)) == ["Sony"]
