"""The development sets as questions that need a rewrite or not, for the gate's benchmark and its training."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from benchmarks._data import history_of, load
from llama_index_condense_plus.lexicons.text import content_tokens
from llama_index_condense_plus.types import HistoryWindow, WindowMessage


@dataclass(frozen=True, slots=True)
class LabelledTurn:
    """A question in its conversation, and whether it needs a rewrite."""

    set_name: str
    """The data set."""
    conversation: str
    """Which conversation: folds of a cross-validation keep conversations whole."""
    question: str
    """The user's words."""
    window: HistoryWindow
    """What was said before."""
    need: bool
    """True if the question cannot be searched alone."""
    gold: str = ""
    """A human rewrite, if there is one."""


SETS = ("kdconv", "gecor", "cast19", "alexa")
"""The sets with labels."""


def window_of(history: list[tuple[str, str]]) -> HistoryWindow:
    """Return a window that holds a whole history."""
    return HistoryWindow(messages=tuple(WindowMessage(role, text, text) for role, text in history))


def labelled_turns(name: str) -> list[LabelledTurn]:
    """Return a set's questions that have a history and a label."""
    return [turn for row in load(FILES[name]) if row["history"] for turn in _turn(name, row)]


FILES = {"kdconv": "kdconv_zh_dev", "gecor": "gecor_task", "cast19": "cast19", "alexa": "alexa_cqr"}


def _turn(name: str, row: dict[str, Any]) -> Iterator[LabelledTurn]:
    need: bool | None
    if name == "kdconv":
        need = False if row["entity_in_question"] else True if row["entity_recoverable"] else None
    elif name == "gecor":
        need = bool(set(content_tokens(row["gold"])) - set(content_tokens(row["question"])))
    elif name == "cast19":
        need = _normal(row["gold"]) != _normal(row["question"])
    else:
        need = True
    if need is not None:
        conversation = re.split(r"(?<=\d)[-_](?=\d+(?:-\w+)?$)", row["id"])[0]
        yield LabelledTurn(
            name, conversation, row["question"], window_of(history_of(row)), need, str(row.get("gold", ""))
        )


def _normal(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))
