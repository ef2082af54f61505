"""Counters in Prometheus's text format, from the engine's dispatcher events."""

from __future__ import annotations

import threading
from collections import Counter
from typing import Any

from llama_index_instrumentation.event_handlers import BaseEventHandler

from llama_index_condense_plus import TurnEvent
from llama_index_condense_plus.workers import live_workers

_mutex = threading.Lock()
_counts: Counter[tuple[str, str]] = Counter()


class TurnCounter(BaseEventHandler):
    """Counts turns by decision and status, and sums the seconds of each stage."""

    @classmethod
    def class_name(cls) -> str:
        """Return the handler's name."""
        return "TurnCounter"

    def handle(self, event: Any, **_: Any) -> None:
        """Count a turn."""
        if not isinstance(event, TurnEvent):
            return
        trace = event.trace
        labels = f'reason="{trace.decision.reason.value}",status="{trace.rewrite.status.value}"'
        with _mutex:
            _counts["condense_plus_turns_total", labels] += 1
            _counts["condense_plus_cache_hits_total", ""] += int(trace.rewrite.cache_hit)
            _counts["condense_plus_warnings_total", ""] += len(trace.warnings)
            for stage, seconds in trace.timings.items():
                _counts["condense_plus_stage_seconds_total", f'stage="{stage}"'] += seconds  # type: ignore[assignment]


def count(name: str, labels: str = "") -> None:
    """Add one to a counter of the service's own."""
    with _mutex:
        _counts[name, labels] += 1


def rendered() -> str:
    """Return all counters in the text format."""
    with _mutex:
        counted = sorted(_counts.items())
    lines: list[str] = []
    named: set[str] = set()
    for (name, labels), value in counted:
        if name not in named:
            named.add(name)
            lines.append(f"# TYPE {name} counter")
        lines.append(f"{name}{{{labels}}} {value:g}" if labels else f"{name} {value:g}")
    lines += ["# TYPE condense_plus_workers gauge", f"condense_plus_workers {live_workers()}"]
    return "\n".join(lines) + "\n"
