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
from llama_index_condense_plus.retrieval.retriever import PlanRetriever

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
                    f"{type(query_engine).__name__} shows no retriever, so filters=, retriever= and retrievers= cannot "
                    "be applied to it. Give RetrieverQueryEngine.from_args(retriever), or from_defaults(retriever=…)."
                )
            return {}
        found = named or {"": _compat.retriever_of(query_engine)}
        if self.retriever is not None:
            found = {"": self.retriever}
        return {name: self._filtered(retriever) for name, retriever in found.items()}

    def _filtered(self, retriever: BaseRetriever) -> BaseRetriever:
        if self.filters is None or not self.filters.filters:
            return retriever
        if isinstance(retriever, PlanRetriever):
            return retriever.with_each(self._filtered)
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
    operators = {part.operator for part in parts if not isinstance(part, MetadataFilters)}
    if condition is FilterCondition.AND or (condition is FilterCondition.OR and len(parts) == 1):
        for part in parts:
            yield from _conjuncts(part) if isinstance(part, MetadataFilters) else (part,)
    elif condition is FilterCondition.OR and _is_one_of(parts):
        first: MetadataFilter = parts[0]  # type: ignore[assignment]
        values = [part.value for part in parts]  # type: ignore[union-attr]
        yield MetadataFilter(key=first.key, value=values, operator=FilterOperator.IN)
    elif condition is FilterCondition.NOT and operators <= _OPPOSITE.keys() and not _nests(filters):
        for part in parts:
            yield MetadataFilter(key=part.key, value=part.value, operator=_OPPOSITE[part.operator])  # type: ignore[union-attr]
    else:
        yield filters


def _nests(filters: MetadataFilters) -> bool:
    return any(isinstance(part, MetadataFilters) for part in filters.filters)


def _is_one_of(parts: list[_Part]) -> bool:
    """Return True for alternatives of equal kind: one key, compared with texts or with numbers."""
    equal = [p for p in parts if not isinstance(p, MetadataFilters) and p.operator is FilterOperator.EQ]
    kinds = {type(p.value) for p in equal}
    return bool(equal) and len(equal) == len(parts) and len({p.key for p in equal}) == 1 and len(kinds) == 1
