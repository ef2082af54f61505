"""The trace: what was searched in a turn, and why."""

from __future__ import annotations

import dataclasses
import html
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cache
from typing import Any

from llama_index.core.schema import NodeWithScore

from llama_index_condense_plus.types import (
    HistoryWindow,
    QueryPlan,
    RankedList,
    RewriteResult,
    TriggerDecision,
)

PREVIEW_CHARS = 160
"""How much of a node's text a dictionary of the trace shows, in characters."""


@dataclass(frozen=True, slots=True)
class CondenseTrace:
    """Everything that was decided, searched and found in one turn."""

    turn_id: str
    """Identifier of the turn."""
    message: str
    """The user's words."""
    decision: TriggerDecision
    """Whether a rewrite was asked for, and why."""
    window: HistoryWindow
    """What of the conversation the rewrite could see."""
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
    """What the answer call was asked."""
    timings: Mapping[str, float] = field(default_factory=dict)
    """Seconds spent in each stage."""
    warnings: tuple[str, ...] = ()
    """What went wrong without ending the turn."""

    @property
    def search_query(self) -> str:
        """The words that were searched first."""
        return self.plan.search_query

    def to_dict(self) -> dict[str, Any]:
        """Return the trace as plain, JSON-safe values; node texts are cut to a preview."""
        return {
            "turn_id": self.turn_id,
            "message": self.message,
            "search_query": self.search_query,
            "decision": plain(self.decision),
            "window": {
                "text": self.window.text,
                "entities": [entity.text for entity in self.window.entities],
                "list_items": list(self.window.list_items),
                "summary": self.window.summary,
                "n_tokens": self.window.n_tokens,
                "n_dropped": self.window.n_dropped,
                "n_before_topic": self.window.n_before_topic,
            },
            "rewrite": plain(self.rewrite),
            "plan": plain(self.plan),
            "retrievals": [
                {
                    "query": plain(ranked.query),
                    "source": ranked.source,
                    "used": ranked.used,
                    "elapsed_s": ranked.elapsed_s,
                    "error": ranked.error,
                    "nodes": [[node.node.node_id, node.score] for node in ranked.nodes],
                }
                for ranked in self.retrievals
            ],
            "nodes": [self._node(node) for node in self.nodes],
            "answer_query": self.answer_query,
            "timings": dict(self.timings),
            "warnings": list(self.warnings),
        }

    def redacted(self) -> dict[str, Any]:
        """Return ``to_dict()`` without anybody's words: decisions, measures, roles, ids and timings only."""
        return _without_words(self.to_dict())  # type: ignore[no-any-return]

    def summary(self) -> str:
        """Return the turn in one readable line."""
        how = f"{self.rewrite.status.value} by {self.rewrite.rewriter}" if self.decision.rewrite else "as typed"
        line = f"{self.message!r} → {self.search_query!r} ({self.decision.reason.value}, {how}"
        others = [query.role.value for query in self.plan.queries[1:]]
        return line + (f", + {', '.join(others)})" if others else ")")

    def _repr_html_(self) -> str:
        """Show the trace in a notebook."""
        rows = [
            ("message", self.message),
            ("searched", self.search_query),
            ("decision", f"{self.decision.reason.value}: {', '.join(c.text for c in self.decision.cues) or '–'}"),
            ("rewrite", f"{self.rewrite.status.value} by {self.rewrite.rewriter}"),
            ("guards", ", ".join(v.guard for v in self.rewrite.verdicts if not v.passed) or "all passed"),
            ("plan", "; ".join(f"{q.role.value} × {q.weight:g}: {q.text}" for q in self.plan.queries)),
            ("warnings", ", ".join(self.warnings) or "–"),
        ]
        cells = "".join(f"<tr><th>{html.escape(k)}</th><td>{html.escape(v)}</td></tr>" for k, v in rows)
        nodes = "".join(
            f"<li>{html.escape(', '.join(self.provenance.get(n.node.node_id, ())))} "
            f"{html.escape(n.node.get_content()[:PREVIEW_CHARS])}</li>"
            for n in self.nodes
        )
        return f"<table>{cells}</table><ol>{nodes}</ol>"

    def _node(self, node: NodeWithScore) -> dict[str, Any]:
        return {
            "id": node.node.node_id,
            "score": node.score,
            "text": node.node.get_content()[:PREVIEW_CHARS],
            "found_by": list(self.provenance.get(node.node.node_id, ())),
        }


_WORDS = {"message", "search_query", "text", "entities", "list_items", "summary", "original", "query", "raw"}
_WORDS |= {"before", "after", "detail", "candidates", "answer_query", "error", "warnings"}


_SIMPLE = (str, int, float, bool, type(None))


@cache
def _field_names(of: type) -> tuple[str, ...]:
    return tuple(field.name for field in dataclasses.fields(of))


def plain(value: Any) -> Any:
    """Return enums, dataclasses and tuples as JSON-safe values."""
    kind = type(value)
    if kind in _SIMPLE:
        return value
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, (tuple, list)):
        return [plain(item) for item in value]
    if dataclasses.is_dataclass(kind):
        return {name: plain(getattr(value, name)) for name in _field_names(kind)}
    return value


def _without_words(value: Any, key: str = "") -> Any:
    if isinstance(value, dict):
        return {k: _without_words(v, k) for k, v in value.items()}
    if key in _WORDS:
        return f"<{len(value)}>" if value else value
    if isinstance(value, list):
        return [_without_words(item) for item in value]
    return value
