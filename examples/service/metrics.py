"""Counters for Prometheus, from the engine's dispatcher events."""

from __future__ import annotations

from typing import Any

from llama_index_instrumentation.event_handlers import BaseEventHandler
from prometheus_client import Counter, Gauge

from llama_index_condense_plus import TurnEvent
from llama_index_condense_plus.workers import live_workers

TURNS = Counter("condense_plus_turns", "Turns by decision and status", ["reason", "status"])
CACHE_HITS = Counter("condense_plus_cache_hits", "Rewrites from the cache")
WARNINGS = Counter("condense_plus_warnings", "Warnings of traces")
STAGE_SECONDS = Counter("condense_plus_stage_seconds", "Seconds spent in each stage", ["stage"])
CONFLICTS = Counter("service_conflicts", "Turns refused because another one of the conversation is running")
ERRORS = Counter("service_errors", "Turns that failed, by the error's class", ["error"])
Gauge("condense_plus_workers", "Threads with calls that are still running").set_function(live_workers)


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
        TURNS.labels(trace.decision.reason.value, trace.rewrite.status.value).inc()
        CACHE_HITS.inc(trace.rewrite.cache_hit)
        WARNINGS.inc(len(trace.warnings))
        for stage, seconds in trace.timings.items():
            STAGE_SECONDS.labels(stage).inc(seconds)
