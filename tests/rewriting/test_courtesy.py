from __future__ import annotations

import pytest

from llama_index_condense_plus.rewriting.courtesy import only_small_talk, without_courtesy


@pytest.mark.parametrize(
    ("message", "question"),
    [
        ("thanks! what about the Heron?", "what about the Heron?"),
        ("Great, thanks! And the Heron?", "And the Heron?"),
        ("Hello. How much is it?", "How much is it?"),
        ("好的谢谢！那紫砂壶呢？", "那紫砂壶呢？"),
        ("明白了，谢谢！医疗保险呢？", "医疗保险呢？"),
        ("Thanks a lot!", "Thanks a lot!"),
        ("谢谢，再见！", "谢谢，再见！"),
        ("No, the second one", "No, the second one"),
        ("The Kestrel, thanks. And the Heron?", "The Kestrel, thanks. And the Heron?"),
    ],
)
def test_without_courtesy_leaves_the_question(message: str, question: str) -> None:
    assert without_courtesy(message) == question


@pytest.mark.parametrize(
    ("message", "question", "only"),
    [
        ("Great, thanks! And the Heron?", "And the Heron?", False),
        ("好的谢谢！那紫砂壶呢？", "那紫砂壶呢？", False),
        ("Yes, the Heron?", "Yes, the Heron?", False),
        ("thanks", "thanks", True),
        ("Thanks!", "Thanks!", True),
        ("哈哈，真的吗", "真的吗", False),
        ("哈哈，真好", "真好", True),
        ("haha nice. ok", "haha nice. ok", True),
        ("the Heron? thanks", "the Heron? thanks", False),
        ("Ok. Thanks. Cool. The price?", "The price?", False),
        ("谢谢。", "谢谢。", True),
        ("不，价格呢", "不，价格呢", False),
        ("Thanks! ...", "Thanks! ...", True),
        ("好的，好的，价格呢", "价格呢", False),
    ],
)
def test_courtesy_before_a_question_and_alone(message: str, question: str, only: bool) -> None:
    assert without_courtesy(message) == question
    assert only_small_talk(message) is only
