"""The rewrite log read back: its turns, and what they are as cases and training rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter
from typing_extensions import TypedDict

from llama_index_condense_plus.evaluation.cases import Case, Message
from llama_index_condense_plus.evaluation.reading import DataFileError, OnError, checked, raise_it, read_json_lines
from llama_index_condense_plus.training import LabelledTurn, Said

Row = Mapping[str, Any]
"""One line of the log."""
KINDS = ("turn", "shadow", "feedback")
"""What a line can be: a turn, the rewrite in the background of a turn that was skipped, a thumb."""


class _Cue(TypedDict):
    name: str
    text: str


class _Decision(TypedDict):
    reason: str
    language: str
    cues: list[_Cue]


class _Verdict(TypedDict):
    guard: str
    passed: bool


class _Attempt(TypedDict):
    accepted: bool
    verdicts: list[_Verdict]


class _Feedback(TypedDict):
    time: float
    turn_id: str
    good: bool


class _TurnRow(TypedDict):
    time: float
    turn_id: str
    conversation: str
    content: str
    original: str
    rewritten: str
    status: str
    rewriter: str
    cache_hit: bool
    decision: _Decision
    window: list[Said]
    entities: list[str]
    attempts: list[_Attempt]
    timings: dict[str, float]
    warnings: list[str]


@dataclass(frozen=True)
class Turn:
    """A logged turn with what came to be known about it later.

    Attributes:
        row: the turn's own line.
        shadow: the rewrite in the background, if the turn was skipped and ``log.shadow_rate`` chose it.
        good: the last thumb; None if there is none.
    """

    row: Row
    shadow: Row | None = None
    good: bool | None = None

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


def files_of(path: Path) -> list[Path]:
    """Return a log's files, oldest first: the rotated ones (``log.jsonl.2``, ``log.jsonl.1``), then the log."""
    suffixes = (file.name.removeprefix(f"{path.name}.") for file in path.parent.glob("*"))
    numbers = sorted((int(suffix) for suffix in suffixes if suffix.isdecimal()), reverse=True)
    rotated = [path.with_name(f"{path.name}.{number}") for number in numbers]
    rotated = [file for file in rotated if file.exists()]
    return [*rotated, path] if path.exists() or not rotated else rotated


def read_turns(paths: Iterable[Path], on_error: OnError = raise_it) -> list[Turn]:
    """Return every turn of some logs, in the order in which they were written.

    Args:
        paths: logs; their rotated files are read too.
        on_error: is told of each bad line, with file, line and reason.

    Raises:
        DataFileError: a file cannot be read, or a line is bad.
    """
    turns: dict[str, Turn] = {}
    later: list[Row] = []
    for row in (row for path in paths for file in files_of(path) for row in _rows(file, on_error)):
        if row["kind"] == "turn":
            turns[row["turn_id"]] = Turn(row)
        else:
            later.append(row)
    for row in later:  # of several processes, one may write a thumb before another has written the turn
        if turn := turns.get(row["turn_id"]):
            shadow, good = (row, turn.good) if row["kind"] == "shadow" else (turn.shadow, row["good"])
            turns[row["turn_id"]] = Turn(turn.row, shadow, good)
    return list(turns.values())


def as_case(turn: Turn) -> Case | None:
    """Return a turn as an evaluation case; None without words, conversation or label.

    The rewrite is the accepted one until somebody corrects it, and no gold is known: read the cases before they count.
    """
    row = turn.row
    history = tuple(Message(m["role"], m["content"]) for m in row["window"] if m["content"].strip())
    if row["content"] != "full" or turn.need is None or not history:
        return None
    accepted = ((turn.shadow or row)["rewritten"] if turn.need else row["original"],)
    lang, reason = row["decision"]["language"], row["decision"]["reason"]
    return Case(row["original"], history, row["turn_id"], lang, reason, accepted, needs_rewrite=turn.need)


def as_training_row(turn: Turn) -> LabelledTurn | None:
    """Return a turn as a row for ``train_gate``; None without words, conversation or label."""
    case = as_case(turn)
    if case is None or case.needs_rewrite is None:
        return None
    said = tuple(Said(role=message.role, content=message.content) for message in case.history)
    return LabelledTurn(case.question, said, case.needs_rewrite, turn.row["conversation"])


def _rows(file: Path, on_error: OnError) -> Iterator[Row]:
    turn: TypeAdapter[Any] = TypeAdapter(_TurnRow)
    kinds = {"turn": turn, "shadow": turn, "feedback": TypeAdapter(_Feedback)}
    for number, row in read_json_lines(file, on_error):
        try:
            if row.get("kind") not in kinds:
                raise DataFileError(file, number, f"field kind: one of {', '.join(KINDS)} is expected")
            known = checked(kinds[row["kind"]], file, number, row)
        except DataFileError as error:
            on_error(error)
        else:
            yield {**row, **known}
