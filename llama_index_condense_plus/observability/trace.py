"""The trace: what was searched in a turn, and why."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, SupportsFloat

from llama_index.core.schema import NodeWithScore
from pydantic_core import to_jsonable_python

from llama_index_condense_plus.observability.clean import printable
from llama_index_condense_plus.types import (
    HistoryWindow,
    QueryPlan,
    RankedList,
    RewriteResult,
    RewriteStatus,
    TriggerDecision,
)

PREVIEW_CHARS = 160
"""How much of a node's text a dictionary of the trace shows, in characters."""
LINE_CHARS = 240
"""Longest of the five lines that a trace prints."""
_WORDS = {"message", "search_query", "text", "entities", "list_items", "summary", "original", "query", "raw", "note"}
_WORDS |= {"before", "after", "detail", "candidates", "answer_query", "error", "warnings", "reasons", "rewritten"}
"""Names of the fields that may hold somebody's words."""


@dataclass(frozen=True, slots=True, repr=False)
class CondenseTrace:
    """Everything that was decided, searched and found in one turn."""

    turn_id: str
    """Identifier of the turn."""
    message: str
    """The user's words."""
    decision: TriggerDecision
    """Whether a rewrite was asked for, and why."""
    window: HistoryWindow
    """The part of the conversation that the rewriter read."""
    rewrite: RewriteResult
    """The standalone question and every attempt at it."""
    plan: QueryPlan
    """What was searched; empty texts never occur."""
    retrievals: tuple[RankedList, ...] = ()
    """What each query found; empty where a query engine without a retriever answered."""
    nodes: tuple[NodeWithScore, ...] = ()
    """The merged nodes after the postprocessors, best first."""
    provenance: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By node id: which queries found it, for example ``rewritten#1``: role and rank."""
    answer_query: str = ""
    """The question of the answer call."""
    timings: Mapping[str, float] = field(default_factory=dict)
    """Seconds spent in each stage."""
    warnings: tuple[str, ...] = ()
    """Problems that did not end the turn."""

    @property
    def search_query(self) -> str:
        """The words that were searched first."""
        return self.plan.search_query

    def to_dict(self) -> dict[str, Any]:
        """Return the trace as plain, JSON-safe values; node texts are cut to a preview."""
        shown = ("text", "list_items", "summary", "n_tokens", "n_dropped")
        window = {name: getattr(self.window, name) for name in shown}
        values = {
            "turn_id": self.turn_id,
            "message": self.message,
            "search_query": self.search_query,
            "decision": self.decision,
            "window": {**window, "entities": [entity.text for entity in self.window.entities]},
            "rewrite": self.rewrite,
            "plan": self.plan,
            "retrievals": [
                {name: getattr(ranked, name) for name in ("query", "blended", "source", "used", "elapsed_s", "error")}
                | {"nodes": [[node.node.node_id, node.score] for node in ranked.nodes]}
                for ranked in self.retrievals
            ],
            "nodes": [
                {
                    "id": node.node.node_id,
                    "score": node.score,
                    "text": node.node.get_content()[:PREVIEW_CHARS],
                    "found_by": self.provenance.get(node.node.node_id, ()),
                }
                for node in self.nodes
            ],
            "answer_query": self.answer_query,
            "timings": dict(self.timings),
            "warnings": self.warnings,
        }
        return to_jsonable_python(values, inf_nan_mode="null", fallback=_plain)  # type: ignore[no-any-return]

    def redacted(self) -> dict[str, Any]:
        """Return ``to_dict()`` without the words of users and documents."""
        return with_words(self.to_dict(), lambda text: f"<{len(text)}>" if text else "")  # type: ignore[no-any-return]

    def summary(self) -> str:
        """Return the turn in one readable line."""
        others = "".join(f", + {query.role.value}" for query in self.plan.queries[1:])
        why = f"{self.decision.reason.value}, {self._outcome()}{others}"
        return printable(f"“{self.message}” → “{self.search_query}” ({why})")

    def __str__(self) -> str:
        """Return the turn in five readable lines."""
        return "\n".join(f"{label:9} {_shortened(words)}" for label, words in self._told())

    def __repr__(self) -> str:
        return f"<CondenseTrace {_shortened(self.summary())}>"

    def _outcome(self) -> str:
        result = self.rewrite
        if not self.decision.rewrite:
            return "as typed"
        trust = f", {result.trust.value}" if result.status is RewriteStatus.REWRITTEN else ""
        return f"{result.status.value} by {result.rewriter}{trust}"

    def _told(self) -> tuple[tuple[str, str], ...]:
        cues = ", ".join(f"{cue.name} “{cue.text}”" for cue in self.decision.cues)
        reasons = "; ".join(self.rewrite.reasons)
        best = f", first “{self.nodes[0].node.get_content()[:PREVIEW_CHARS]}”" if self.nodes else ""
        return (
            ("message", self.message),
            ("decision", self.decision.reason.value + (f": {cues}" if cues else "")),
            ("rewrite", self._outcome() + (f": {reasons}" if reasons else "")),
            ("searched", "; ".join(f"{q.role.value} × {q.weight:.2g} “{q.text}”" for q in self.plan.queries)),
            ("found", "; ".join((f"{len(self.nodes)} passages{best}", *self.warnings))),
        )


def with_words(value: Any, change: Callable[[str], str], key: str = "") -> Any:
    """Return plain values with everybody's words changed, wherever they stand; the rest stays as it is."""
    if isinstance(value, dict):
        return {name: with_words(item, change, name) for name, item in value.items()}
    if isinstance(value, list):
        return [with_words(item, change, key) for item in value]
    return change(value) if key in _WORDS and isinstance(value, str) else value


def _plain(value: Any) -> Any:
    """Other libraries' numbers are numbers to JSON; whatever else there is, is told in words."""
    return float(value) if isinstance(value, SupportsFloat) else str(value)


def _shortened(words: str) -> str:
    line = printable(words)
    return line if len(line) <= LINE_CHARS else f"{line[: LINE_CHARS - 1]}…"
