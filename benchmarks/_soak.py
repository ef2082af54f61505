"""What the soak is made of: planned turns, and a model and a retriever that fail when they are told to."""

from __future__ import annotations

import asyncio
import random
import re
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, LLMMetadata, MessageRole
from llama_index.core.llms import MockLLM
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

MODES = ("chat", "achat", "stream_chat", "astream_chat")
FAULTS = {
    "rewrite fails": MODES,
    "rewrite hangs": MODES,
    "search fails": MODES,
    "answer fails": MODES,
    "stream is cut": MODES[2:],
    "reader leaves": MODES[2:],
    "reader is cancelled": MODES[3:],
    "turn is cancelled": MODES[1::2],
}
"""What can go wrong, and in which modes."""
FATAL = frozenset({"search fails", "answer fails", "stream is cut"})
"""Faults that the caller sees; nothing of such a turn may be stored."""
REWRITE_TIMEOUT_S, HANG_S = 2.0, 2.5
REWRITE_MARKS = ("standalone question", "独立的问题")
NAME = re.compile(r"GTX-\d+")
OPENERS = ("Tell me about the {name} of batch {n}.", "{name} 是什么型号？批次 {n}")
FOLLOW_UPS = (
    ("And its price in year {n}?", "What is the price of the {name} in year {n}?"),
    ("它在第 {n} 号门店有货吗？", "{name} 在第 {n} 号门店有货吗？"),
    ("Does the {name} weigh less than {n} grams?", "Does the {name} weigh less than {n} grams?"),
    ("what about the battery, test {n}?", "What about the battery of the {name}, test {n}?"),
)
"""A follow-up and its rewrite."""


@dataclass(frozen=True)
class Planned:
    """One turn as it is to happen."""

    message: str
    rewrite: str
    mode: str
    fault: str = ""


planned_turn: ContextVar[Planned] = ContextVar("planned_turn")
"""What is to happen in this context: model and retriever follow it."""


def plan(name: str, number: int, is_first: bool, fault_rate: float, chance: random.Random) -> Planned:
    """Return a turn about a product, the first of its talk or not, with a fault at the rate given."""
    asked, rewrite = (chance.choice(OPENERS),) * 2 if is_first else chance.choice(FOLLOW_UPS)
    mode, fault = chance.choice(MODES), ""
    if chance.random() < fault_rate:
        fault = chance.choice(tuple(FAULTS))
        mode = chance.choice(FAULTS[fault])
    return Planned(asked.format(name=name, n=number), rewrite.format(name=name, n=number), mode, fault)


class FaultyLLM(MockLLM):
    """Rewrites as planned, answers with every product name of its prompt, and fails when it is to fail."""

    @property
    def metadata(self) -> LLMMetadata:
        """A chat model."""
        return LLMMetadata(is_chat_model=True, context_window=32_000, model_name="faulty")

    def _reply(self, messages: Sequence[ChatMessage]) -> tuple[str, float]:
        """Return what to say, and how long to hang before it."""
        prompt, planned = "\n".join(str(message.content) for message in messages), planned_turn.get()
        if any(mark in prompt for mark in REWRITE_MARKS):
            if planned.fault == "rewrite fails":
                raise ConnectionError("the rewriting model is away")
            return planned.rewrite, HANG_S * (planned.fault == "rewrite hangs")
        if planned.fault == "answer fails":
            raise ConnectionError("the answering model is away")
        return f"{planned.message} : " + " ".join(sorted(set(NAME.findall(prompt)))) + " is what I found .", 0.0

    def _pieces(self, messages: Sequence[ChatMessage]) -> Iterator[ChatResponse]:
        cut = planned_turn.get().fault == "stream is cut"
        for number, word in enumerate(self._reply(messages)[0].split(" ")):
            if number == 2 and cut:
                raise ConnectionError("the stream was cut")
            yield said(f" {word}" if number else word)

    def chat(self, messages: Sequence[ChatMessage], **_: Any) -> ChatResponse:
        """Answer."""
        text, hangs = self._reply(messages)
        time.sleep(hangs)
        return said(text)

    async def achat(self, messages: Sequence[ChatMessage], **_: Any) -> ChatResponse:
        """Answer."""
        text, hangs = self._reply(messages)
        await asyncio.sleep(hangs)
        return said(text)

    def stream_chat(self, messages: Sequence[ChatMessage], **_: Any) -> Iterator[ChatResponse]:
        """Answer in pieces."""
        return self._pieces(messages)

    async def astream_chat(self, messages: Sequence[ChatMessage], **_: Any) -> AsyncIterator[ChatResponse]:
        """Answer in pieces."""

        async def pieces() -> AsyncIterator[ChatResponse]:
            for piece in self._pieces(messages):
                await asyncio.sleep(0)
                yield piece

        return pieces()


def said(text: str) -> ChatResponse:
    """Return a text as a model's response."""
    return ChatResponse(message=ChatMessage(role=MessageRole.ASSISTANT, content=text), delta=text)


class FaultyRetriever(BaseRetriever):
    """Finds a passage about whatever is asked, or fails."""

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        if planned_turn.get().fault == "search fails":
            raise ConnectionError("the vector store is away")
        texts = (f"A passage about: {query_bundle.query_str}", "The documents say more about it elsewhere.")
        return [NodeWithScore(node=TextNode(text=t, id_=f"n{i}"), score=0.9 - i / 10) for i, t in enumerate(texts)]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        await asyncio.sleep(0)
        return self._retrieve(query_bundle)
