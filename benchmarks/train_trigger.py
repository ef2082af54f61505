"""Train the gate that the package ships: public sets, their human rewrites, and the package's own cases.

CONDENSE_PLUS_DATA=… python -m benchmarks.train_trigger
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from benchmarks._data import load
from benchmarks._trigger_sets import FILES, SETS, labelled_turns
from llama_index_condense_plus.evaluation.train import TrainingTurn, fit, own_turns, shipped_turns, window_of
from llama_index_condense_plus.lexicons.text import content_tokens

WEIGHTS = Path(__file__).parents[1] / "llama_index_condense_plus" / "rewriting" / "data" / "gate_weights.json"
"""The file in the package."""
GOLD_WEIGHT = 0.1
"""A human rewrite needs no rewrite; it weighs little, for nobody types like that."""
FIRST_WEIGHT = 0.03
"""A conversation's first question, asked in another conversation, is a new topic."""
SET_WEIGHTS = {"cast19": 2.5, "alexa": 1.6}
"""CAsT holds the only search questions in English; Alexa has no turns that need none to make up its weight."""
MTRAG_WEIGHT = 0.1
"""MTRAG's labels are guessed from what several models changed."""


def training_turns(without: Iterable[str] = ()) -> list[TrainingTurn]:
    """Return everything that is trained on.

    Args:
        without: sets left out with all that derives from them.
    """
    turns = [*own_turns(), *shipped_turns()]
    for name in SETS:
        if name in without:
            continue
        labelled = labelled_turns(name)
        turns += [
            TrainingTurn(t.question, t.window, t.need, name, t.conversation, SET_WEIGHTS.get(name, 1.0))
            for t in labelled
        ]
        for t in labelled:
            if t.need and t.gold:
                extra = TrainingTurn(t.gold, t.window, False, f"{name}-gold", t.conversation, GOLD_WEIGHT)
                turns.append(replace(extra, calibrates=False))
        turns += _first_questions(name, [(t.window, t.conversation) for t in labelled])
    if "mtrag" not in without:
        turns += mtrag_turns()
    return turns


def _first_questions(name: str, places: list) -> list[TrainingTurn]:  # type: ignore[type-arg]
    dice = random.Random(0)  # noqa: S311 - pairing, not secrecy
    found = []
    for row in load(FILES[name]):
        if not row["history"] and row.get("entity_in_question", True):
            window, conversation = dice.choice(places)
            found.append(
                TrainingTurn(
                    row["question"], window, False, f"{name}-first", conversation, FIRST_WEIGHT, calibrates=False
                )
            )
    return found


def mtrag_turns() -> list[TrainingTurn]:
    """Return MTRAG's follow-ups where most models agree that much, or nothing, was missing."""
    found = []
    for row in load("mtrag_dev"):
        rewrites = [text for name, text in row["machine"].items() if "targeted" in name or "full" in name]
        if not row["history"] or not rewrites:
            continue
        words = set(content_tokens(row["question"]))
        added = [len(set(content_tokens(text)) - words) for text in rewrites]
        unchanged = sum(count == 0 for count in added) / len(added)
        changed = sum(count > 1 for count in added) / len(added)
        if unchanged >= 0.5 or changed >= 0.6:
            found.append(
                TrainingTurn(
                    row["question"],
                    window_of(row["history"]),
                    unchanged < 0.5,
                    "mtrag",
                    row["id"].split("<::>")[0],
                    MTRAG_WEIGHT,
                    calibrates=False,
                )
            )
    return found


def main() -> None:
    """Train and write the weights."""
    turns = training_turns()
    model = fit(turns)
    model.dump(WEIGHTS)
    print(f"{len(turns)} turns, {len(model)} features, {WEIGHTS.stat().st_size / 1000:.0f} kB in {WEIGHTS.name}")


if __name__ == "__main__":
    main()
