"""What a rewrite log shows as a whole: counts by reason, guard and what users keep referring to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime, timezone
from typing import Any

from llama_index_condense_plus.evaluation.logged import Turn

MOST = 10
"""How many of the most frequent references, entities and warnings are shown."""
REFERRING = ("pronoun", "bound_pronoun", "empty_reference", "back_reference", "ordinal", "comparison")
"""Cues whose words refer to something said before."""


def summarise(turns: Sequence[Turn]) -> dict[str, Any]:
    """Return counts over turns: JSON-safe tables, the most frequent first.

    ``references`` are the words that referred back, ``entities`` what rewrites put in their place,
    ``guards`` the turns in which a guard failed, ``missed`` the skipped turns whose background rewrite added something.
    """
    rows = [turn.row for turn in turns]
    times = [_iso(row["time"]) for row in rows]
    shadows = [turn for turn in turns if turn.shadow]
    cues = [cue for row in rows for cue in row["decision"]["cues"]]
    entities = [(name, row) for row in rows for name in row["entities"]]
    added = (name for name, row in entities if name in row["rewritten"] and name not in row["original"])
    return {
        "turns": len(turns),
        "conversations": len({row["conversation"] for row in rows}),
        "from": min(times, default=None),
        "to": max(times, default=None),
        "status": _table(row["status"] for row in rows),
        "reason": _table(row["decision"]["reason"] for row in rows),
        "rewriter": _table(row["rewriter"] for row in rows if row["status"] != "skipped"),
        "guards": _table(guard for turn in turns for guard in turn.failed_guards),
        "references": _table((cue["text"].lower() for cue in cues if cue["name"] in REFERRING), MOST),
        "entities": _table(added, MOST),
        "warnings": _table((warning for row in rows for warning in row["warnings"]), MOST),
        "cache_hits": sum(row["cache_hit"] for row in rows),
        "shadow": {"turns": len(shadows), "missed": sum(bool(turn.need) for turn in shadows)},
        "feedback": {name: sum(turn.good is good for turn in turns) for name, good in (("good", True), ("bad", False))},
    }


def as_lines(summary: dict[str, Any]) -> list[str]:
    """Return a summary for reading."""
    lines = [f"turns: {summary['turns']}, conversations: {summary['conversations']}, cached: {summary['cache_hits']}"]
    if summary["turns"]:
        lines.append(f"{summary['from']} to {summary['to']}")
    for name, value in summary.items():
        if isinstance(value, dict) and any(value.values()):
            lines += ["", name, *(f"{count:>8}  {key}" for key, count in value.items())]
    return lines


def _table(values: Iterable[str], most: int | None = None) -> dict[str, int]:
    return {value: count for value, count in Counter(values).most_common(most) if value}


def _iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, timezone.utc).isoformat(timespec="seconds")
