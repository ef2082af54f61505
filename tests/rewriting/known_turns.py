"""Turns of the hard conversations, and what the gate and the rules make of them, to the word.

python -m tests.rewriting.known_turns     # takes over what they make today; the difference shows what has changed
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from llama_index_condense_plus.rewriting.history import build_window
from llama_index_condense_plus.rewriting.rules import RuleRewriter
from llama_index_condense_plus.rewriting.trigger import build_trigger
from llama_index_condense_plus.settings import CondensePlusSettings
from llama_index_condense_plus.types import RewriteRequest
from tests.rewriting.hard_cases import DATA, hard_cases

FILE = DATA / "known_turns.jsonl"
CONVERSATIONS = ("hard_conversations", "held_out_conversations", "further_conversations", "later_conversations")
SETTINGS = CondensePlusSettings()
TRIGGER = build_trigger(SETTINGS)


@dataclass(frozen=True, slots=True)
class Turn:
    """A message in its conversation and what becomes of it."""

    history: tuple[str, ...]
    message: str
    reason: str
    logit: float | None
    """The gate's sum of weights: unlike the score it moves with every feature."""
    names: tuple[str, ...] | None = None
    """What the conversation speaks of, likeliest first, each with its kind."""
    query: str | None = None
    """What the rules say where they are known to be right; None elsewhere."""


def made(history: tuple[str, ...], message: str) -> Turn:
    """Return what is made of a message today."""
    pairs = [(("user", "assistant")[n % 2], text) for n, text in enumerate(history)]
    window = build_window(pairs, SETTINGS.history)
    decision = TRIGGER.decide(message, window)
    logit = None if decision.score is None else round(math.log(decision.score / (1 - decision.score)), 3)
    query = RuleRewriter().outcome(RewriteRequest(message, window, decision)).text
    names = tuple(f"{entity.text} ({entity.kind})" for entity in window.entities)
    return Turn(history, message, decision.reason.value, logit, names, query)


def known() -> Iterator[Turn]:
    """Yield the turns of the file."""
    for line in FILE.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        yield Turn(**{key: tuple(value) if isinstance(value, list) else value for key, value in row.items()})


def _today() -> Iterator[Turn]:
    """Yield each case, and in its conversation the question with which the next one begins."""
    cases = [case for name in CONVERSATIONS for case in hard_cases(name)]
    for case, other in zip(cases, [*cases[1:], cases[0]], strict=True):
        turn = made(case.history, case.question)
        yield turn if turn.query and case.right(turn.query) else replace(turn, query=None)
        yield replace(made(case.history, other.history[0]), names=None, query=None)


if __name__ == "__main__":
    lines = (json.dumps(asdict(turn), ensure_ascii=False) for turn in _today())
    Path(FILE).write_text("\n".join(lines) + "\n", encoding="utf-8")
