"""What the soak is made of: a model, a retriever and readers that fail when they are told to."""

from __future__ import annotations

import asyncio
import contextvars
import random
import re
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, CompletionResponse, LLMMetadata, MessageRole
from llama_index.core.llms.llm import LLM
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

MODES = ("chat", "achat", "stream_chat", "astream_chat")
FAULTS = {
    "rewrite fails": MODES,
    "rewrite hangs": MODES,
    "search fails": MODES,
    "answer fails": MODES,
    "stream is cut": ("stream_chat", "astream_chat"),
    "reader leaves": ("stream_chat", "astream_chat"),
    "reader is cancelled": ("astream_chat",),
    "turn is cancelled": ("achat", "astream_chat"),
}
"""What can go wrong, and in which modes."""
FATAL = frozenset({"search fails", "answer fails", "stream is cut"})
"""Faults that the caller sees; nothing of such a turn may be stored."""
REWRITE_TIMEOUT_S = 2.0
HANG_S = 2.5
REWRITE_MARKS = ("standalone question", "独立的问题")
NAME = re.compile(r"GTX-\d+")
_planned: contextvars.ContextVar[Planned]

OPENERS = ("Tell me about the {name} of batch {n}.", "{name} 是什么型号？批次 {n}")
FOLLOW_UPS = (
    ("And its price in year {n}?", "What is the price of the {name} in year {n}?"),
    ("How long is its warranty, in case {n}?", "How long is the warranty of the {name}, in case {n}?"),
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


_planned = contextvars.ContextVar("planned")


def plan(name: str, number: int, is_first: bool, fault_rate: float, chance: random.Random) -> Planned:
    """Return a turn, in one of the four modes, with a fault at the rate given.

    Args:
        name: the product that the conversation is about; nobody else talks of it.
        number: makes the message one of its kind.
        is_first: nothing was said before.
        fault_rate: share of the turns that go wrong.
        chance: decides.
    """
    asked, rewrite = (chance.choice(OPENERS),) * 2 if is_first else chance.choice(FOLLOW_UPS)
    mode, fault = chance.choice(MODES), ""
    if chance.random() < fault_rate:
        fault = chance.choice(tuple(FAULTS))
        mode = chance.choice(FAULTS[fault])
    return Planned(asked.format(name=name, n=number), rewrite.format(name=name, n=number), mode, fault)


def begin(planned: Planned) -> None:
    """Let model and retriever know, in this context alone, what is to happen."""
    _planned.set(planned)


class FaultyLLM(LLM):
    """Rewrites as planned, answers with every product name of its prompt, and fails when it is to fail."""

    @property
    def metadata(self) -> LLMMetadata:
        """A chat model."""
        return LLMMetadata(is_chat_model=True, context_window=32_000, model_name="faulty")

    def _reply(self, messages: Sequence[ChatMessage]) -> tuple[str, bool]:
        """Return what to say, and whether to hang before it."""
        prompt, planned = "\n".join(str(message.content) for message in messages), _planned.get()
        if any(mark in prompt for mark in REWRITE_MARKS):
            if planned.fault == "rewrite fails":
                raise ConnectionError("the rewriting model is away")
            return planned.rewrite, planned.fault == "rewrite hangs"
        if planned.fault == "answer fails":
            raise ConnectionError("the answering model is away")
        return f"{planned.message} : " + " ".join(sorted(set(NAME.findall(prompt)))) + " is what I found .", False

    def chat(self, messages: Sequence[ChatMessage], **_: Any) -> ChatResponse:
        """Answer."""
        text, hangs = self._reply(messages)
        time.sleep(HANG_S if hangs else 0)
        return ChatResponse(message=ChatMessage(role=MessageRole.ASSISTANT, content=text))

    async def achat(self, messages: Sequence[ChatMessage], **_: Any) -> ChatResponse:
        """Answer."""
        text, hangs = self._reply(messages)
        await asyncio.sleep(HANG_S if hangs else 0)
        return ChatResponse(message=ChatMessage(role=MessageRole.ASSISTANT, content=text))

    def stream_chat(self, messages: Sequence[ChatMessage], **_: Any) -> Iterator[ChatResponse]:
        """Answer in pieces."""
        return map(_piece, _pieces(self._reply(messages)[0], _planned.get().fault))

    async def astream_chat(self, messages: Sequence[ChatMessage], **_: Any) -> AsyncIterator[ChatResponse]:
        """Answer in pieces."""
        text, fault = self._reply(messages)[0], _planned.get().fault

        async def pieces() -> AsyncIterator[ChatResponse]:
            for piece in _pieces(text, fault):
                await asyncio.sleep(0)
                yield _piece(piece)

        return pieces()

    def complete(self, prompt: str, formatted: bool = False, **_: Any) -> CompletionResponse:  # noqa: ARG002
        """Answer."""
        return CompletionResponse(text=self._reply([ChatMessage(content=prompt)])[0])

    async def acomplete(self, prompt: str, formatted: bool = False, **_: Any) -> CompletionResponse:
        """Answer."""
        return self.complete(prompt, formatted)

    def stream_complete(self, prompt: str, formatted: bool = False, **_: Any) -> Any:
        """Not used: the engine chats."""
        raise NotImplementedError

    async def astream_complete(self, prompt: str, formatted: bool = False, **_: Any) -> Any:
        """Not used: the engine chats."""
        raise NotImplementedError


def _pieces(text: str, fault: str) -> Iterator[str]:
    for number, word in enumerate(text.split(" ")):
        if number == 2 and fault == "stream is cut":
            raise ConnectionError("the stream was cut")
        yield f" {word}" if number else word


def _piece(text: str) -> ChatResponse:
    return ChatResponse(message=ChatMessage(role=MessageRole.ASSISTANT, content=text), delta=text)


class FaultyRetriever(BaseRetriever):
    """Finds a passage about whatever is asked, or fails."""

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        if _planned.get().fault == "search fails":
            raise ConnectionError("the vector store is away")
        texts = (f"A passage about: {query_bundle.query_str}", "The documents say more about it elsewhere.")
        return [NodeWithScore(node=TextNode(text=t, id_=f"n{i}"), score=0.9 - i / 10) for i, t in enumerate(texts)]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        await asyncio.sleep(0)
        return self._retrieve(query_bundle)
