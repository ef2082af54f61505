from __future__ import annotations

import pytest

from llama_index_condense_plus.rewriting.courtesy import without_courtesy


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
