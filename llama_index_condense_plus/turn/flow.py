"""What a turn may ask for, and the two drivers that perform it: in this thread, or on an event loop."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from llama_index.core.async_utils import asyncio_run
from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.base.response.schema import AsyncStreamingResponse, Response, StreamingResponse
from llama_index.core.llms.llm import LLM
from llama_index.core.memory import BaseMemory
from llama_index.core.schema import QueryBundle

from llama_index_condense_plus import _compat, workers
from llama_index_condense_plus._compat import memories
from llama_index_condense_plus.operations import Flow, Operation
from llama_index_condense_plus.protocols import RewriteCache, TurnLock
from llama_index_condense_plus.retrieval.parallel import aretrieve

T = TypeVar("T")

CANCEL_GRACE_S = 10.0
"""How long a cancelled turn waits for the memory to come to the end of what it is doing, in seconds."""


@dataclass(frozen=True)
class Step(Operation):
    """An operation with a synchronous and an asynchronous form."""

    name: str
    """What it is, for errors and threads."""
    run: Callable[[], Any]
    """Performs it in this thread."""
    arun: Callable[[], Awaitable[Any]]
    """Performs it on the running event loop."""
    timeout_s: float | None = None
    """Deadline in seconds; None: none."""


@dataclass(frozen=True)
class Start(Operation):
    """Begin a step beside the turn; the driver sends back its future or task."""

    step: Step
    """What to begin."""


def drive(flow: Flow[T]) -> T:
    """Perform a flow's operations synchronously and return what it returns; their errors are thrown into it."""
    try:
        operation = next(flow)
        while True:
            try:
                result = _perform(operation)
            except Exception as error:  # noqa: BLE001 - the flow decides what an error means
                operation = flow.throw(error)
            else:
                operation = flow.send(result)
    except StopIteration as stop:
        return cast(T, stop.value)
    finally:
        flow.close()  # KeyboardInterrupt passes through here too


async def adrive(flow: Flow[T]) -> T:
    """Perform a flow's operations on the running event loop and return what it returns."""
    try:
        operation = next(flow)
        while True:
            try:
                result = await _aperform(operation)
            except Exception as error:  # noqa: BLE001 - the flow decides what an error means
                operation = flow.throw(error)
            else:
                operation = flow.send(result)
    except StopIteration as stop:
        return cast(T, stop.value)
    finally:
        flow.close()  # CancelledError passes through here too


def _perform(operation: Operation) -> Any:
    if isinstance(operation, Start):
        return workers.submit_or_run(operation.step.run, operation.step.name)
    step = cast(Step, operation)
    if step.timeout_s is None:
        return step.run()
    future = workers.submit(step.run, step.name)
    try:
        return future.result(step.timeout_s)
    except FutureTimeoutError:
        if future.done():  # the call itself raised a TimeoutError
            raise
        raise _late(step) from None


async def _aperform(operation: Operation) -> Any:
    if isinstance(operation, Start):
        begun = asyncio.ensure_future(_awaited(operation.step.arun()))
        begun.add_done_callback(lambda done: done.cancelled() or done.exception())  # read by whoever waits, or nobody
        return begun
    step = cast(Step, operation)
    if step.timeout_s is None:
        return await step.arun()
    task = asyncio.ensure_future(_awaited(step.arun()))
    try:
        done, _ = await asyncio.wait({task}, timeout=step.timeout_s)
    except BaseException:
        task.cancel()
        raise
    if not done:
        task.cancel()
        raise _late(step)
    return task.result()


def _late(step: Step) -> TimeoutError:
    return TimeoutError(f"{step.name} took longer than {step.timeout_s:g} s")


async def _awaited(value: Awaitable[T]) -> T:
    return await value


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


def acquire(lock: TurnLock) -> Step:
    """Wait for the conversation's lock."""
    return Step("lock", lock.acquire, lock.aacquire)


def read_history(memory: BaseMemory, message: str) -> Step:
    """Read what the memory gives for a message."""
    return _reading(memory, lambda: memory.get(input=message), lambda: memory.aget(input=message))


def read_all(memory: BaseMemory) -> Step:
    """Read every stored message."""
    return _reading(memory, memory.get_all, memory.aget_all)


def _reading(memory: BaseMemory, read: Callable[[], T], aread: Callable[[], Coroutine[Any, Any, T]]) -> Step:
    in_threads = memories.is_in_threads(memory)
    return Step("memory", read, lambda: to_its_end(beside_loop(read) if in_threads else aread()))


def call(function: Callable[..., Any], argument: Any, timeout_s: float | None) -> Step:
    """Call a user's function, sync or async."""

    def run() -> Any:
        result = function(argument)
        return asyncio_run(_awaited(result)) if inspect.isawaitable(result) else result

    async def arun() -> Any:
        if inspect.iscoroutinefunction(function):
            return await function(argument)
        result = await in_worker(lambda: function(argument), "rewriter")
        return await result if inspect.isawaitable(result) else result

    return Step("rewriter", run, arun, timeout_s)


def wait_for(future: Future[Any], timeout_s: float | None) -> Step:
    """Wait for what another turn is doing."""
    return Step("shared model call", future.result, lambda: asyncio.wrap_future(future), timeout_s)


def use_cache(cache: RewriteCache, method: str, *arguments: str, timeout_s: float | None) -> Step:
    """Call ``get`` or ``set`` of a cache, or its asynchronous twin where it has one."""

    def run() -> Any:
        return getattr(cache, method)(*arguments)

    async def arun() -> Any:
        twin = getattr(cache, f"a{method}", None)
        return await twin(*arguments) if twin else run()

    return Step("cache", run, arun, timeout_s)


def retrieve(retriever: BaseRetriever, bundle: QueryBundle) -> Step:
    """Retrieve for one query, beside whatever else runs."""
    return Step("prefetch", lambda: retriever.retrieve(bundle), lambda: aretrieve(retriever, bundle))


def search(query_engine: Any, bundle: QueryBundle) -> Step:
    """Retrieve and postprocess without an answer."""
    return Step("retrieval", lambda: query_engine.retrieve(bundle), lambda: query_engine.aretrieve(bundle))


def answer(query_engine: BaseQueryEngine, bundle: QueryBundle | str, timeout_s: float | None) -> Step:
    """Retrieve, postprocess and answer through the turn's query engine."""
    return Step("answer", lambda: query_engine.query(bundle), lambda: query_engine.aquery(bundle), timeout_s)


def converse(llm: LLM, messages: Sequence[ChatMessage], *, streaming: bool) -> Step:
    """Reply from the conversation alone, without documents."""
    fitting = _compat.messages_for(llm, messages)

    def run() -> Response | StreamingResponse:
        if streaming:
            return StreamingResponse(part.delta or "" for part in llm.stream_chat(fitting))
        return Response(llm.chat(fitting).message.content)

    async def arun() -> Response | AsyncStreamingResponse:
        if streaming:
            parts = await llm.astream_chat(fitting)
            return AsyncStreamingResponse(part.delta or "" async for part in parts)
        return Response((await llm.achat(fitting)).message.content)

    return Step("answer", run, arun)
