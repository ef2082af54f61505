"""How messages are read: the classes of their words, and which pronouns point out of them."""

from __future__ import annotations

import pytest

from llama_index_condense_plus.lexicons import lexicon_for
from llama_index_condense_plus.rewriting.phrasebook import Phrasebook
from llama_index_condense_plus.rewriting.reading import Reading
from llama_index_condense_plus.rewriting.reading_en import EnglishReader
from llama_index_condense_plus.rewriting.reading_zh import ChineseReader

EN = EnglishReader(
    lexicon_for("en"), Phrasebook({"not_pronoun": ("it department",), "ordinal": ("the first",)}, by_word=True)
)
ZH = ChineseReader(
    lexicon_for("zh"), Phrasebook({"not_pronoun": ("吉他",), "pronoun": ("他", "它", "这里")}, by_word=False)
)


def classes(reading: Reading) -> dict[str, str]:
    return dict(zip(reading.words, reading.classes, strict=True))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("what is the price of Tea", {"what": "q", "the": "f", "price": "a", "tea": "n"}),
        ("Tea is hot", {"tea": "c", "is": "f"}),
        ("So. Tea is hot", {"tea": "c"}),
        ("What Is The Price Of Tea", {"tea": "c", "price": "a"}),
        ('the word "tea" and 3 cups', {"tea": "n", "3": "m", "cup": "c"}),
        ("see https://tea.example/cups today", {"today": "c", "tea.example/cup": "n"}),
        ("GTE-3000 uses api_key", {"gte-3000": "n", "api_key": "n", "use": "c"}),
    ],
)
def test_english_words_have_the_class_of_their_place(text: str, found: dict[str, str]) -> None:
    assert found.items() <= classes(EN.read(text)).items()


@pytest.mark.parametrize(
    ("text", "cues", "opened", "bound"),
    [
        ("does it print", ["pronoun"], 1, 0),
        ("is it possible to print", ["empty_reference"], 0, 0),
        ("it's raining", ["empty_reference"], 0, 0),
        ("who leads the IT department", [], 0, 0),
        ("What is a lease and how does it end?", ["bound_pronoun"], 0, 1),
        ("If a guest is late, can she enter?", ["bound_pronoun"], 0, 1),
        ("I think that works", [], 0, 0),
        ("the hotel that has a pool", [], 0, 0),
        ("those who smoke", [], 0, 0),
        ("what is new this year", [], 0, 0),
        ("the first mount", ["ordinal_of_own"], 0, 0),
        ("It broke. What is a lease?", ["pronoun"], 0, 0),
    ],
)
def test_english_pronouns_point_out_of_the_message_or_not(text: str, cues: list[str], opened: int, bound: int) -> None:
    reading = EN.read(text)
    assert ([cue.name for cue in reading.cues], reading.open_pronouns, reading.bound_pronouns) == (cues, opened, bound)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("价格是多少", {"价格": "a", "是": "f", "多少": "q"}),
        ("《活着》好看吗", {"活着": "n", "《": "x"}),
        ("阿尔·帕西诺是谁", {"阿尔": "n", "帕西诺": "n", "·": "x"}),
        ("2014年的API", {"2014": "m", "api": "n"}),
    ],
)
def test_chinese_words_have_the_class_of_their_place(text: str, found: dict[str, str]) -> None:
    assert found.items() <= classes(ZH.read(text)).items()


@pytest.mark.parametrize(
    ("text", "cues", "opened", "bound"),
    [
        ("它多少钱", ["pronoun"], 1, 0),
        ("他会弹吉他吗", ["pronoun"], 1, 0),
        ("张国荣是谁，他几岁", ["bound_pronoun"], 0, 1),
        ("他的《霸王别姬》几分", ["bound_pronoun"], 0, 1),
        ("我们部门这里几点下班", [], 0, 0),
        ("那么多文件怎么归档", ["empty_reference"], 0, 0),
    ],
)
def test_chinese_pronouns_point_out_of_the_message_or_not(text: str, cues: list[str], opened: int, bound: int) -> None:
    reading = ZH.read(text)
    assert ([cue.name for cue in reading.cues], reading.open_pronouns, reading.bound_pronouns) == (cues, opened, bound)


@pytest.mark.parametrize("reader", [EN, ZH])
def test_readers_remember_no_endless_words(reader: EnglishReader | ChineseReader) -> None:
    reader.read("x" * 4_000)
    assert max(len(word) for word in reader._words) <= 64
