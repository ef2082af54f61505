"""Rows of a rewrite log, as ``RewriteLog`` writes them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any


def turn(
    turn_id: str, *, status: str = "rewritten", reason: str = "pronoun", refused_by: str = "", **changes: Any
) -> Any:
    """Return a turn's row; ``refused_by`` names a guard that refused a first attempt."""
    refused = {"rewriter": "llm", "accepted": False, "verdicts": [{"guard": refused_by, "passed": False}]}
    accepted = {"rewriter": "rules", "accepted": True, "verdicts": [{"guard": "length", "passed": True}]}
    return {
        "time": 1.0,
        "kind": "turn",
        "turn_id": turn_id,
        "conversation": "c",
        "content": "full",
        "original": "And its price?",
        "rewritten": "What is the price of the GTE-3000?",
        "window": [
            {"role": "user", "content": "What is the GTE-3000?"},
            {"role": "assistant", "content": "A printer."},
        ],
        "entities": ["GTE-3000"],
        "decision": {
            "rewrite": status != "skipped",
            "reason": reason,
            "language": "en",
            "cues": changes.pop("cues", [{"name": "pronoun", "text": "its", "start": 4}]),
        },
        "status": status,
        "rewriter": "rules",
        "cache_hit": False,
        "attempts": [refused] * bool(refused_by) + [accepted] * (status in ("rewritten", "unchanged")),
        "timings": {"rewrite": 0.2},
        "warnings": [],
        **changes,
    }


def shadow(turn_id: str, **changes: Any) -> Any:
    """Return the row of a rewrite in the background."""
    return turn(turn_id, **changes) | {"kind": "shadow"}


def feedback(turn_id: str, *, good: bool) -> dict[str, Any]:
    """Return a thumb's row."""
    return {"time": 2.0, "kind": "feedback", "turn_id": turn_id, "good": good, "note": ""}


def write(path: Path, rows: Iterable[Mapping[str, Any]]) -> Path:
    """Write JSON Lines."""
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path
