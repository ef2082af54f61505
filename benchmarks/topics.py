"""How often a change of topic, after which older rounds feed no rewrite, hides what a later question still means.

    CONDENSE_PLUS_DATA=… python -m benchmarks.topics [--quick]

Every conversation is replayed as the engine would hold it: a message that opens a topic moves the start of the window.
Beside the shipped rule stands the gate's "new topic" alone. A question is hurt if a name or word that its human (MTRAG:
best published) completion takes from the conversation stands before the topic's start only. Figures carry standard
errors.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from benchmarks._data import figure, history_of, load, table
from llama_index_condense_plus.lexicons.text import content_tokens, fold
from llama_index_condense_plus.memory.records import opens_topic
from llama_index_condense_plus.rewriting.history import build_window
from llama_index_condense_plus.rewriting.trigger import build_trigger
from llama_index_condense_plus.settings import CondensePlusSettings
from llama_index_condense_plus.types import HistoryWindow, TriggerDecision, TriggerReason

SETTINGS = CondensePlusSettings()
FILES = {"KdConv": "kdconv_zh_dev", "MTRAG": "mtrag_dev", "CAsT-19": "cast19", "GECOR": "gecor_task"}
BEST = "claude-sonnet-4/targeted"
"""The published rewrites of MTRAG that change least."""
QUICK = 400
"""Questions of a quick run."""
Rule = Callable[[TriggerDecision, str, HistoryWindow], bool]
RULES: dict[str, Rule] = {
    "new topic": lambda decision, _, window: decision.reason is TriggerReason.NEW_TOPIC and bool(window),
    "shipped: with a new name": opens_topic,
}
_trigger = build_trigger(SETTINGS)


@lru_cache(maxsize=200_000)
def start_after(rule: str, history: tuple[tuple[str, str], ...]) -> int:
    """Return where in a history the present topic begins, its last user message included."""
    users = [i for i, (role, _) in enumerate(history) if role == "user"]
    if not users:
        return 0
    last = users[-1]
    start = start_after(rule, history[:last])
    message, window = history[last][1], build_window(history[:last], SETTINGS.history, topic_start=start)
    return last if RULES[rule](_trigger.decide(message, window), message, window) else start


def needed(name: str, row: dict[str, Any]) -> set[str]:
    """Return the names or words of the conversation that a question means and does not say."""
    if name == "KdConv":
        question = fold(row["question"])
        return {fold(entity) for entity in row["gold_entity_base"] if fold(entity) not in question}
    gold = row["machine"].get(BEST, "") if name == "MTRAG" else row["gold"]
    return set(content_tokens(gold)) - set(content_tokens(row["question"]))


def said(name: str, history: tuple[tuple[str, str], ...], wanted: set[str]) -> set[str]:
    """Return which of the wanted names or words a history holds."""
    text = fold("\n".join(content for _, content in history))
    return {word for word in wanted if word in text} if name == "KdConv" else wanted & set(content_tokens(text))


def measure(name: str, rule: str, rows: list[dict[str, Any]]) -> list[str]:
    """Return a line of the table."""
    opened: list[float] = []
    behind: list[float] = []
    for row in rows:
        history = tuple(history_of(row))
        wanted = said(name, history, needed(name, row))
        asked = (*history, ("user", row["question"]))
        if start_after(rule, asked) == len(history):  # the question itself opens a topic
            opened.append(float(bool(wanted)))
        if start := start_after(rule, history):
            behind.append(float(bool(wanted - said(name, history[start:], wanted))))
    shares = [f"{len(opened) / len(rows):.3f}", figure(opened), f"{len(behind) / len(rows):.3f}", figure(behind)]
    return [name, rule, f"{len(rows):,}", *shares, f"{sum(behind) / len(rows):.3f}"]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help=f"{QUICK} questions of each set")
    quick = parser.parse_args().quick
    lines = []
    for name, file in FILES.items():
        rows = [row for row in load(file) if row["history"]]
        rows = rows[:: max(1, len(rows) // QUICK)] if quick else rows
        lines += [measure(name, rule, rows) for rule in RULES]
    heads = ["set", "rule", "questions", "open a topic", "of these, need what was said"]
    heads += ["come after one", "of these, lose a word", "lose one, of all"]
    table("Changes of topic", heads, lines)


if __name__ == "__main__":
    main()
