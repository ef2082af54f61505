"""Fakes for the engine's tests: scripted models, retrievers and memories, all in one place."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    CompletionResponse,
    LLMMetadata,
    MessageRole,
)
from llama_index.core.base.response.schema import Response
from llama_index.core.callbacks import CallbackManager
from llama_index.core.llms.llm import LLM
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from pydantic import Field, PrivateAttr

REWRITE_MARKERS = ("standalone", "Standalone", "独立的问题")
"""Words of the rewrite prompts, by which the fake model tells a rewrite call from an answer call."""


class Clock:
    """Seconds that pass only when somebody sleeps."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@dataclass
class Log:
    """The order of operations, safe for threads."""

    entries: list[str] = field(default_factory=list)
    _mutex: threading.Lock = field(default_factory=threading.Lock)

    def add(self, entry: str) -> None:
        with self._mutex:
            self.entries.append(entry)

    def index(self, start: str) -> int:
        return next(i for i, entry in enumerate(self.entries) if entry.startswith(start))


class ScriptedLLM(LLM):
    """A chat model whose rewrites and answers are scripted.

    ``rewrite`` and ``answer`` are a text, an exception to raise, or a function of the messages.
    """

    rewrite: Any = Field(default="")
    answer: Any = Field(default="the answer")
    delay_s: float = 0.0
    rewrite_delay_s: float = 0.0
    token_delay_s: float = 0.0
    fail_after_tokens: int | None = None
    context_window: int = 4096
    model: str = "scripted"
    _calls: list[tuple[str, str]] = PrivateAttr(default_factory=list)
    _messages: list[list[ChatMessage]] = PrivateAttr(default_factory=list)
    _mutex: Any = PrivateAttr(default_factory=threading.Lock)
    log: Any = Field(default=None)

    @property
    def calls(self) -> list[tuple[str, str]]:
        """(kind, prompt) of each call, kind ``rewrite`` or ``answer``."""
        return self._calls

    @property
    def answer_messages(self) -> list[list[ChatMessage]]:
        """The messages of each answer call."""
        return [m for (kind, _), m in zip(self._calls, self._messages, strict=True) if kind == "answer"]

    def count(self, kind: str) -> int:
        return sum(1 for k, _ in self._calls if k == kind)

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(is_chat_model=True, context_window=self.context_window, model_name=self.model)

    def _reply(self, messages: Sequence[ChatMessage]) -> tuple[str, str]:
        prompt = "\n".join(f"{m.role.value}: {m.content}" for m in messages)
        head = "\n".join(str(m.content) for m in messages)
        kind = (
            "rewrite"
            if any(marker in head for marker in REWRITE_MARKERS) and "Context information" not in head
            else "answer"
        )
        with self._mutex:
            self._calls.append((kind, prompt))
            self._messages.append(list(messages))
        if self.log is not None:
            self.log.add(f"{kind} begins")
        script = self.rewrite if kind == "rewrite" else self.answer
        if callable(script) and not isinstance(script, type):
            script = script(messages)
        if isinstance(script, BaseException):
            raise script
        return kind, str(script)

    def _pause(self, kind: str) -> float:
        return self.rewrite_delay_s if kind == "rewrite" and self.rewrite_delay_s else self.delay_s

    def chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        kind, text = self._reply(messages)
        if pause := self._pause(kind):
            time.sleep(pause)
        if self.log is not None:
            self.log.add(f"{kind} ends")
        return ChatResponse(message=ChatMessage(role=MessageRole.ASSISTANT, content=text))

    async def achat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        kind, text = self._reply(messages)
        if pause := self._pause(kind):
            await asyncio.sleep(pause)
        if self.log is not None:
            self.log.add(f"{kind} ends")
        return ChatResponse(message=ChatMessage(role=MessageRole.ASSISTANT, content=text))

    def _parts(self, text: str) -> list[str]:
        words = text.split(" ")
        return [word + (" " if i < len(words) - 1 else "") for i, word in enumerate(words)]

    def stream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> Any:
        _, text = self._reply(messages)

        def parts() -> Any:
            said = ""
            for i, part in enumerate(self._parts(text)):
                if self.fail_after_tokens is not None and i >= self.fail_after_tokens:
                    raise ConnectionError("the stream was cut")
                if self.token_delay_s:
                    time.sleep(self.token_delay_s)
                said += part
                yield ChatResponse(message=ChatMessage(role=MessageRole.ASSISTANT, content=said), delta=part)

        return parts()

    async def astream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> Any:
        _, text = self._reply(messages)

        async def parts() -> Any:
            said = ""
            for i, part in enumerate(self._parts(text)):
                if self.fail_after_tokens is not None and i >= self.fail_after_tokens:
                    raise ConnectionError("the stream was cut")
                await asyncio.sleep(self.token_delay_s)
                said += part
                yield ChatResponse(message=ChatMessage(role=MessageRole.ASSISTANT, content=said), delta=part)

        return parts()

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        return CompletionResponse(text=self.chat([ChatMessage(content=prompt)]).message.content or "")

    async def acomplete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        return CompletionResponse(text=(await self.achat([ChatMessage(content=prompt)])).message.content or "")

    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:
        raise NotImplementedError

    async def astream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:
        raise NotImplementedError


class WordRetriever(BaseRetriever):
    """Ranks texts by the characters they share with the query; notes every query."""

    def __init__(
        self,
        texts: Sequence[str] = (),
        *,
        top_k: int = 2,
        delay_s: float = 0.0,
        fails_on: Callable[[str], bool] = lambda _: False,
        log: Log | None = None,
    ) -> None:
        super().__init__(callback_manager=CallbackManager([]))
        self.nodes = [TextNode(text=text, id_=f"n{i}") for i, text in enumerate(texts)]
        self.similarity_top_k = top_k
        self.delay_s = delay_s
        self.fails_on = fails_on
        self.queries: list[str] = []
        self.log = log

    def _found(self, query: str) -> list[NodeWithScore]:
        self.queries.append(query)
        if self.fails_on(query):
            raise ConnectionError("the store is away")
        wanted = set(query.lower())
        scored = [
            NodeWithScore(node=node, score=len(wanted & set(node.text.lower())) / (len(wanted) or 1))
            for node in self.nodes
        ]
        return sorted(scored, key=lambda n: -(n.score or 0))[: self.similarity_top_k]

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        if self.log is not None:
            self.log.add(f"retrieval begins: {query_bundle.query_str}")
        if self.delay_s:
            time.sleep(self.delay_s)
        return self._found(query_bundle.query_str)

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        if self.log is not None:
            self.log.add(f"retrieval begins: {query_bundle.query_str}")
        await asyncio.sleep(self.delay_s)
        return self._found(query_bundle.query_str)


class RecordingPostprocessor(BaseNodePostprocessor):
    """Notes the queries it is called with and how it is called."""

    _seen: list[tuple[str, str, int]] = PrivateAttr(default_factory=list)

    @property
    def seen(self) -> list[tuple[str, str, int]]:
        """(``sync`` or ``async``, query, number of nodes) of each call."""
        return self._seen

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        self._seen.append(("sync", query_bundle.query_str if query_bundle else "", len(nodes)))
        return nodes

    async def _apostprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        self._seen.append(("async", query_bundle.query_str if query_bundle else "", len(nodes)))
        return nodes


class PlainQueryEngine(BaseQueryEngine):
    """A query engine without a retriever, which cannot stream."""

    def __init__(self, answer: str = "plain answer") -> None:
        super().__init__(callback_manager=CallbackManager([]))
        self.answer = answer
        self.queries: list[str] = []

    def _query(self, query_bundle: QueryBundle) -> Response:
        self.queries.append(query_bundle.query_str)
        return Response(self.answer)

    async def _aquery(self, query_bundle: QueryBundle) -> Response:
        return self._query(query_bundle)

    def _get_prompt_modules(self) -> dict[str, Any]:
        return {}


def query_engine(
    texts: Sequence[str] = ("the GTE-3000 costs 99 euros", "the GTE-3000 has a warranty of two years"),
    *,
    llm: LLM | None = None,
    retriever: BaseRetriever | None = None,
    **kwargs: Any,
) -> RetrieverQueryEngine:
    """Return a query engine over a few texts."""
    return RetrieverQueryEngine.from_args(retriever or WordRetriever(texts), llm=llm or ScriptedLLM(), **kwargs)
