"""The rewrite log read back: rows of all its files, filtered, and turned into cases and training rows."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from llama_index_condense_plus.evaluation.reading import DataFileError, OnError, read_json_lines

Row = Mapping[str, Any]
"""One line of the log."""
KINDS = ("turn", "shadow", "feedback")
"""What a line can be: a turn, the rewrite in the background of a turn that was skipped, a thumb."""


@dataclass(frozen=True, slots=True)
class Turn:
    """A logged turn with what came to be known about it later."""

    row: Row
    """The turn's own line."""
    shadow: Row | None = None
    """The rewrite in the background, if the turn was skipped and ``log.shadow_rate`` chose it."""
    good: bool | None = None
    """The last thumb; None if there is none."""

    @property
    def need(self) -> bool | None:
        """Whether the message needed a rewrite, as far as the log shows; None if it does not.

        A rewrite that passed the guards says yes, one equal to the question says no if none was refused before it, and
        so does a thumbs-up for a skipped turn. A thumbs-down says that something was wrong, not what: no label.
        """
        judged = self.shadow or self.row
        if self.good is False:
            return None
        if judged["status"] == "rewritten":
            return True
        if judged["status"] == "unchanged" and all(attempt["accepted"] for attempt in judged["attempts"]):
            return False
        return False if self.good and self.row["status"] == "skipped" else None

    @property
    def failed_guards(self) -> tuple[str, ...]:
        """Guards that a rewrite of the turn failed, once each."""
        attempts = [attempt for row in (self.row, self.shadow) if row for attempt in row["attempts"]]
        failed = [v["guard"] for attempt in attempts for v in attempt["verdicts"] if not v["passed"]]
        return tuple(dict.fromkeys(failed))

    @property
    def readable(self) -> bool:
        """True if the row holds words; with ``log.content`` hashed or none it does not."""
        return bool(self.row["content"] == "full")


@dataclass(frozen=True, slots=True)
class TurnFilter:
    """Which turns are wanted; an empty condition wants all."""

    statuses: Collection[str] = ()
    """``RewriteStatus`` values."""
    reasons: Collection[str] = ()
    """``TriggerReason`` values."""
    guards: Collection[str] = ()
    """Guards that failed; ``own`` includes ``own.numbers``."""
    since: float | None = None
    """Earliest time, in seconds since 1970."""
    until: float | None = None
    """Time before which the turn was, in seconds since 1970."""

    def wants(self, turn: Turn) -> bool:
        """Return True if a turn meets every condition."""
        row = turn.row
        return (
            (not self.statuses or row["status"] in self.statuses)
            and (not self.reasons or row["decision"]["reason"] in self.reasons)
            and (not self.guards or any(self._named(guard) for guard in turn.failed_guards))
            and (self.since is None or row["time"] >= self.since)
            and (self.until is None or row["time"] < self.until)
        )

    def _named(self, guard: str) -> bool:
        return any(guard == name or guard.startswith(f"{name}.") for name in self.guards)


def files_of(path: Path) -> list[Path]:
    """Return a log's files, oldest first: the rotated ones (``log.jsonl.2``, ``log.jsonl.1``), then the log."""
    rotated = []
    for file in path.parent.glob(f"{path.name}.*"):
        number = file.name[len(path.name) + 1 :].removesuffix(".gz")
        if number.isdecimal():
            rotated.append((-int(number), file))
    newest = [path] if path.exists() or not rotated else []
    return [file for _, file in sorted(rotated)] + newest


def read_turns(paths: Iterable[Path], on_error: OnError | None = None) -> list[Turn]:
    """Return every turn of some logs, in the order in which they were written.

    Args:
        paths: logs; their rotated files are read too.
        on_error: is told of each bad line, with file, line and reason; none: the first one is raised.

    Raises:
        DataFileError: a file cannot be read, or a line is bad and nobody is told of it.
    """
    turns: dict[str, Turn] = {}
    later: list[Row] = []
    for path in paths:
        for file in files_of(path):
            for row in _rows(file, on_error):
                if row["kind"] == "turn":
                    turns[row["turn_id"]] = Turn(row)
                else:
                    later.append(row)
    for row in later:  # of several processes, one may write a thumb before another has written the turn
        if turn := turns.get(row["turn_id"]):
            shadow, good = (row, turn.good) if row["kind"] == "shadow" else (turn.shadow, row["good"])
            turns[row["turn_id"]] = Turn(turn.row, shadow, good)
    return list(turns.values())


def as_case(turn: Turn) -> dict[str, Any] | None:
    """Return a turn as an evaluation case, in the form that ``evaluation.cases`` reads; None without words or label.

    The rewrite is the accepted one until somebody corrects it, and no gold is known: read the cases before they count.
    """
    if not turn.readable or turn.need is None or not turn.row["window"]:
        return None
    judged = turn.shadow or turn.row
    return {
        "id": turn.row["turn_id"],
        "lang": turn.row["decision"]["language"],
        "category": turn.row["decision"]["reason"],
        "history": _history(turn.row),
        "question": turn.row["original"],
        "accepted_rewrites": [judged["rewritten"] if turn.need else turn.row["original"]],
        "needs_rewrite": turn.need,
    }


def as_training_row(turn: Turn) -> dict[str, Any] | None:
    """Return a turn as a row for ``train_trigger``; None without words, conversation or label."""
    if not turn.readable or turn.need is None or not turn.row["window"]:
        return None
    return {
        "message": turn.row["original"],
        "history": _history(turn.row),
        "need": turn.need,
        "conversation": turn.row["conversation"],
    }


def _history(row: Row) -> list[dict[str, str]]:
    return [message for message in row["window"] if message["content"].strip()]


def _rows(file: Path, on_error: OnError | None) -> Iterator[Row]:
    for number, row in read_json_lines(file, on_error):
        if problem := _problem(row):
            error = DataFileError(file, number, problem)
            if on_error is None:
                raise error
            on_error(error)
        else:
            yield row


_FEEDBACK_FIELDS: Mapping[str, type] = {"turn_id": str, "good": bool}
_TURN_FIELDS: Mapping[str, type] = {
    "turn_id": str,
    "conversation": str,
    "content": str,
    "original": str,
    "rewritten": str,
    "status": str,
    "rewriter": str,
    "cache_hit": bool,
    "decision": dict,
    "window": list,
    "entities": list,
    "attempts": list,
    "timings": dict,
    "warnings": list,
}


def _problem(row: Row) -> str:
    """Return why a line is none of the log's, or an empty text."""
    if row.get("kind") not in KINDS:
        return f"field kind: one of {', '.join(KINDS)} is expected; is this a rewrite log?"
    fields = _FEEDBACK_FIELDS if row["kind"] == "feedback" else _TURN_FIELDS
    for name, kind in fields.items():
        if not isinstance(row.get(name), kind):
            return f"field {name}: {kind.__name__} is expected"
    if not isinstance(row.get("time"), (int, float)):
        return "field time: a number is expected"
    if row["kind"] == "feedback":
        return ""
    try:
        _ = [row["decision"][name] for name in ("reason", "language", "cues")]
        _ = [cue["name"] + cue["text"] for cue in row["decision"]["cues"]]
        _ = [message["role"] + message["content"] for message in row["window"]]
        _ = [attempt["accepted"] for attempt in row["attempts"]]
        _ = [v["guard"] + str(v["passed"]) for attempt in row["attempts"] for v in attempt["verdicts"]]
    except (KeyError, TypeError) as error:
        return f"a part of decision, window or attempts is missing or of a wrong type: {error}"
    return ""
