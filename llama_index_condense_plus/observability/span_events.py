"""Our events in OpenTelemetry spans, where the instrumentation in use passes over events that it does not know."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from llama_index_instrumentation import get_dispatcher
from llama_index_instrumentation.base import BaseEvent
from llama_index_instrumentation.event_handlers import BaseEventHandler

from llama_index_condense_plus.errors import ConfigurationError
from llama_index_condense_plus.observability.events import CondensePlusEvent
from llama_index_condense_plus.observability.trace import CondenseTrace, plain

OF_EVERY_EVENT = frozenset({"id_", "timestamp", "span_id", "tags"})
"""Fields that the span has already."""


class SpanEventHandler(BaseEventHandler):
    """Adds each of this package's events to the OpenTelemetry span that is current.

    OpenInference keeps LlamaIndex's spans current and drops events of other packages; this puts decision, rewrite,
    verdicts, plan and fusion into its spans. ``llama-index-observability-otel`` records them by itself.
    """

    @classmethod
    def class_name(cls) -> str:
        """Return the name that the dispatcher sees."""
        return "CondensePlusSpanEventHandler"

    def handle(self, event: BaseEvent, **_: Any) -> None:
        """Add one event; without a span that is recorded, nothing."""
        from opentelemetry import trace  # noqa: PLC0415, an extra

        span = trace.get_current_span()
        if isinstance(event, CondensePlusEvent) and span.is_recording():
            span.add_event(event.class_name(), attributes_of(event))


@contextmanager
def recorded_in_spans() -> Iterator[None]:
    """Add this package's events to OpenTelemetry spans inside a ``with`` block; wrap the whole program.

    Example:
        >>> from openinference.instrumentation.llama_index import LlamaIndexInstrumentor  # doctest: +SKIP
        >>> LlamaIndexInstrumentor().instrument()  # doctest: +SKIP
        >>> with recorded_in_spans():  # doctest: +SKIP
        ...     engine.chat("And its price?")

    Raises:
        ConfigurationError: OpenTelemetry is not installed.
    """
    try:
        import opentelemetry.trace  # noqa: F401, PLC0415, an extra
    except ImportError:
        raise ConfigurationError("Events in spans need OpenTelemetry: pip install opentelemetry-api") from None
    root, handler = get_dispatcher(), SpanEventHandler()
    root.add_event_handler(handler)
    try:
        yield
    finally:
        root.event_handlers.remove(handler)


def attributes_of(event: CondensePlusEvent) -> dict[str, str | bool | int | float]:
    """Return an event's fields as flat attributes, for example ``decision.reason``; lists become JSON."""
    values = {name: getattr(event, name) for name in type(event).model_fields if name not in OF_EVERY_EVENT}
    trace = values.pop("trace", None)
    if isinstance(trace, CondenseTrace):
        values |= {"search_query": trace.search_query, "warnings": trace.warnings}
    if "retrievals" in values:  # passages are in the retrievers' own spans
        values["retrievals"] = [f"{r.query.role.value}: {len(r.nodes)}" for r in values["retrievals"]]
    return dict(_flat({name: plain(value) for name, value in values.items()}))


def _flat(values: Mapping[str, Any], place: str = "") -> Iterator[tuple[str, str | bool | int | float]]:
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{place}{name}.")
        elif isinstance(value, (str, bool, int, float)):
            yield f"{place}{name}", value
        elif value is not None:
            yield f"{place}{name}", json.dumps(value, ensure_ascii=False, default=str)
