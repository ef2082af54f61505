"""What belongs to the running request alone: the options of its turns and the trace of its last one."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType
from typing import Any

from llama_index_condense_plus.observability.trace import CondenseTrace
from llama_index_condense_plus.turn.conversation import TurnOptions

MAX_TRACES = 16
"""Engines whose last trace one context remembers."""

_numbers = itertools.count()
_NOTHING: Mapping[int, Any] = MappingProxyType({})
_traces: ContextVar[Mapping[int, CondenseTrace]] = ContextVar("condense_plus_last_traces", default=_NOTHING)
_options: ContextVar[Mapping[int, TurnOptions]] = ContextVar("condense_plus_options", default=_NOTHING)


def next_number() -> int:
    """Return a number for a new engine."""
    return next(_numbers)


def options_of(engine: int) -> TurnOptions:
    """Return the options of an engine's turns in this context.

    Args:
        engine: the engine's number.
    """
    return _options.get().get(engine, TurnOptions())


@contextmanager
def with_options(engine: int, options: TurnOptions) -> Iterator[None]:
    """Set the options of an engine's turns inside a ``with`` block, in this context alone."""
    token = _options.set({**_options.get(), engine: options})
    try:
        yield
    finally:
        _options.reset(token)


def last_trace_of(engine: int) -> CondenseTrace | None:
    """Return the trace of an engine's last turn in this context."""
    return _traces.get().get(engine)


def remember(engine: int, trace: CondenseTrace | None) -> None:
    """Keep a trace as an engine's last one in this context."""
    if trace is not None:
        others = [(k, v) for k, v in _traces.get().items() if k != engine][1 - MAX_TRACES :]
        _traces.set(dict([*others, (engine, trace)]))
