"""Dispatcher events of a turn, in the order in which they are sent."""

from __future__ import annotations

from typing import Any

from llama_index_instrumentation import get_dispatcher
from llama_index_instrumentation.base import BaseEvent
from llama_index_instrumentation.dispatcher import Dispatcher

dispatcher: Dispatcher = get_dispatcher(__name__)


class CondensePlusEvent(BaseEvent):
    """Base of this package's events."""

    turn_id: str

    @classmethod
    def class_name(cls) -> str:
        """Return the name that event handlers see."""
        return cls.__name__


class TurnProgressEvent(CondensePlusEvent):
    """A stage begins that takes time: ``rewriting``, ``searching`` or ``answering``."""

    stage: str


class TriggerDecisionEvent(CondensePlusEvent):
    """The gate has decided; ``decision`` is a ``TriggerDecision``."""

    decision: Any


class RewriteEvent(CondensePlusEvent):
    """The standalone question is ready; ``result`` is a ``RewriteResult`` with all verdicts."""

    result: Any


class QueryPlanEvent(CondensePlusEvent):
    """The queries are planned; ``plan`` is a ``QueryPlan``."""

    plan: Any


class FusionEvent(CondensePlusEvent):
    """The lists are merged; the event holds one entry per list, and the number of merged nodes."""

    retrievals: Any
    n_nodes: int


class TurnEvent(CondensePlusEvent):
    """The turn has an answer or a stream; ``trace`` is a ``CondenseTrace``."""

    trace: Any
