"""Our events in the spans of OpenInference; in part skipped without it, see ``make test-openinference``."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from llama_index.core.instrumentation import get_dispatcher

from llama_index_condense_plus import CondensePlusChatEngine
from llama_index_condense_plus.observability.events import FusionEvent, RewriteEvent, TriggerDecisionEvent, TurnEvent
from llama_index_condense_plus.observability.span_events import attributes_of, recorded_in_spans
from tests.conftest import PRICE
from tests.modes import Mode
from tests.observability.turn_events import TURN_EVENTS


def test_attributes_are_flat_and_hold_no_passages(
    mode: Mode, make_engine: Callable[..., CondensePlusChatEngine], events: Any
) -> None:
    mode.ask(make_engine(), "and its price?")
    found = {type(event): attributes_of(event) for event in events if type(event).__module__.endswith(".events")}
    assert found[TriggerDecisionEvent]["decision.reason"] == "pronoun"
    assert found[RewriteEvent]["result.query"] == PRICE
    assert '"guard": ' in str(found[RewriteEvent]["result.verdicts"])
    assert str(found[FusionEvent]["retrievals"]).startswith('["rewritten: ')
    assert found[TurnEvent]["search_query"] == PRICE
    assert all(isinstance(value, (str, bool, int, float)) for values in found.values() for value in values.values())


@pytest.fixture
def exported() -> Iterator[Callable[[], list[Any]]]:
    """Trace with OpenInference into memory; the function returns the finished spans."""
    openinference = pytest.importorskip("openinference.instrumentation.llama_index")
    sdk = importlib.import_module("opentelemetry.sdk.trace")
    export = importlib.import_module("opentelemetry.sdk.trace.export")
    memory = importlib.import_module("opentelemetry.sdk.trace.export.in_memory_span_exporter").InMemorySpanExporter()
    provider = sdk.TracerProvider()
    provider.add_span_processor(export.SimpleSpanProcessor(memory))
    instrumentor = openinference.LlamaIndexInstrumentor()
    instrumentor.instrument(tracer_provider=provider)
    try:
        with recorded_in_spans():
            yield memory.get_finished_spans
    finally:
        instrumentor.uninstrument()


def test_events_arrive_in_order_in_the_span_of_the_turn(
    mode: Mode, make_engine: Callable[..., CondensePlusChatEngine], exported: Callable[[], list[Any]]
) -> None:
    mode.ask(make_engine(), "and its price?")
    (turn,) = [span for span in exported() if span.name == f"CondensePlusChatEngine.{mode.name}"]
    assert [event.name for event in turn.events] == TURN_EVENTS
    assert len({event.attributes["turn_id"] for event in turn.events}) == 1
    assert next(e for e in turn.events if e.name == "RewriteEvent").attributes["result.query"] == PRICE


def test_llama_index_nests_its_spans_in_the_turn(
    mode: Mode, make_engine: Callable[..., CondensePlusChatEngine], exported: Callable[[], list[Any]]
) -> None:
    mode.ask(make_engine(), "and its price?")
    spans = {span.context.span_id: span for span in exported()}

    def path(span: Any) -> list[str]:
        return [*(path(spans[span.parent.span_id]) if span.parent else []), span.name]

    turn = f"CondensePlusChatEngine.{mode.name}"
    searched = [path(s) for s in spans.values() if s.name in ("WordRetriever.retrieve", "WordRetriever.aretrieve")]
    assert searched
    assert {names[0] for names in searched} == {turn}
    assert any(names[-2].startswith("PlanRetriever.") for names in searched)


def test_handler_goes_when_its_block_ends() -> None:
    pytest.importorskip("opentelemetry.trace")
    before = list(get_dispatcher().event_handlers)
    with recorded_in_spans():
        assert len(get_dispatcher().event_handlers) == len(before) + 1
    assert list(get_dispatcher().event_handlers) == before
