"""What belongs to the running request alone: options of its turns and the trace of its last one."""

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
from llama_index_condense_plus.settings import CondensePlusSettings
from llama_index_condense_plus.turn.lock import running_loop
from llama_index_condense_plus.turn.restriction import Restriction

MAX_TRACES = 16
"""Engines whose last trace one context remembers."""


@dataclass(frozen=True)
class TurnOptions:
    """What ``engine.options(...)`` changes for one turn."""

    rewrite: bool | str | None = None
    """None: the gate decides; False: never; True: always; a text: search this."""
    settings: CondensePlusSettings | None = None
    restriction: Restriction = field(default_factory=Restriction)

    def within(self, outer: TurnOptions) -> TurnOptions:
        """Return both options as one: the inner ones win, restrictions add up."""
        return TurnOptions(
            outer.rewrite if self.rewrite is None else self.rewrite,
            self.settings or outer.settings,
            self.restriction.within(outer.restriction),
        )


@dataclass(frozen=True, eq=False)
class _Block:
    """One ``with engine.options(…)`` block that has not ended."""

    engine: int
    options: TurnOptions
    loop: asyncio.AbstractEventLoop | None = field(default_factory=running_loop)

    def is_another_requests(self) -> bool:
        """Return True for a turn of a task of an event loop that is no child of the block: tasks inherit a context."""
        loop = running_loop()
        return loop is not None and (loop is self.loop or threading.current_thread() is threading.main_thread())


_Remembered = tuple[CondenseTrace, "weakref.ref[_WorkItem[object]] | None"]
"""A trace, and the piece of work of a pool's thread that it belongs to."""
_numbers = itertools.count()
_NOTHING: Mapping[int, _Remembered] = MappingProxyType({})
_traces: ContextVar[Mapping[int, _Remembered]] = ContextVar("condense_plus_last_traces", default=_NOTHING)
_blocks: ContextVar[tuple[_Block, ...]] = ContextVar("condense_plus_options", default=())
_open: set[_Block] = set()
_mutex = threading.Lock()


def next_number() -> int:
    """Return a number for a new engine."""
    return next(_numbers)


def options_of(lineage: Sequence[int], own: TurnOptions, standing: Restriction) -> TurnOptions:
    """Return the options of a turn: those of every block around it in this context, and its own.

    Args:
        lineage: numbers of the engine and of those that it was made from.
        own: what the turn itself was given.
        standing: what holds for every turn of the conversation.

    Raises:
        ConfigurationError: a block restricts what these engines search, and its context was lost on the way here.
    """
    here = [block for block in _blocks.get() if block.engine in lineage]
    options = own
    for block in reversed(here):
        options = options.within(block.options)
    if own.restriction.is_everything or any(block.options.restriction for block in here):
        return options
    stated = own.restriction.within(standing)
    with _mutex:
        elsewhere = [block for block in _open if block.engine in lineage]
    if any(not stated.covers(b.options.restriction) and not b.is_another_requests() for b in elsewhere):
        raise ConfigurationError(
            "options(filters=…, retriever=…) restricts this engine in another context, and this turn does not see it: "
            "a thread or an executor does not inherit the context. Pass the restriction as an argument instead: "
            "chat(message, filters=…, retriever=…) or for_conversation(key, filters=…). asyncio.to_thread() and "
            "contextvars.copy_context().run() keep the context. To search everything, pass "
            "filters=MetadataFilters(filters=[])."
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
    trace, task = _traces.get().get(engine, (None, None))
    return None if task is not None and _pool_task() not in {None, task()} else trace


def remember(engine: int, trace: CondenseTrace | None) -> None:
    """Keep a trace as an engine's last one in this context."""
    if trace is not None:
        task = _pool_task()
        others = [(k, v) for k, v in _traces.get().items() if k != engine][1 - MAX_TRACES :]
        _traces.set(dict([*others, (engine, (trace, weakref.ref(task) if task is not None else None))]))


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
