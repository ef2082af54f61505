"""The two drivers of a flow: one performs its operations in threads, the other on an event loop."""

from __future__ import annotations

import asyncio
from concurrent.futures import TimeoutError as FutureTimeoutError
from typing import Any, TypeVar, cast

from llama_index_condense_plus import workers
from llama_index_condense_plus.operations import Flow, Operation
from llama_index_condense_plus.turn.operations import Start, TurnOperation

T = TypeVar("T")


def drive(flow: Flow[T]) -> T:
    """Perform a flow's operations synchronously and return what it returns.

    Args:
        flow: the flow; errors of its operations are thrown into it.

    Raises:
        Exception: what the flow itself raises.
    """
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
    """Perform a flow's operations on the running event loop and return what it returns.

    Args:
        flow: the flow; errors of its operations are thrown into it.

    Raises:
        Exception: what the flow itself raises.
    """
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
        return workers.submit_or_run(operation.operation.run, operation.operation.name)
    operation = cast(TurnOperation[Any], operation)
    if operation.timeout_s is None:
        return operation.run()
    future = workers.submit(operation.run, operation.name)
    try:
        return future.result(operation.timeout_s)
    except FutureTimeoutError:
        if future.done():  # the call itself raised a TimeoutError
            raise
        raise TimeoutError(f"{operation.name} took longer than {operation.timeout_s:g} s") from None


async def _aperform(operation: Operation) -> Any:
    if isinstance(operation, Start):
        return asyncio.create_task(_quietly(operation.operation))
    operation = cast(TurnOperation[Any], operation)
    if operation.timeout_s is None:
        return await operation.arun()
    task = asyncio.create_task(operation.arun())
    try:
        done, _ = await asyncio.wait({task}, timeout=operation.timeout_s)
    except BaseException:
        task.cancel()
        raise
    if not done:
        task.cancel()
        raise TimeoutError(f"{operation.name} took longer than {operation.timeout_s:g} s")
    return task.result()


async def _quietly(operation: TurnOperation[T]) -> T:
    """Run an operation in a task whose error is read by whoever waits for it, or by nobody."""
    task = asyncio.current_task()
    if task is not None:
        task.add_done_callback(lambda done: done.cancelled() or done.exception())
    return await operation.arun()
