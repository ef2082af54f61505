"""What a turn may search, the options of the running request, and the trace of its last turn."""

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

from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.vector_stores.types import FilterCondition, FilterOperator, MetadataFilter, MetadataFilters
from typing_extensions import TypedDict

from llama_index_condense_plus import _compat
from llama_index_condense_plus.errors import ConfigurationError
from llama_index_condense_plus.observability.trace import CondenseTrace
from llama_index_condense_plus.settings import CondensePlusSettings
from llama_index_condense_plus.turn.lock import running_loop

MAX_TRACES = 16
"""Engines whose last trace one context remembers."""
_OPPOSITE = {FilterOperator.EQ: FilterOperator.NE, FilterOperator.IN: FilterOperator.NIN}
_Part = MetadataFilter | MetadataFilters


class Restricting(TypedDict, total=False):
    """The arguments that restrict what is searched."""

    filters: MetadataFilters | None
    """Metadata filters of every query."""
    retriever: BaseRetriever | None
    """A retriever in place of the query engine's own."""


@dataclass(frozen=True)
class Restriction:
    """Limits what is searched; false where it limits nothing."""

    filters: MetadataFilters | None = None
    """Metadata filters of every query."""
    retriever: BaseRetriever | None = None
    """A retriever in place of the query engine's own."""

    def __bool__(self) -> bool:
        return self.filters is not None or self.retriever is not None

    def within(self, outer: Restriction) -> Restriction:
        """Return both restrictions as one: the filters of both hold, the inner retriever searches."""
        return Restriction(conjunction(outer.filters, self.filters), self.retriever or outer.retriever)

    @property
    def is_everything(self) -> bool:
        """True if it says in so many words that everything may be searched: filters that are empty."""
        return self.filters is not None and not self.filters.filters and self.retriever is None

    def covers(self, other: Restriction) -> bool:
        """Return True if what this one lets be searched, the other one does too."""
        own, wanted = (list(_conjuncts(r.filters)) if r.filters is not None else [] for r in (self, other))
        return other.retriever in (None, self.retriever) and all(part in own for part in wanted)

    def retrievers(self, query_engine: BaseQueryEngine, named: Mapping[str, BaseRetriever]) -> dict[str, BaseRetriever]:
        """Return the retrievers of a turn by name, restricted; none for a query engine that shows no retriever.

        Args:
            query_engine: the caller's engine; its own retriever searches where no other is given.
            named: retrievers in place of the query engine's own.

        Raises:
            ConfigurationError: the restriction cannot be applied; the message names the remedy.
        """
        if not _compat.has_retriever(query_engine):
            if self or named:
                raise ConfigurationError(
                    f"{type(query_engine).__name__} has no retriever, so filters=, retriever= and retrievers= cannot "
                    "be applied. Pass RetrieverQueryEngine.from_args(retriever), or from_defaults(retriever=…)."
                )
            return {}
        found = named or {"": _compat.retriever_of(query_engine)}
        if self.retriever is not None:
            found = {"": self.retriever}
        return {name: self._filtered(retriever) for name, retriever in found.items()}

    def _filtered(self, retriever: BaseRetriever) -> BaseRetriever:
        if self.filters is None or not self.filters.filters:
            return retriever
        if with_each := getattr(retriever, "with_each", None):  # a PlanRetriever
            return with_each(self._filtered)  # type: ignore[no-any-return]
        own = _compat.filters_of(retriever)
        return _compat.with_filters(retriever, conjunction(own, self.filters) or self.filters)


def conjunction(*given: MetadataFilters | None) -> MetadataFilters | None:
    """Return filters that hold where all of the given ones do, nested as little as can be: some stores take no nesting.

    Args:
        given: metadata filters, outermost first; None: none.
    """
    stated = [filters for filters in given if filters is not None]
    if not stated or len(stated) == 1:
        return stated[0] if stated else None
    parts: list[_Part] = []
    for part in (part for filters in stated for part in _conjuncts(filters)):
        if part not in parts:
            parts.append(part)
    if len(parts) == 1 and isinstance(parts[0], MetadataFilters):
        return parts[0]
    return MetadataFilters(filters=parts)


def _conjuncts(filters: MetadataFilters) -> Iterator[_Part]:
    """Yield filters that all have to hold where the given ones do."""
    parts, condition = filters.filters, filters.condition or FilterCondition.AND
    flat = [part for part in parts if isinstance(part, MetadataFilter)]
    operators, is_flat = {part.operator for part in flat}, len(flat) == len(parts)
    if condition is FilterCondition.AND or (condition is FilterCondition.OR and len(parts) == 1):
        for part in parts:
            yield from _conjuncts(part) if isinstance(part, MetadataFilters) else (part,)
    elif condition is FilterCondition.OR and is_flat and operators == {FilterOperator.EQ} and _are_alike(flat):
        yield MetadataFilter(key=flat[0].key, value=[part.value for part in flat], operator=FilterOperator.IN)
    elif condition is FilterCondition.NOT and is_flat and operators <= _OPPOSITE.keys():
        for part in flat:
            yield MetadataFilter(key=part.key, value=part.value, operator=_OPPOSITE[part.operator])
    else:
        yield filters


def _are_alike(parts: list[MetadataFilter]) -> bool:
    """Return True for alternatives of one key, all of them texts or all of them numbers."""
    return len({part.key for part in parts}) == len({type(part.value) for part in parts}) == 1


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
