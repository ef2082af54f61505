"""Parts of the user's own that return nonsense or fail: the turn goes on with ours, and the trace says so."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from llama_index_condense_plus import CondensePlusChatEngine
from tests.fakes import ScriptedLLM
from tests.modes import Mode

Make = Callable[..., CondensePlusChatEngine]
FOLLOW_UP = "and its price?"


def fail(*_: Any) -> Any:
    raise ZeroDivisionError


PARTS: dict[str, dict[str, Any]] = {
    "rewriter returns a number": {"rewriters": {"own": lambda _: 42}, "rewrite": {"chain": ["own", "rules"]}},
    "cache returns a number": {"cache": SimpleNamespace(get=lambda _: 7, set=lambda *_: None)},
    "guard returns nothing": {"guards": [SimpleNamespace(name="own", check=lambda *_: None)]},
    "extractor fails": {"entity_extractor": SimpleNamespace(extract=fail)},
    "extractor returns nonsense": {"entity_extractor": SimpleNamespace(extract=lambda _: [None])},
    "token counter fails": {"count_tokens": fail},
    "token counter is below zero": {"count_tokens": lambda _: -5},
    "trigger returns nothing": {"trigger": SimpleNamespace(decide=lambda *_: None)},
    "planner returns nothing": {"planner": SimpleNamespace(plan=lambda *_: None)},
}


@pytest.mark.parametrize("part", PARTS)
def test_part_of_ones_own_never_ends_the_turn(make_engine: Make, llm: ScriptedLLM, mode: Mode, part: str) -> None:
    reply = mode.ask(make_engine(**PARTS[part]), FOLLOW_UP)
    assert reply.text == "the answer"
    trace = reply.response.trace
    assert any("GTE-3000" in query.text for query in trace.plan.queries)
    assert trace.warnings or trace.rewrite.rewriter != "own"
