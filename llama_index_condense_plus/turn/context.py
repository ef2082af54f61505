"""What belongs to the running request alone: the options of its turns and the trace of its last one."""

from __future__ import annotations

import asyncio
import itertools
import sys
import threading
import weakref
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures.thread import _WorkItem
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from types import MappingProxyType

from llama_index_condense_plus.errors import ConfigurationError
from llama_index_condense_plus.observability.trace import CondenseTrace
from llama_index_condense_plus.turn.conversation import TurnOptions
from llama_index_condense_plus.turn.lock import running_loop

MAX_TRACES = 16
"""Engines whose last trace one context remembers."""


@dataclass(frozen=True, eq=False)
class _Block:
    """One ``with engine.options(…)`` block that has not ended."""

    engine: int
    options: TurnOptions
    thread: int = field(default_factory=threading.get_ident)
    loop: asyncio.AbstractEventLoop | None = field(default_factory=running_loop)

    def is_another_requests(self) -> bool:
        """Return True if this event loop ran other requests when the block began: each task has its own context."""
        return self.loop is not None and self.loop is running_loop()


@dataclass(frozen=True)
class _Remembered:
    trace: CondenseTrace
    task: weakref.ref[_WorkItem[object]] | None


_numbers = itertools.count()
_NOTHING: Mapping[int, _Remembered] = MappingProxyType({})
_traces: ContextVar[Mapping[int, _Remembered]] = ContextVar("condense_plus_last_traces", default=_NOTHING)
_blocks: ContextVar[tuple[_Block, ...]] = ContextVar("condense_plus_options", default=())
_open: set[_Block] = set()
_mutex = threading.Lock()


def next_number() -> int:
    """Return a number for a new engine."""
    return next(_numbers)


def options_of(lineage: Sequence[int], own: TurnOptions) -> TurnOptions:
    """Return the options of a turn: those of every block around it in this context, and its own.

    Args:
        lineage: numbers of the engine and of those that it was made from.
        own: what the turn itself was given.

    Raises:
        ConfigurationError: a block restricts what these engines search, and its context was lost on the way here.
    """
    here = [block for block in _blocks.get() if block.engine in lineage]
    options = own
    for block in reversed(here):
        options = options.within(block.options)
    if not options.restriction:
        with _mutex:
            elsewhere = [block for block in _open if block.engine in lineage and block.options.restriction]
        if not all(block.is_another_requests() for block in elsewhere):
            raise ConfigurationError(
                "options(filters=…, retriever=…) restricts this engine in another context, and this turn does not see "
                "it: a thread or an executor does not inherit the context. Give the turn its own restriction, "
                "chat(message, filters=…, retriever=…), or for_conversation(key, filters=…) and no options(); "
                "asyncio.to_thread() and contextvars.copy_context().run keep the context. A turn that is meant to "
                "search everything says so with filters=MetadataFilters(filters=[])."
            )
    return options


@contextmanager
def with_options(engine: int, options: TurnOptions) -> Iterator[None]:
    """Add options to an engine's turns inside a ``with`` block, in this context alone."""
    block = _Block(engine, options)
    token = _blocks.set((*_blocks.get(), block))
    with _mutex:
        _open.add(block)
    try:
        yield
    finally:
        with _mutex:
            _open.discard(block)
        with suppress(ValueError):  # a generator that another context closes
            _blocks.reset(token)


def last_trace_of(engine: int) -> CondenseTrace | None:
    """Return the trace of an engine's last turn in this context."""
    found = _traces.get().get(engine)
    if found is None or (found.task is not None and _pool_task() not in {None, found.task()}):
        return None
    return found.trace


def remember(engine: int, trace: CondenseTrace | None) -> None:
    """Keep a trace as an engine's last one in this context."""
    if trace is not None:
        task = _pool_task()
        found = _Remembered(trace, weakref.ref(task) if task is not None else None)
        others = [(k, v) for k, v in _traces.get().items() if k != engine][1 - MAX_TRACES :]
        _traces.set(dict([*others, (engine, found)]))


def _pool_task() -> _WorkItem[object] | None:
    """Return what a thread of an executor's pool is working on: its context outlives the request."""
    if threading.current_thread() is threading.main_thread():
        return None
    frame = sys._getframe()
    while frame.f_back is not None:
        frame = frame.f_back
        if frame.f_code is _WorkItem.run.__code__:
            task: _WorkItem[object] = frame.f_locals["self"]
            return task
    return None
