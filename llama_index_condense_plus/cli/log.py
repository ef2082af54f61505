"""``condense-plus log``: what a rewrite log shows, and its turns as cases or training rows."""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Callable, Iterable
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

from llama_index_condense_plus.errors import ConfigurationError
from llama_index_condense_plus.evaluation.log_summary import as_lines, summarise
from llama_index_condense_plus.evaluation.logged import Turn, as_case, as_training_row, read_turns
from llama_index_condense_plus.evaluation.reading import pass_over, positive
from llama_index_condense_plus.observability.clean import json_line, printable
from llama_index_condense_plus.observability.line_file import write_private
from llama_index_condense_plus.types import RewriteStatus, TriggerReason

EXAMPLES = """examples:
  condense-plus log summary condense-plus.jsonl
  condense-plus log rows condense-plus.jsonl --guard unrelated --since 2026-01-31
  condense-plus log rows condense-plus.jsonl --status rewritten --sample 20 --json
  condense-plus log cases condense-plus.jsonl --reason pronoun --output cases.jsonl     then: condense-plus eval --cases
  condense-plus log training condense-plus.jsonl --output rows.jsonl                    then: condense-plus train

Rotated files (condense-plus.jsonl.1, …) are read too. Cases and training rows need log.content = "full"; skipped
turns have a label only if log.shadow_rate selected them, or if a user rated them good.
"""
EXPORTS: dict[str, Callable[[Turn], Any]] = {"cases": as_case, "training": as_training_row}


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.epilog = EXAMPLES
    parser.add_argument("action", choices=("summary", "rows", *EXPORTS), help="what to show, or to export")
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE", help="one or more rewrite logs")
    which = parser.add_argument_group("which turns")
    statuses, reasons = ([item.value for item in kind] for kind in (RewriteStatus, TriggerReason))
    which.add_argument("--status", action="append", default=[], choices=statuses, help="how the rewrite ended")
    which.add_argument("--reason", action="append", default=[], choices=reasons, help="the gate's reason")
    which.add_argument("--guard", action="append", default=[], metavar="NAME", help="a guard that failed")
    which.add_argument("--since", type=_time, metavar="TIME", help="from this time on: 2026-01-31 or 2026-01-31T09:30")
    which.add_argument("--until", type=_time, metavar="TIME", help="before this time")
    which.add_argument("--sample", type=positive, metavar="N", help="a random sample of at most N turns")
    parser.add_argument("--output", type=Path, metavar="FILE", help="write to this file, whole or not at all")
    parser.add_argument("--json", action="store_true", help="print JSON for other programs")


def run(arguments: argparse.Namespace) -> int:
    """Read the log and show or export what is wanted."""
    turns = [turn for turn in read_turns(arguments.files, pass_over) if _is_wanted(arguments, turn)]
    if arguments.sample:
        picked = random.Random(0).sample(range(len(turns)), min(arguments.sample, len(turns)))  # noqa: S311
        turns = [turns[index] for index in sorted(picked)]
    lines: Iterable[str]
    if arguments.action == "summary":
        summary = summarise(turns)
        lines = [json_line(summary)] if arguments.json else map(printable, as_lines(summary))
    elif arguments.action == "rows":
        told = (json_line({**turn.row, "need": turn.need, "good": turn.good}) for turn in turns)
        lines = told if arguments.json else map(_readable, turns)
    else:
        rows = [asdict(row) for row in map(EXPORTS[arguments.action], turns) if row is not None]
        left = len(turns) - len(rows)
        print(f"{len(rows)} rows; {left} turns have no words, no label or no history", file=sys.stderr)
        lines = map(json_line, rows)
    _put("".join(f"{line}\n" for line in lines), arguments.output)
    return 0


def _is_wanted(arguments: argparse.Namespace, turn: Turn) -> bool:
    row = turn.row
    return (
        (not arguments.status or row["status"] in arguments.status)
        and (not arguments.reason or row["decision"]["reason"] in arguments.reason)
        and (not arguments.guard or any(guard.startswith(tuple(arguments.guard)) for guard in turn.failed_guards))
        and (arguments.since is None or row["time"] >= arguments.since)
        and (arguments.until is None or row["time"] < arguments.until)
    )


def _readable(turn: Turn) -> str:
    row = turn.row
    when = datetime.fromtimestamp(row["time"]).astimezone().isoformat(" ", "seconds")
    change = row["original"] if row["original"] == row["rewritten"] else f"{row['original']} → {row['rewritten']}"
    ended = row["status"] if row["status"] == "skipped" else f"{row['status']} by {row['rewriter']}"
    notes = [row["decision"]["reason"], ended, *turn.failed_guards]
    if row.get("trust") == "doubted":
        notes.append(f"doubted: {'; '.join(row['reasons'])}")
    if turn.shadow and turn.need:
        notes.append(f"missed: {turn.shadow['rewritten']}")
    if turn.good is not None:
        notes.append("thumbs up" if turn.good else "thumbs down")
    return printable(f"{when}  {change}  ({', '.join(notes)})")


def _put(text: str, output: Path | None) -> None:
    if output is None:
        print(text, end="")
        return
    part = output.with_name(f".{output.name}.part")
    try:
        write_private(part, [text.encode()])
        part.replace(output)
    except OSError as error:
        raise ConfigurationError(f"--output: cannot write {output}: {error}") from None


def _time(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()
