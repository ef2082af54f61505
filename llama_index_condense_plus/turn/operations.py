"""What a turn may ask for: each operation knows how it is performed in a thread and on an event loop."""

from __future__ import annotations

import asyncio
import inspect
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, TypeVar

from llama_index.core.async_utils import asyncio_run
from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.llms.types import ChatMessage, ChatResponse
from llama_index.core.base.response.schema import RESPONSE_TYPE, AsyncStreamingResponse, Response, StreamingResponse
from llama_index.core.llms.llm import LLM
from llama_index.core.memory import BaseMemory
from llama_index.core.prompts.base import BasePromptTemplate
from llama_index.core.schema import NodeWithScore, QueryBundle
from pydantic import BaseModel

from llama_index_condense_plus import _compat, workers
from llama_index_condense_plus._compat import memories
from llama_index_condense_plus.operations import Operation
from llama_index_condense_plus.protocols import RewriteCache, TurnLock
from llama_index_condense_plus.retrieval.parallel import aretrieve

T = TypeVar("T")

CANCEL_GRACE_S = 10.0
"""How long a cancelled turn waits for the memory to come to the end of what it is doing, in seconds."""


async def to_its_end(using_memory: Coroutine[Any, Any, T]) -> T:
    """Await what a memory does; a cancellation does not cut it in half, but comes when it has ended.

    A database driver that is cancelled drops its connection, and LlamaIndex's default memory is lost with it. One that
    hangs is given up after ``CANCEL_GRACE_S``.
    """
    task = asyncio.ensure_future(using_memory)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        task.add_done_callback(lambda ended: ended.cancelled() or ended.exception())  # nobody is left to be told
        await asyncio.wait({task}, timeout=CANCEL_GRACE_S)
        task.cancel()
        raise


async def in_worker(call: Callable[[], T], name: str) -> T:
    """Await a blocking call in a thread of this package."""
    return await asyncio.wrap_future(workers.submit(call, name))


async def beside_loop(using_memory: Callable[[], T]) -> T:
    """Await a memory's blocking call in a thread; not one of the event loop's, for all may be waiting for this turn."""
    try:
        return await in_worker(using_memory, "memory")
    except workers.WorkersExhaustedError:
        return await asyncio.to_thread(using_memory)


@dataclass(frozen=True)
class TurnOperation(Operation, ABC, Generic[T]):
    """An operation with a synchronous and an asynchronous form."""

    name: ClassVar[str] = "operation"
    timeout_s: float | None = field(default=None, kw_only=True)
    """Deadline in seconds; None: none."""

    @abstractmethod
    def run(self) -> T:
        """Perform it in this thread."""

    @abstractmethod
    async def arun(self) -> T:
        """Perform it on the running event loop."""


@dataclass(frozen=True)
class Start(Operation):
    """Begin an operation beside the turn; the driver sends back its future or task."""

    operation: TurnOperation[Any]
    """What to begin."""


@dataclass(frozen=True)
class Acquire(TurnOperation[None]):
    """Wait for the conversation's lock."""

    lock: TurnLock
    name: ClassVar[str] = "lock"

    def run(self) -> None:
        self.lock.acquire()

    async def arun(self) -> None:
        await self.lock.aacquire()


@dataclass(frozen=True)
class ReadHistory(TurnOperation[list[ChatMessage]]):
    """Read what the memory gives for a message."""

    memory: BaseMemory
    message: str
    name: ClassVar[str] = "memory"

    def run(self) -> list[ChatMessage]:
        return self.memory.get(input=self.message)

    async def arun(self) -> list[ChatMessage]:
        if memories.is_in_threads(self.memory):
            return await to_its_end(beside_loop(self.run))
        return await to_its_end(self.memory.aget(input=self.message))


@dataclass(frozen=True)
class ReadAll(TurnOperation[list[ChatMessage]]):
    """Read every stored message."""

    memory: BaseMemory
    name: ClassVar[str] = "memory"

    def run(self) -> list[ChatMessage]:
        return self.memory.get_all()

    async def arun(self) -> list[ChatMessage]:
        if memories.is_in_threads(self.memory):
            return await to_its_end(beside_loop(self.run))
        return await to_its_end(self.memory.aget_all())


@dataclass(frozen=True)
class Chat(TurnOperation[ChatResponse]):
    """Call a model with chat messages, or for structured output."""

    llm: LLM
    messages: Sequence[ChatMessage]
    options: dict[str, Any]
    output_cls: type[BaseModel] | None = None
    name: ClassVar[str] = "model call"

    def run(self) -> ChatResponse:
        return self._model().chat(_compat.messages_for(self.llm, self.messages), **self.options)

    async def arun(self) -> ChatResponse:
        if _compat.blocks_event_loop(self.llm):
            return await in_worker(self.run, self.name)
        return await self._model().achat(_compat.messages_for(self.llm, self.messages), **self.options)

    def _model(self) -> LLM:
        return self.llm.as_structured_llm(self.output_cls) if self.output_cls else self.llm


@dataclass(frozen=True)
class Complete(TurnOperation[str]):
    """Call a model with a prompt template, as the stock engine does."""

    llm: LLM
    prompt: BasePromptTemplate
    arguments: dict[str, Any]
    name: ClassVar[str] = "model call"

    def run(self) -> str:
        return self.llm.predict(self.prompt, **self.arguments)

    async def arun(self) -> str:
        if _compat.blocks_event_loop(self.llm) and self.timeout_s is not None:
            return await in_worker(self.run, self.name)
        return await self.llm.apredict(self.prompt, **self.arguments)


@dataclass(frozen=True)
class Call(TurnOperation[Any]):
    """Call a user's function, sync or async."""

    function: Callable[..., Any]
    argument: Any
    name: ClassVar[str] = "rewriter"

    def run(self) -> Any:
        result = self.function(self.argument)
        return asyncio_run(_awaited(result)) if inspect.isawaitable(result) else result

    async def arun(self) -> Any:
        if inspect.iscoroutinefunction(self.function):
            return await self.function(self.argument)
        result = await in_worker(lambda: self.function(self.argument), self.name)
        return await result if inspect.isawaitable(result) else result


@dataclass(frozen=True)
class WaitFor(TurnOperation[Any]):
    """Wait for what another turn is doing."""

    future: Future[Any]
    name: ClassVar[str] = "shared model call"

    def run(self) -> Any:
        return self.future.result()

    async def arun(self) -> Any:
        return await asyncio.wrap_future(self.future)


@dataclass(frozen=True)
class CacheGet(TurnOperation["str | None"]):
    """Look a rewrite up."""

    cache: RewriteCache
    key: str
    name: ClassVar[str] = "cache"

    def run(self) -> str | None:
        return self.cache.get(self.key)

    async def arun(self) -> str | None:
        twin = getattr(self.cache, "aget", None)
        return await twin(self.key) if twin else self.cache.get(self.key)


@dataclass(frozen=True)
class CacheSet(TurnOperation[None]):
    """Store a rewrite."""

    cache: RewriteCache
    key: str
    value: str
    name: ClassVar[str] = "cache"

    def run(self) -> None:
        self.cache.set(self.key, self.value)

    async def arun(self) -> None:
        twin = getattr(self.cache, "aset", None)
        if twin:
            await twin(self.key, self.value)
        else:
            self.cache.set(self.key, self.value)


@dataclass(frozen=True)
class Retrieve(TurnOperation[list[NodeWithScore]]):
    """Retrieve for one query, beside whatever else runs."""

    retriever: BaseRetriever
    bundle: QueryBundle
    name: ClassVar[str] = "prefetch"

    def run(self) -> list[NodeWithScore]:
        return self.retriever.retrieve(self.bundle)

    async def arun(self) -> list[NodeWithScore]:
        return await aretrieve(self.retriever, self.bundle)


@dataclass(frozen=True)
class Search(TurnOperation[list[NodeWithScore]]):
    """Retrieve and postprocess without an answer."""

    query_engine: BaseQueryEngine
    bundle: QueryBundle
    name: ClassVar[str] = "retrieval"

    def run(self) -> list[NodeWithScore]:
        return self.query_engine.retrieve(self.bundle)

    async def arun(self) -> list[NodeWithScore]:
        return await self.query_engine.aretrieve(self.bundle)  # type: ignore[attr-defined, no-any-return]


@dataclass(frozen=True)
class Answer(TurnOperation[RESPONSE_TYPE]):
    """Retrieve, postprocess and answer through the turn's query engine."""

    query_engine: BaseQueryEngine
    bundle: QueryBundle | str
    name: ClassVar[str] = "answer"

    def run(self) -> RESPONSE_TYPE:
        return self.query_engine.query(self.bundle)

    async def arun(self) -> RESPONSE_TYPE:
        return await self.query_engine.aquery(self.bundle)


async def _awaited(value: Awaitable[T]) -> T:
    return await value


@dataclass(frozen=True)
class Converse(TurnOperation[Any]):
    """Reply from the conversation alone, without documents."""

    llm: LLM
    messages: Sequence[ChatMessage]
    streaming: bool
    name: ClassVar[str] = "answer"

    def run(self) -> Response | StreamingResponse:
        if self.streaming:
            return StreamingResponse(part.delta or "" for part in self.llm.stream_chat(self._fitting()))
        return Response(self.llm.chat(self._fitting()).message.content)

    async def arun(self) -> Response | AsyncStreamingResponse:
        if self.streaming:
            parts = await self.llm.astream_chat(self._fitting())
            return AsyncStreamingResponse(part.delta or "" async for part in parts)
        return Response((await self.llm.achat(self._fitting())).message.content)

    def _fitting(self) -> list[ChatMessage]:
        return _compat.messages_for(self.llm, self.messages)
