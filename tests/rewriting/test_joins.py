"""Joining a topic with a clause that does not say it."""

from __future__ import annotations

import pytest

from llama_index_condense_plus.rewriting.joins import joined


@pytest.mark.parametrize(
    ("topic", "clause", "question"),
    [
        ("GTE-3000", "保修期多长？", "GTE-3000的保修期多长？"),
        ("GTE-3000", "多少钱？", "GTE-3000多少钱？"),
        ("海豹", "怎么充电", "海豹怎么充电"),
        ("海豹", "分红情况", "海豹分红情况"),
        ("Gale Hut", "The price?", "What is the price of Gale Hut?"),
        ("Gale Hut", "the opening hours?", "What are the opening hours of Gale Hut?"),
        ("Gale Hut", "and its status?", "What is the status of Gale Hut?"),
        ("Gale Hut", "how big?", "how big is Gale Hut?"),
        ("Gale Hut", "how much?", "how much for Gale Hut?"),
        ("Gale Hut", "how big", "how big is Gale Hut"),
        ("Gale Hut", "How about the fee?", "What is the fee of Gale Hut?"),
        ("the hut", "What is the price?", "What is the price of the hut?"),
        ("the hut", "is there a discount?", "is there a discount for the hut?"),
        ("the hut", "are there any tickets?", "are there any tickets for the hut?"),
        ("the hut", "do I need a permit", "do I need a permit for the hut"),
        ("the hut", "who pays the fees?", "who pays the fees of the hut?"),
        ("the hut", "what time?", "what time for the hut?"),
    ],
)
def test_joined_reads_as_one_question(topic, clause, question):
    assert joined(topic, clause) == question
