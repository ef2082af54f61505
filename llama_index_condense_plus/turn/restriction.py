"""What a turn may search: metadata filters and a retriever, inherited from engine to conversation to turn."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.vector_stores.types import FilterCondition, FilterOperator, MetadataFilter, MetadataFilters
from typing_extensions import TypedDict

from llama_index_condense_plus import _compat
from llama_index_condense_plus.errors import ConfigurationError

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
