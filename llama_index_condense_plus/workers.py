"""Daemon threads for calls that run beside the turn, counted and bounded.

A thread pool's threads are joined when the interpreter exits, so that one hung model call would keep the process
alive for ever; these are not. A call that passed its deadline cannot be interrupted: its thread is abandoned, stays
counted in ``live_workers()``, and ends when the call returns.
"""

from __future__ import annotations

import atexit
import contextvars
import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

from llama_index_condense_plus.errors import CondensePlusError

T = TypeVar("T")

MAX_WORKERS = 512
"""Most threads at a time; hung calls beyond it are refused instead of piling up."""
EXIT_GRACE_S = 2.0
"""How long the interpreter's exit waits for turns that are still being stored, in seconds."""

_mutex = threading.Lock()
_live: dict[threading.Thread, bool] = {}  # thread → whether it is a writer


class WorkersExhaustedError(CondensePlusError):
    """``MAX_WORKERS`` calls are running or hung; no further one is started."""


def live_workers() -> int:
    """Return how many threads of this package are alive."""
    with _mutex:
        return len(_live)


def spawn(call: Callable[[], object], name: str, *, is_writer: bool = False) -> threading.Thread:
    """Run a call in a daemon thread, in a copy of the current context.

    Args:
        call: what to run; it must not raise.
        name: what the thread is for.
        is_writer: True: the interpreter's exit waits for it, for at most ``EXIT_GRACE_S``.

    Raises:
        WorkersExhaustedError: there are ``MAX_WORKERS`` already.
    """
    context = contextvars.copy_context()

    def run() -> None:
        try:
            context.run(call)
        finally:
            _forget(thread)

    thread = threading.Thread(target=run, name=f"condense-plus-{name}", daemon=True)
    with _mutex:
        if len(_live) >= MAX_WORKERS:
            raise WorkersExhaustedError(f"{MAX_WORKERS} calls are running or hung; the call {name!r} is not started.")
        _live[thread] = is_writer
    try:
        thread.start()
    except RuntimeError:  # the system has no more threads, or the interpreter is ending
        _forget(thread)
        raise
    return thread


def _forget(thread: threading.Thread) -> None:
    with _mutex:
        _live.pop(thread, None)


def submit(call: Callable[[], T], name: str) -> Future[T]:
    """Run a call in a daemon thread and return its future.

    Raises:
        WorkersExhaustedError: there are ``MAX_WORKERS`` already.
    """
    future: Future[T] = Future()
    spawn(lambda: _perform(call, future), name)
    return future


def submit_or_run(call: Callable[[], T], name: str) -> Future[T]:
    """Run a call in a daemon thread; here and now where there is none to be had. Return its future."""
    try:
        return submit(call, name)
    except (WorkersExhaustedError, RuntimeError):
        future: Future[T] = Future()
        _perform(call, future)
        return future


def _perform(call: Callable[[], T], future: Future[T]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        future.set_result(call())
    except BaseException as error:  # noqa: BLE001 - handed to whoever waits for the future
        future.set_exception(error)


@atexit.register
def _let_writers_finish() -> None:
    deadline = time.monotonic() + EXIT_GRACE_S
    for thread in [thread for thread, is_writer in tuple(_live.items()) if is_writer]:
        thread.join(max(0.0, deadline - time.monotonic()))


def _forget_threads_of_the_parent() -> None:
    """A forked child has none of its parent's threads."""
    global _mutex  # noqa: PLW0603 - the parent's lock may be held by a thread that does not exist here
    _mutex = threading.Lock()
    _live.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_threads_of_the_parent)
