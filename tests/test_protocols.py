"""The extension points: what comes with the package fits them, and so does the least that a user can write."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from llama_index_condense_plus import (
    FUSION_METHODS,
    CondensePlusEvent,
    CondensePlusSettings,
    EntityExtractor,
    FusionEvent,
    FusionFunction,
    Guard,
    GuardVerdict,
    PlannedQuery,
    QueryPlan,
    QueryPlanEvent,
    QueryPlanner,
    QueryRole,
    RewriteAttempt,
    RewriteCache,
    RewriteEvent,
    Rewriter,
    Trigger,
    TriggerDecision,
    TriggerDecisionEvent,
    TriggerReason,
    TurnEvent,
    TurnProgressEvent,
)
from llama_index_condense_plus.gate.trigger import build_trigger
from llama_index_condense_plus.retrieval.plan import DefaultQueryPlanner
from llama_index_condense_plus.rewriting.cache import InProcessRewriteCache
from llama_index_condense_plus.rewriting.entities import DefaultEntityExtractor
from llama_index_condense_plus.rewriting.llm import ConcatRewriter
from tests.conftest import PRICE
from tests.modes import Mode

SETTINGS = CondensePlusSettings()


@pytest.mark.parametrize(
    ("part", "protocol"),
    [
        (build_trigger(SETTINGS), Trigger),
        (DefaultEntityExtractor(), EntityExtractor),
        (ConcatRewriter(), Rewriter),
        (DefaultQueryPlanner(), QueryPlanner),
        (InProcessRewriteCache(), RewriteCache),
    ],
    ids=lambda value: value.__name__ if isinstance(value, type) else type(value).__name__,
)
def test_built_in_part_fits_its_protocol(part: object, protocol: type) -> None:
    assert isinstance(part, protocol)
    assert not isinstance(object(), protocol)


class Everything:
    """A part for each place, each of one method."""

    name = "own"

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.kept: dict[str, str] = {}

    def decide(self, message: str, window: Any) -> TriggerDecision:
        self.calls.append("decide")
        return TriggerDecision(True, TriggerReason.FORCED, "en")

    def check(self, original: str, rewrite: str, window: Any) -> list[GuardVerdict]:
        self.calls.append("check")
        return [GuardVerdict("own", True)]

    def plan(self, result: Any, window: Any) -> QueryPlan:
        self.calls.append("plan")
        assert isinstance(result.attempts[0], RewriteAttempt)
        return QueryPlan((PlannedQuery(result.query, QueryRole.REWRITTEN), PlannedQuery("price", QueryRole.KEYWORDS)))

    def get(self, key: str) -> str | None:
        self.calls.append("get")
        return self.kept.get(key)

    def set(self, key: str, value: str) -> None:
        self.calls.append("set")
        self.kept[key] = value


def test_engine_uses_parts_of_the_users_own_in_the_order_of_a_turn(
    make_engine: Callable[..., Any], mode: Mode, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = Everything()
    assert isinstance(own, Guard)
    first: FusionFunction = lambda lists, top_k: own.calls.append("fuse") or list(lists[0].nodes)[:top_k]  # noqa: E731
    monkeypatch.setitem(FUSION_METHODS, "first", first)
    engine = make_engine(trigger=own, guards=[own], planner=own, cache=own, fusion={"method": "first"})
    reply = mode.ask(engine, "and its price?")
    assert own.calls == ["decide", "get", "check", "set", "plan", "fuse"]
    assert list(own.kept.values()) == [PRICE]
    assert [query.text for query in reply.response.trace.plan.queries] == [PRICE, "price"]


def test_every_event_of_a_turn_is_of_the_base_class_under_its_own_name() -> None:
    for event in (TriggerDecisionEvent, RewriteEvent, QueryPlanEvent, FusionEvent, TurnEvent, TurnProgressEvent):
        assert issubclass(event, CondensePlusEvent)
        assert event.class_name() == event.__name__
