"""Measures trust in rewrites leave-one-set-out, and trains its weights.

python benchmarks/trust.py            the tables
python benchmarks/trust.py --write    trust/data/weights.toml, trained on every set
python benchmarks/trust.py --without qrecc --write    the same without the share-alike set
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from statistics import median
from time import process_time

import numpy as np
from _data import figure, table
from _trust_sets import HUMAN, Case, corruptions, human, kdconv, machine

from llama_index_condense_plus.linear import LinearModel
from llama_index_condense_plus.settings import CondensePlusSettings
from llama_index_condense_plus.trust.compare import Comparison
from llama_index_condense_plus.trust.model import WEIGHTS, features
from llama_index_condense_plus.trust.refusals import REFUSALS
from llama_index_condense_plus.trust.verdict import Reviewer
from llama_index_condense_plus.types import HistoryWindow, WindowMessage

THRESHOLD = 0.5
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
)
EXPLAINED = {
    "lost_name": "1: a name or code of the question is gone.",
    "lost_number": "1: a number of the question is gone; one that picked a list item is not.",
    "lost_negation": "1: the question negates and the rewrite does so less often.",
    "new_negation": "1: the rewrite negates what nobody has negated.",
    "new_number": "1: a number that nobody said and that no time in the message explains.",
    "new_names": "Names and codes that nobody mentioned: .5 for one, 1 for more.",
    "rarity": "How rare the rarest word is that nobody said: 0 for everyday words, 1 for rank 16,000 and beyond.",
    "added_unsaid": "Share of the added words that nobody said.",
    "added_questions": "Question words that the message, which asks, does not have: .5 for one, 1 for more.",
    "unsaid_question": "1: the rewrite adds a question word and a word that nobody said.",
    "reference_left": "1: a reference of the message is still there beside other changes.",
    "lost_words": "Share of the words lost that the question is to keep.",
    "kept_nothing": "1: no word of what the message asks survives.",
    "other_chat": "Share of the words lost of a message that has no word of content.",
    "small_talk": "1: greeting or thanks, with something added.",
}
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
        rare = 8.0 if case.kind in {"number", "negation"} else 1.0
        weight = min(MOST, good[case.set]) / kinds[case.set] / n * {"other": 4.0, "loss": 0.3}.get(case.kind, 1.0)
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


def write(model: LinearModel, names: list[str]) -> None:
    """Write the weights with a line of explanation each."""
    lines = [
        "# Trust in a rewrite: a logistic regression over features from 0 to 1. Every weight lowers trust.",
        "# Written by benchmarks/trust.py --write.",
        f"intercept = {model.intercept:.3f}",
        f"threshold = {THRESHOLD}",
        f"trained_on = [{', '.join(repr(name).replace(chr(39), chr(34)) for name in names)}]",
        "",
        "[weights]",
    ]
    for name, weight in sorted(model.weights.items(), key=lambda pair: pair[1]):
        lines += [f"# {EXPLAINED[name]}", f"{name} = {weight:.3f}"]
    WEIGHTS.write_text("\n".join(lines) + "\n", encoding="utf-8")


def main() -> None:
    """Print the tables, or write the weights."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write the weights")
    parser.add_argument("--without", default="", help="a set that is left out, by name")
    options = parser.parse_args()
    rows = tuple(row for row in cases() if row.case.set != options.without)
    if options.write:
        names = sorted({row.case.set for row in rows})
        write(trained(list(rows), list(rows[0].weighed)), names)
    else:
        tables(rows)
        speed(rows)


if __name__ == "__main__":
    sys.exit(main())
