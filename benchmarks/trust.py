"""Measures trust in rewrites leave-one-set-out; ``python -m benchmarks.train trust`` writes its weights.

CONDENSE_PLUS_DATA=<folder> python -m benchmarks.trust
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from statistics import median
from time import process_time

import numpy as np

from benchmarks._data import figure, table
from benchmarks._trust_sets import HUMAN, Case, corruptions, human, kdconv, machine
from benchmarks.train import write
from llama_index_condense_plus.linear import LinearModel
from llama_index_condense_plus.settings import CondensePlusSettings
from llama_index_condense_plus.trust.compare import Comparison
from llama_index_condense_plus.trust.model import WEIGHTS, features
from llama_index_condense_plus.trust.refusals import REFUSALS
from llama_index_condense_plus.trust.verdict import Reviewer
from llama_index_condense_plus.types import HistoryWindow, WindowMessage

THRESHOLD = 0.39
"""The highest, to two digits, at which at most 6 % of the human rewrites of every set are doubted."""
KINDS = (
    "human",
    "same",
    "gain",
    "loss",
    "other",
    "answer",
    "question",
    "name",
    "number",
    "negation",
    "borrowed",
    "hijack",
    "baited",
)
EXPLAINED = {
    "lost_number": "1: a number of the question is gone; one that picked a list item is not.",
    "lost_negation": "1: the question negates and the rewrite does so less often.",
    "new_negation": "1: the rewrite negates what nobody has negated.",
    "new_number": "1: a number that nobody said and that no time in the message explains.",
    "new_names": "Names and codes that nobody mentioned: .5 for one, 1 for more.",
    "rarity": "How rare the rarest word is that nobody said: 0 for everyday words, 1 for rank 16,000 and beyond.",
    "added_unsaid": "Share of the added words that nobody said.",
    "added_questions": "Question words that the message, which asks, does not have: .5 for one, 1 for more.",
    "answer_words": "Share of the rewrite's words, names apart, that were added and that only an answer holds.",
    "answer_question": "1: the rewrite adds a question word and a word, no name, that only an answer holds.",
    "kept_nothing": "1: no word of what the message asks survives.",
}
WEIGHED = {"other": 4.0, "negation": 4.0, "number": 2.0, "name": 2.0, "hijack": 2.0, "baited": 3.0, "loss": 0.3}
"""Kinds of mistakes that count more, or less, than others."""
MOST = 400
"""Cases of one set, and of one kind of mistake in it, that count fully."""


@dataclass(frozen=True)
class Reviewed:
    """A case with what was made of it."""

    case: Case
    weighed: dict[str, float]
    refused: str


def window(history: tuple[tuple[str, str], ...]) -> HistoryWindow:
    """Return a conversation as a window of whole messages."""
    return HistoryWindow(messages=tuple(WindowMessage(role, text, text) for role, text in history))


def reviewed(case: Case) -> Reviewed:
    """Return a case with its features and the refusal that it meets."""
    comparison = Comparison(case.message, case.rewrite, window(case.history))
    refused = next((name for name, refuse in REFUSALS.items() if refuse(comparison)), "")
    return Reviewed(case, features(comparison), refused)


@lru_cache(maxsize=1)
def cases() -> tuple[Reviewed, ...]:
    """Return every case of every set, right and wrong."""
    sets = [*(human(name) for name in HUMAN), kdconv()]
    published = machine()
    sets += [[case for case in published if case.set == name] for name in ("mtrag", "kdconv_qwen")]
    return tuple(reviewed(case) for found in sets for case in (*found, *corruptions(found)))


def trained(rows: list[Reviewed], names: list[str]) -> LinearModel:
    """Return a logistic regression whose weights all lower trust; a feature that would raise it is left out.

    Every set counts alike, and in it the right rewrites as much as all kinds of wrong ones.
    """
    rows = [row for row in rows if not row.refused]
    good = Counter(row.case.set for row in rows if row.case.is_good)
    bad = Counter((row.case.set, row.case.kind) for row in rows if not row.case.is_good)
    kinds = Counter(name for name, _ in bad)

    def share(case: Case) -> float:
        if case.is_good:
            return min(MOST, good[case.set]) / good[case.set]
        n = bad[case.set, case.kind]
        rare = 16.0 if case.kind in {"number", "negation"} else 1.0
        weight = min(MOST, good[case.set]) / kinds[case.set] / n * WEIGHED.get(case.kind, 1.0)
        return min(weight, rare)

    weights = np.array([share(row.case) for row in rows])
    labels = np.array([float(row.case.is_good) for row in rows])
    used = list(names)
    while True:
        matrix = np.array([[row.weighed[name] for name in used] + [1.0] for row in rows])
        found = _logistic(matrix, labels, weights)
        if (found[:-1] <= 0).all():
            return LinearModel(dict(zip(used, found[:-1], strict=True)), found[-1], THRESHOLD)
        used.pop(int(np.argmax(found[:-1])))


def _logistic(matrix: np.ndarray, labels: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the coefficients by Newton's method, with a ridge of 1 on all but the intercept."""
    found = np.zeros(matrix.shape[1])
    ridge = np.diag([1.0] * (matrix.shape[1] - 1) + [1e-6])
    for _ in range(30):
        estimate = 1 / (1 + np.exp(-np.clip(matrix @ found, -30, 30)))
        slope = matrix.T @ (weights * (estimate - labels)) + ridge @ found
        curve = (matrix * (weights * estimate * (1 - estimate))[:, None]).T @ matrix + ridge
        found -= np.linalg.solve(curve, slope)
    return found


def tables(rows: tuple[Reviewed, ...]) -> None:
    """Print for each set and kind the share refused, and refused or doubted, by weights trained without the set."""
    refused, caught, reasons = [], [], []
    names = list(rows[0].weighed)
    for name in dict.fromkeys(row.case.set for row in rows):
        model = trained([row for row in rows if row.case.set.split("_")[0] != name.split("_")[0]], names)
        by_kind = {kind: [row for row in rows if row.case.set == name and row.case.kind == kind] for kind in KINDS}
        no = {kind: [float(bool(row.refused)) for row in found] for kind, found in by_kind.items()}
        less = {
            kind: [float(bool(row.refused) or model.probability(row.weighed) < THRESHOLD) for row in found]
            for kind, found in by_kind.items()
        }
        refused.append([name, *(figure(no[kind]) for kind in KINDS)])
        caught.append([name, *(figure(less[kind]) for kind in KINDS)])
        why = Counter(row.refused for row in by_kind["human"] + by_kind["gain"] if row.refused)
        reasons.append([name, ", ".join(f"{reason} {count}" for reason, count in why.most_common())])
    table("Refused", ("set", *KINDS), refused)
    table("Refused or doubted, trained without the set", ("set", *KINDS), caught)
    table("Why right rewrites are refused", ("set", "refusals"), reasons)


def speed(rows: tuple[Reviewed, ...]) -> None:
    """Print the processor time of a first review, by kind of text and by length."""
    reviewer = Reviewer(CondensePlusSettings())
    for label, wanted in (("English", "qrecc"), ("Chinese", "kdconv")):
        times = []
        for row in [row for row in rows if row.case.set == wanted and row.case.kind == "human"][:400]:
            said = window(row.case.history)
            reviewer.review("x", row.case.message, said)
            started = process_time()
            reviewer.review(row.case.rewrite, row.case.message, said)
            times.append((process_time() - started) * 1e6)
        print(f"review, {label}: p50 {median(times):.0f} us")
    for size in (10_000, 100_000, 1_000_000):
        text = "How long is the warranty of the Kestrel, and what does it cover? " * (size // 65)
        started = process_time()
        reviewer.review(text, text[::-1], window((("user", text), ("assistant", text.upper()))))
        print(f"review, {size} characters: {(process_time() - started) * 1e3:.1f} ms")


def train(without: Sequence[str]) -> Path:
    """Train on every set but some, and write the weights."""
    rows = [row for row in cases() if row.case.set not in without]
    names = tuple(sorted({row.case.set for row in rows}))
    model = replace(trained(rows, list(rows[0].weighed)), trained_on=names)
    write(WEIGHTS, model, EXPLAINED, "Trust in a rewrite, over features from 0 to 1: every weight lowers it.")
    return WEIGHTS


def main() -> None:
    """Print the tables."""
    rows = cases()
    tables(rows)
    speed(rows)


if __name__ == "__main__":
    main()
