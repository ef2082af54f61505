"""What a decision of the default gate costs in CPU time: on new questions and repeated ones, with new words or not."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from benchmarks._trigger_sets import SETS, LabelledTurn, labelled_turns
from llama_index_condense_plus.protocols import Trigger
from llama_index_condense_plus.rewriting.trigger import build_trigger
from llama_index_condense_plus.settings import CondensePlusSettings
from llama_index_condense_plus.types import HistoryWindow

RUNS = 5
MESSAGES = 6
"""Messages of history."""
LENGTHS = range(50, 71)
"""Lengths of the questions that are timed, in characters."""
QUESTIONS = 400
"""Questions that are timed at most."""
OTHERS = 2_000
"""Other questions that a process has read before, at most."""
WORDS_MET = "new question, its words met before"
"""What the gate's limit is for: the words of a language recur, so a process soon has met nearly all of them."""
Row = tuple[str, str, str, str]


def gate_rows() -> list[Row]:
    """Return rows: which questions, how many, and p50 and p99 of what a decision on one costs.

    Each question is asked after a history that was read before. Words met before are the rule in a process that runs:
    what is remembered of a word serves every question that holds it, and nothing is remembered of the question.
    """
    timed, others = _turns()
    with _no_collection():
        first, met, again = _times(timed, others)
        return [
            _row(WORDS_MET, met.values()),
            *(
                _row(f"    {label}", [met[turn.question] for turn in timed if (turn.set_name == "kdconv") is chinese])
                for label, chinese in (("English", False), ("Chinese", True))
            ),
            _row(f"new question, after {len(others):,} others", first.values()),
            _row("new question, none of its words met before", _cold(timed)),
            _row("the same question again", again.values()),
        ]


def _turns() -> tuple[list[LabelledTurn], list[LabelledTurn]]:
    """Return turns with different questions to time, and others."""
    found = [turn for name in SETS for turn in labelled_turns(name) if len(turn.window.messages) >= MESSAGES - 1]
    turns = list({turn.question: turn for turn in found}.values())
    timed = [turn for turn in turns if len(turn.question) in LENGTHS][:QUESTIONS]
    chosen = {turn.question for turn in timed}
    others = [turn for turn in turns if turn.question not in chosen]
    return timed, others[:: max(1, len(others) // OTHERS)]


def _times(
    timed: Sequence[LabelledTurn], others: Sequence[LabelledTurn]
) -> tuple[dict[str, float], dict[str, float], dict[str, float]]:
    """Return times at first sight, the best of new questions with the same words, and of the same question."""
    trigger = build_trigger(CondensePlusSettings())
    for turn in others:
        trigger.decide(turn.question, _window(turn))
    first: dict[str, float] = {}
    met: dict[str, float] = {}
    again: dict[str, float] = {}
    for run in range(RUNS + 1):
        for turn in timed:
            question = turn.question + " " * run  # another question to every cache, of the same words
            spent = _spent(trigger, question, turn)
            if run:
                met[turn.question] = min(spent, met.get(turn.question, spent))
            else:
                first[turn.question] = spent
            spent = _spent(trigger, question, turn)
            again[turn.question] = min(spent, again.get(turn.question, spent))
    return first, met, again


def _cold(timed: Sequence[LabelledTurn]) -> Iterator[float]:
    """Return times of gates that know their lexicons and have read the history, and no question."""
    for number, turn in enumerate(timed):
        own = {"openers_add": [f"opener{number}"]}  # words of a user's make a lexicon of its own
        yield _spent(build_trigger(CondensePlusSettings(languages={"zh": own, "en": own})), turn.question, turn)


def _window(turn: LabelledTurn) -> HistoryWindow:
    return HistoryWindow(messages=turn.window.messages[-MESSAGES:])


def _spent(trigger: Trigger, question: str, turn: LabelledTurn) -> float:
    """Return the seconds of a decision after a history that was read before."""
    window = _window(turn)
    trigger.decide("是吗？" if turn.set_name == "kdconv" else "a?", window)
    begun = time.thread_time_ns()
    trigger.decide(question, window)
    return (time.thread_time_ns() - begun) / 1e9


def _row(name: str, times: Iterable[float]) -> Row:
    ordered = sorted(times)
    middle, high = ordered[len(ordered) // 2], ordered[int(len(ordered) * 0.99)]
    return name, str(len(ordered)), f"{middle * 1e6:.0f} µs", f"{high * 1e6:.0f} µs"


@contextmanager
def _no_collection() -> Iterator[None]:
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
