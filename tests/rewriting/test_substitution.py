from __future__ import annotations

import pytest

from llama_index_condense_plus.rewriting.fragments import fragment
from llama_index_condense_plus.rewriting.joins import joined
from llama_index_condense_plus.rewriting.substitution import substituted


@pytest.mark.parametrize(
    ("question", "message", "expected"),
    [
        ("When does the north gate close?", "And the south gate?", "When does the south gate close?"),
        ("What was the GDP of Portugal in 2019?", "What about 2021?", "What was the GDP of Portugal in 2021?"),
        ("Can I bring a laptop into the hall?", "A calculator?", "Can I bring a calculator into the hall?"),
        ("How do I cancel a monthly pass?", "What about a yearly one?", "How do I cancel a yearly pass?"),
        ("Who wrote The Quiet Tide?", "Ember Street?", "Who wrote Ember Street?"),
        ("星河空调的制冷功率是多少？", "制热呢？", "星河空调的制热功率是多少？"),
        ("年假一般有几天？", "那病假呢？", "病假一般有几天？"),
        ("大会议室能坐多少人？", "小的呢？", "小会议室能坐多少人？"),
        ("北辰能源2023年营收多少？", "净利润呢？", "北辰能源2023年净利润多少？"),
        ("《长夜》是谁写的？", "《海谣》呢？", "《海谣》是谁写的？"),
        ("Can I rent skis here?", "The deposit?", None),
        ("方案A和方案B哪个好？", "优缺点呢？", None),
    ],
)
def test_substituted_replaces_the_counterpart(question: str, message: str, expected: str | None) -> None:
    new = fragment(message)
    assert new is not None
    assert substituted(question, new) == expected


@pytest.mark.parametrize(
    "message", ["它呢？", "多少钱？", "And how much is it?", "电子版行不行？", "Thanks", "超期了呢？"]
)
def test_fragment_leaves_what_says_more(message: str) -> None:
    assert fragment(message) is None


@pytest.mark.parametrize(
    ("topic", "clause", "expected"),
    [
        ("Gale Hut", "The price?", "What is the price of Gale Hut?"),
        ("the pool", "How deep?", "How deep is the pool?"),
        ("the tent", "What is the price?", "What is the price of the tent?"),
        ("the abbey", "Is there an entrance fee?", "Is there an entrance fee for the abbey?"),
        ("GTE-3000", "保修期多长？", "GTE-3000的保修期多长？"),
        ("绿萝", "怎么浇水？", "绿萝怎么浇水？"),
    ],
)
def test_joined_reads_as_one_question(topic: str, clause: str, expected: str) -> None:
    assert joined(topic, clause) == expected
