"""What a flow yields, and the two drivers that perform it: in this thread, or on an event loop."""

from __future__ import annotations

import asyncio
import inspect
import types
from collections.abc import Awaitable, Callable, Coroutine, Generator
from concurrent.futures import TimeoutError as FutureTimeoutError
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from llama_index.core.async_utils import asyncio_run
from llama_index.core.memory import BaseMemory

from llama_index_condense_plus import workers
from llama_index_condense_plus._compat import memories
from llama_index_condense_plus.operations import Flow, Operation

T = TypeVar("T")

CANCEL_GRACE_S = 10.0
"""How long a cancelled turn waits for the memory to come to the end of what it is doing, in seconds."""
_tasks: set[asyncio.Future[Any]] = set()  # an event loop keeps only weak references


@dataclass(frozen=True)
class Step(Operation):
    """An operation with a synchronous and an asynchronous form; the driver sends back its result."""

    name: str
    """What it is, for errors and threads."""
    run: Callable[[], Any]
    """Performs it in this thread."""
    arun: Callable[[], Awaitable[Any]]
    """Performs it on the running event loop."""
    timeout_s: float | None = None
    is_beside: bool = False
    """True: it runs beside the flow, and the driver sends back its future or task."""


def delegate(flow: Flow[T], perform: Callable[[Operation], Generator[Any, Any, Any]]) -> Generator[Any, Any, T]:
    """Run a flow, each of its operations performed by another generator.

    Args:
        flow: what to run; errors are thrown into it, and it decides what they mean.
        perform: performs one operation and returns its result.
    """
    try:
        operation = next(flow)
        while True:
            try:
                result = yield from perform(operation)
            except Exception as error:  # noqa: BLE001 - the flow decides
                operation = flow.throw(error)
            else:
                operation = flow.send(result)
    except StopIteration as stop:
        return cast(T, stop.value)
    finally:
        flow.close()  # KeyboardInterrupt and CancelledError pass through here too


_awaitable = types.coroutine(delegate)


def drive(flow: Flow[T]) -> T:
    """Perform a flow's operations in this thread and return what it returns."""
    try:
        next(delegate(flow, _perform))
    except StopIteration as stop:
        return cast(T, stop.value)
    raise AssertionError("in this thread nothing is left to wait for")


async def adrive(flow: Flow[T]) -> T:
    """Perform a flow's operations on the running event loop and return what it returns."""
    return cast(T, await _awaitable(flow, lambda operation: _aperform(cast(Step, operation)).__await__()))


def _perform(operation: Operation) -> Generator[Any, Any, Any]:
    yield from ()
    step = cast(Step, operation)
    if step.is_beside:
        return workers.submit_or_run(step.run, step.name)
    if step.timeout_s is None:
        return step.run()
    future = workers.submit(step.run, step.name)
    try:
        return future.result(step.timeout_s)
    except FutureTimeoutError:
        if future.done():  # the call itself raised a TimeoutError
            raise
        raise _late(step) from None


async def _aperform(step: Step) -> Any:
    if step.timeout_s is None and not step.is_beside:
        return await step.arun()
    task = asyncio.ensure_future(_awaited(step.arun()))
    if step.is_beside:
        return keep_alive(task)
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


def keep_alive(task: asyncio.Task[T]) -> asyncio.Task[T]:
    """Return a task that nobody may wait for, kept alive until it ends."""
    _tasks.add(task)
    task.add_done_callback(_tasks.discard)
    task.add_done_callback(_take_note)
    return task


def _take_note(ended: asyncio.Future[Any]) -> None:
    """Take note of an error that nobody may be left to be told of."""
    if not ended.cancelled():
        ended.exception()


async def _awaited(value: Awaitable[T]) -> T:
    return await value


def twin(owner: Any, method: str, *arguments: Any, timeout_s: float | None = None) -> Step:
    """Return the step that calls a method: on an event loop its asynchronous twin, ``aget`` of ``get``.

    Args:
        owner: whose method; where it has one of the two alone, that one is called.
        method: its name.
        *arguments: what it is given.
        timeout_s: deadline in seconds; None: none.
    """

    def run() -> Any:
        result = (getattr(owner, method, None) or getattr(owner, f"a{method}"))(*arguments)
        return asyncio_run(_awaited(result)) if inspect.isawaitable(result) else result

    async def arun() -> Any:
        result = (getattr(owner, f"a{method}", None) or getattr(owner, method))(*arguments)
        return await result if inspect.isawaitable(result) else result

    return Step(method, run, arun, timeout_s)


def call(function: Callable[..., Any], argument: Any, timeout_s: float | None) -> Step:
    """Return the step that calls a user's function, sync or async; a blocking one does not block the event loop."""

    def run() -> Any:
        result = function(argument)
        return asyncio_run(_awaited(result)) if inspect.isawaitable(result) else result

    async def arun() -> Any:
        if inspect.iscoroutinefunction(function):
            return await function(argument)
        result = await in_worker(lambda: function(argument), "rewriter")
        return await result if inspect.isawaitable(result) else result

    return Step("rewriter", run, arun, timeout_s)


async def in_worker(call: Callable[[], T], name: str) -> T:
    """Await a blocking call in a thread of this package."""
    return await asyncio.wrap_future(workers.submit(call, name))


def with_memory(memory: BaseMemory, use: Callable[[], T], ause: Callable[[], Coroutine[Any, Any, T]]) -> Step:
    """Return the step that uses a memory; a cancellation does not cut it in half.

    Args:
        memory: one of LlamaIndex's whose asynchronous side is the blocking one in threads is used in a thread of this
            package, for all threads of the event loop may be waiting for this turn.
        use: uses it in this thread.
        ause: uses it on the running event loop.
    """

    async def beside_loop() -> T:
        try:
            return await in_worker(use, "memory")
        except workers.WorkersExhaustedError:
            return await asyncio.to_thread(use)

    in_threads = memories.is_in_threads(memory)
    return Step("memory", use, lambda: to_its_end(beside_loop() if in_threads else ause()))


async def to_its_end(using_memory: Coroutine[Any, Any, T]) -> T:
    """Await what a memory does; a cancellation comes when it has ended.

    A database driver that is cancelled drops its connection, and LlamaIndex's default memory is lost with it. One that
    hangs is given up after ``CANCEL_GRACE_S``.
    """
    task = asyncio.ensure_future(using_memory)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        task.add_done_callback(_take_note)
        await asyncio.wait({task}, timeout=CANCEL_GRACE_S)
        task.cancel()
        raise
