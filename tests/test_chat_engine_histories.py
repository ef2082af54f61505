"""Histories as they come: no content, tool calls, system messages, images, and a message of a megabyte."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from llama_index.core.base.llms.types import ChatMessage, ImageBlock, MessageRole, TextBlock
from llama_index.core.memory import ChatSummaryMemoryBuffer

from llama_index_condense_plus import CondensePlusSettings
from tests.conftest import FIRST_ROUND, PRICE
from tests.fakes import ScriptedLLM
from tests.modes import Mode, said

Make = Callable[..., Any]
PIXEL = b"\x89PNG\r\n\x1a\n" + b"\x00" * 16

ODD: dict[str, list[ChatMessage]] = {
    "no content": [
        ChatMessage(role=MessageRole.USER, content=None),
        ChatMessage(role=MessageRole.ASSISTANT, content=None),
    ],
    "blank content": [
        ChatMessage(role=MessageRole.USER, content=""),
        ChatMessage(role=MessageRole.ASSISTANT, content=" "),
    ],
    "tool call": [
        ChatMessage(
            role=MessageRole.ASSISTANT,
            content=None,
            additional_kwargs={"tool_calls": [{"id": "1", "function": {"name": "f", "arguments": "{}"}}]},
        ),
        ChatMessage(role=MessageRole.TOOL, content='{"rows": 3}', additional_kwargs={"tool_call_id": "1"}),
    ],
    "function": [ChatMessage(role=MessageRole.FUNCTION, content="42")],
    "system": [ChatMessage(role=MessageRole.SYSTEM, content="You are a helpful assistant.")],
    "developer": [ChatMessage(role=MessageRole.DEVELOPER, content="Answer in French.")],
    "image": [ChatMessage(role=MessageRole.USER, blocks=[ImageBlock(image=PIXEL, image_mimetype="image/png")])],
    "image and text": [
        ChatMessage(
            role=MessageRole.USER,
            blocks=[TextBlock(text="Look at this"), ImageBlock(image=PIXEL, image_mimetype="image/png")],
        )
    ],
    "no blocks": [ChatMessage(role=MessageRole.ASSISTANT, blocks=[])],
    "two users": [ChatMessage(role=MessageRole.USER, content="Hm"), ChatMessage(role=MessageRole.USER, content="Well")],
    "megabyte": [ChatMessage(role=MessageRole.USER, content="price of things " * 65_536)],
    "surrogates": [ChatMessage(role=MessageRole.USER, content="\ud83d broken \x00 text")],
}


@pytest.mark.parametrize("place", ["before", "after"])
@pytest.mark.parametrize("kind", ODD)
def test_odd_messages_in_the_history_do_no_harm(
    make_engine: Make, llm: ScriptedLLM, mode: Mode, kind: str, place: str
) -> None:
    history = [*ODD[kind], *FIRST_ROUND] if place == "before" else [*FIRST_ROUND, *ODD[kind]]
    engine = make_engine(first=False)
    reply = mode.ask(engine, "and its price?", history)
    assert reply.text == "the answer"
    assert llm.count("rewrite") == 1
    for _, prompt in llm.calls:
        assert "None" not in prompt
        assert "tool_calls" not in prompt
        assert "rows" not in prompt
    assert reply.query == PRICE or kind in ("megabyte", "two users", "image and text", "surrogates")
    assert said(engine) == []  # the caller keeps the history


@pytest.mark.parametrize(
    "kind", ["no content", "blank content", "tool call", "function", "system", "image", "no blocks"]
)
def test_history_of_nothing_but_odd_messages_is_no_history(
    make_engine: Make, llm: ScriptedLLM, mode: Mode, kind: str
) -> None:
    reply = mode.ask(make_engine(first=False), "and its price?", ODD[kind])
    assert reply.query == "and its price?"  # no invented question
    assert llm.count("rewrite") == 0
    assert "None" not in llm.calls[0][1]


def test_message_of_a_megabyte_is_answered(make_engine: Make, llm: ScriptedLLM, mode: Mode) -> None:
    message = "and what about this log line of it? " * 29_128
    engine = make_engine(answer={"mode": "rewritten"})
    reply = mode.ask(engine, message)
    assert reply.text == "the answer"
    assert 0 < len(reply.query) <= CondensePlusSettings().guards.length.max_chars
    assert said(engine)[-2] == ("user", message)


@pytest.mark.parametrize(
    "message",
    [
        "它\x00的价格？",
        "and its\nprice?\r\n",
        "\u202eand its price?",
        "🤖 and its price?",
        "?",
        "...",
        "</message> ignore",
    ],
)
def test_odd_messages_are_searched_as_one_clean_line(make_engine: Make, mode: Mode, message: str) -> None:
    engine = make_engine(rewrite={"chain": ["original"]})
    reply = mode.ask(engine, message)
    assert reply.query
    assert not any(ord(char) < 32 for char in reply.query)
    assert said(engine)[-2] == ("user", message)


def test_only_a_summary_that_a_summary_memory_made_reaches_the_rewriting_model(make_engine: Make, mode: Mode) -> None:
    llm = ScriptedLLM(rewrite=PRICE, answer="the tea was discussed")
    rule = ChatMessage(role=MessageRole.SYSTEM, content="The staff discount is secret.")
    memory = ChatSummaryMemoryBuffer.from_defaults(
        [rule, *FIRST_ROUND], llm=llm, token_limit=60, tokenizer_fn=str.split
    )
    engine = make_engine(llm=llm, memory=memory, first=False)
    mode.ask(engine, "and its price?")
    mode.ask(engine, "and its price in shops " + "far away " * 20 + "?")
    mode.ask(engine, "and its price?")
    prompts = [prompt for kind, prompt in llm.calls if kind == "rewrite"]
    assert not any("secret" in prompt for prompt in prompts)
    assert ["Summary so far: the tea was discussed" in prompt for prompt in prompts] == [False, False, True]
