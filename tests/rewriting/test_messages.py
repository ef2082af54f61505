from __future__ import annotations

import pytest
from llama_index.core.base.llms.types import ChatMessage, ImageBlock, MessageRole, TextBlock

from llama_index_condense_plus.rewriting.messages import rounds, spoken
from llama_index_condense_plus.types import WindowMessage


def words(*history: ChatMessage | tuple[str, str | None]) -> list[str]:
    return [message.full_text for message in spoken(history)[0] if message]


def test_spoken_takes_chat_messages_and_pairs() -> None:
    history = [ChatMessage(role="user", content="hello"), ("assistant", "hi"), ("chatbot", "again"), ("model", "more")]
    messages, _ = spoken(history)
    assert [(m.role, m.full_text) for m in messages if m] == [
        ("user", "hello"),
        ("assistant", "hi"),
        ("assistant", "again"),
        ("assistant", "more"),
    ]


@pytest.mark.parametrize(
    "message",
    [
        ChatMessage(role=MessageRole.ASSISTANT, content=None),
        ("assistant", None),
        ("assistant", "None"),
        ("assistant", "Empty Response"),
        ("assistant", "  \n "),
        ChatMessage(role=MessageRole.TOOL, content='{"rows": 3}'),
        ChatMessage(role=MessageRole.FUNCTION, content="42"),
        ChatMessage(role=MessageRole.ASSISTANT, content="", additional_kwargs={"tool_calls": [{"id": "1"}]}),
        ChatMessage(role="user", blocks=[ImageBlock(url="http://example.org/a.png")]),
        ("assistant", "<think>only thoughts"),
    ],
)
def test_spoken_leaves_out_what_was_never_said(message: ChatMessage | tuple[str, str | None]) -> None:
    assert words(message) == []


def test_spoken_keeps_the_text_beside_an_image() -> None:
    message = ChatMessage(
        role="user", blocks=[TextBlock(text="what is this?"), ImageBlock(url="http://example.org/a.png")]
    )
    assert words(message) == ["what is this?"]


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        ("<think>hm\nhm</think>Paris.", "Paris."),
        ("Paris [1] is big[2, 3].", "Paris is big."),
        ("巴黎很大【4†source】。", "巴黎很大。"),
        ("use `a[1]` here[1]", "use `a[1]` here"),
        ("![a chart](data:image/png;base64,AAAA) shows it", "a chart shows it"),
        ("a\u200bb\x00c\r\n\r\n\r\nd", "abc\nd"),
    ],
)
def test_spoken_cleans_answers(raw: str, clean: str) -> None:
    assert words(("assistant", raw)) == [clean]


def test_spoken_keeps_brackets_of_the_user() -> None:
    assert words(("user", "what is x[1]?")) == ["what is x[1]?"]


@pytest.mark.parametrize("text", ["You are a helpful assistant.", "你是一个客服机器人。", "Answer in English."])
def test_spoken_drops_system_prompts(text: str) -> None:
    assert spoken([("system", text), ("user", "hi")])[1] == ""


def test_spoken_takes_a_summary_message() -> None:
    _, summary = spoken([("system", "The user asked about the GTE-3000 and its price."), ("user", "hi")])
    assert summary == "The user asked about the GTE-3000 and its price."


@pytest.mark.parametrize("role", ["system", "user"])
def test_spoken_takes_a_memory_block_out_of_any_message(role: str) -> None:
    raw = "<memory>\n<facts>\n  likes tea\n</facts>\n</memory>\nYou are kind."
    messages, summary = spoken([(role, raw)])
    assert summary == "likes tea"
    assert [m.full_text for m in messages if m] == ([] if role == "system" else ["You are kind."])


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        ("<memory>tea", "<memory>tea"),
        ("<memory>tea</memory>hi <memory>", "hi <memory>"),
        ("hi</memory>", "hi</memory>"),
        ("![a](data:x)b ![c](", "ab ![c]("),
        ("![a ![b](u)", "![a b"),
    ],
)
def test_spoken_leaves_what_is_not_closed(raw: str, said: str) -> None:
    assert words(("user", raw)) == [said]


@pytest.mark.parametrize("text", ["# Role\n\nYou are a clerk.", "\n 你是客服。", "## 任务\n请回答"])
def test_spoken_drops_system_prompts_under_a_heading(text: str) -> None:
    assert spoken([("system", text)])[1] == ""


@pytest.mark.parametrize("text", ["# You are here", "They said: you are kind."])
def test_spoken_takes_what_only_mentions_instructions_for_a_summary(text: str) -> None:
    assert spoken([("system", text)])[1] == text


def test_spoken_keeps_positions() -> None:
    messages, _ = spoken([("user", "a"), ("tool", "b"), ("assistant", "c")])
    assert [m is None for m in messages] == [False, True, False]


def test_rounds_begin_at_user_messages() -> None:
    said = [
        WindowMessage(role, text, "")
        for role, text in (("assistant", "0"), ("user", "1"), ("assistant", "2"), ("user", "3"))
    ]
    assert [[m.full_text for m in group] for group in rounds(said)] == [["0"], ["1", "2"], ["3"]]


def test_spoken_joins_summaries_once_each() -> None:
    talk = [("system", "They spoke of tea."), ("user", "<memory>a</memory>hi"), ("system", "They spoke of tea.")]
    messages, summary = spoken(talk)
    assert summary == "They spoke of tea.\na"
    assert [m and m.full_text for m in messages] == [None, "hi", None]


@pytest.mark.parametrize(
    ("role", "raw", "clean"),
    [
        ("user", "none", ["none"]),
        ("assistant", "NONE", []),
        ("assistant", "None of them.", ["None of them."]),
        ("user", "a <b> c", ["a <b> c"]),
        ("assistant", "x <think>y</think>  z", ["x z"]),
        ("assistant", "Paris[^1] [citation: 2] <sup>[3]</sup>!", ["Paris!"]),
        ("assistant", "see [1](http://example.org)", ["see [1](http://example.org)"]),
        ("assistant", "```\na[1]\n```b[1]", ["```\na[1]\n```b"]),
        ("user", "![](data:image/png;base64,AA)", []),
        ("human", "hi", ["hi"]),
        ("AI", "hi", ["hi"]),
        ("developer", "You are kind.", []),
        ("function", "hi", []),
        ("user", 3, []),
    ],
)
def test_spoken_reads_every_kind_of_message(role: str, raw: str, clean: list[str]) -> None:
    assert words((role, raw)) == clean
