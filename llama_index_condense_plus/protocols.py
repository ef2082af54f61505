"""One-method protocols for components of your own."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from typing import Protocol, runtime_checkable

from llama_index.core.schema import NodeWithScore

from llama_index_condense_plus.operations import Flow, Rewritten, RuleOutcome
from llama_index_condense_plus.types import (
    Entity,
    GuardVerdict,
    HistoryWindow,
    QueryPlan,
    RankedList,
    RewriteRequest,
    RewriteResult,
    TriggerDecision,
)


@runtime_checkable
class Trigger(Protocol):
    """Decides whether a message needs a rewrite."""

    def decide(self, message: str, window: HistoryWindow) -> TriggerDecision:
        """Decide on one message; never raises."""


@runtime_checkable
class EntityExtractor(Protocol):
    """Finds names, titles, codes and quantities in a text."""

    def extract(self, text: str) -> list[Entity]:
        """Return the entities in order of position."""


@runtime_checkable
class Rewriter(Protocol):
    """Turns a follow-up into a standalone question.

    A plain function of a ``RewriteRequest`` that returns text, sync or async, is accepted by the engine too.
    """

    name: str

    def rewrite(self, request: RewriteRequest) -> Flow[Rewritten] | RuleOutcome | Awaitable[str | None] | str | None:
        """Return a raw rewrite, or None to decline."""


@runtime_checkable
class Guard(Protocol):
    """Compares a rewrite with the conversation."""

    def check(self, original: str, rewrite: str, window: HistoryWindow) -> list[GuardVerdict]:
        """Return one verdict per measure."""


@runtime_checkable
class QueryPlanner(Protocol):
    """Decides which queries are searched, and with which weight."""

    def plan(self, result: RewriteResult, window: HistoryWindow) -> QueryPlan:
        """Return the plan, never empty."""


class FusionFunction(Protocol):
    """Merges ranked lists into one."""

    def __call__(self, lists: Sequence[RankedList], top_k: int) -> list[NodeWithScore]:
        """Return at most ``top_k`` nodes, best first, as copies."""


@runtime_checkable
class RewriteCache(Protocol):
    """Keeps accepted rewrites; ``aget`` and ``aset`` are used in async turns where they exist."""

    def get(self, key: str) -> str | None:
        """Return the raw rewrite stored under a key, or None."""

    def set(self, key: str, value: str) -> None:
        """Store a raw rewrite."""


class TurnLock(Protocol):
    """Lets one turn of a conversation run at a time."""

    def acquire(self) -> None:
        """Wait in this thread; ConversationBusyError if it takes too long."""

    async def aacquire(self) -> None:
        """Wait without blocking the event loop; ConversationBusyError if it takes too long."""

    def confirm(self) -> None:
        """Raise ConversationBusyError if the lock was lost to another worker."""

    async def aconfirm(self) -> None:
        """Raise ConversationBusyError if the lock was lost to another worker."""

    def release(self) -> None:
        """Let the next turn run; may be called from any thread."""
