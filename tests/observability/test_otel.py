"""Our events reach OpenTelemetry inside LlamaIndex's spans; skipped without the otel extra, see ``nox -s tracing``."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from llama_index.core.instrumentation import get_dispatcher

from llama_index_condense_plus import CondensePlusChatEngine
from tests.conftest import PRICE
from tests.modes import Mode
from tests.observability.turn_events import TURN_EVENTS

otel = pytest.importorskip("llama_index.observability.otel.base")


@pytest.fixture
def exported() -> Iterator[Callable[[], list[Any]]]:
    """Export to memory; the function returns the finished spans."""
    sdk = importlib.import_module("opentelemetry.sdk.trace")
    export = importlib.import_module("opentelemetry.sdk.trace.export")
    memory = importlib.import_module("opentelemetry.sdk.trace.export.in_memory_span_exporter").InMemorySpanExporter()
    provider = sdk.TracerProvider()
    provider.add_span_processor(export.SimpleSpanProcessor(memory))
    root = get_dispatcher()
    before = list(root.span_handlers), list(root.event_handlers)
    handler = otel.OTelCompatibleSpanHandler(tracer=provider.get_tracer("test"), tracer_provider=provider)
    root.add_span_handler(handler)
    root.add_event_handler(otel.OTelCompatibleEventHandler(span_handler=handler))
    yield memory.get_finished_spans
    root.span_handlers, root.event_handlers = before


def test_events_arrive_in_order_in_the_span_of_the_turn(
    mode: Mode, make_engine: Callable[..., CondensePlusChatEngine], exported: Callable[[], list[Any]]
) -> None:
    mode.ask(make_engine(), "and its price?")
    (turn,) = [span for span in exported() if span.name == f"CondensePlusChatEngine.{mode.name}"]
    assert [event.name for event in turn.events] == TURN_EVENTS
    assert {event.attributes["turn_id"] for event in turn.events} == {turn.events[0].attributes["turn_id"]}
    events = {event.name: event.attributes for event in turn.events}
    assert events["TriggerDecisionEvent"]["decision.reason"] == "pronoun"
    assert events["RewriteEvent"]["result.query"] == PRICE


def test_llama_index_nests_its_spans_in_the_turn(
    mode: Mode, make_engine: Callable[..., CondensePlusChatEngine], exported: Callable[[], list[Any]]
) -> None:
    mode.ask(make_engine(), "and its price?")
    spans = {span.context.span_id: span for span in exported()}

    def path(span: Any) -> list[str]:
        return [*(path(spans[span.parent.span_id]) if span.parent else []), span.name]

    paths = [path(span) for span in spans.values()]
    turn = f"CondensePlusChatEngine.{mode.name}"
    assert {names[0] for names in paths} == {turn}
    searched = [names for names in paths if names[-1] in ("WordRetriever.retrieve", "WordRetriever.aretrieve")]
    assert any(len(names) > 2 and names[-2].startswith("PlanRetriever.") for names in searched)
    answering = [s for s in spans.values() if any(e.attributes.get("stage") == '"answering"' for e in s.events)]
    stages = [e.attributes.get("stage") for s in spans.values() for e in s.events if e.name == "TurnProgressEvent"]
    assert sorted(stages) == ["answering", "rewriting", "searching"], answering


def test_openinference_traces_the_turn_with_its_searches_and_model_calls(
    make_engine: Callable[..., CondensePlusChatEngine],
) -> None:
    openinference = pytest.importorskip("openinference.instrumentation.llama_index")
    sdk = importlib.import_module("opentelemetry.sdk.trace")
    export = importlib.import_module("opentelemetry.sdk.trace.export")
    memory = importlib.import_module("opentelemetry.sdk.trace.export.in_memory_span_exporter").InMemorySpanExporter()
    provider = sdk.TracerProvider()
    provider.add_span_processor(export.SimpleSpanProcessor(memory))
    instrumentor = openinference.LlamaIndexInstrumentor()
    instrumentor.instrument(tracer_provider=provider)
    try:
        make_engine().chat("and its price?")
    finally:
        instrumentor.uninstrument()
    kinds = {span.name: span.attributes["openinference.span.kind"] for span in memory.get_finished_spans()}
    assert kinds["CondensePlusChatEngine.chat"] == "CHAIN"
    assert kinds["PlanRetriever.retrieve"] == "RETRIEVER"
    assert "LLM" in kinds.values()
