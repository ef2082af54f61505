"""Trains the weights that the package ships, each a linear model in a readable file.

    CONDENSE_PLUS_DATA=<folder> python -m benchmarks.train [gate] [trust] [ranker] [--without qrecc]

``--without`` leaves out a set with all that derives from it, for example one whose licence asks for the same licence.
Each part is a function ``train(without)`` of its benchmark, which calls ``fit`` and ``write`` here.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from pathlib import Path

import numpy as np

from llama_index_condense_plus.linear import LinearModel

PARTS = {"gate": "benchmarks.gate", "trust": "benchmarks.trust", "ranker": "benchmarks._ranker"}
"""What can be trained, and the module whose ``train`` does it."""
PENALTY = 2.0
"""Strength of the L2 penalty on standardised features."""
ROUNDS = 15
"""Steps of Newton's method; it converges in six or seven."""


def fit(
    cases: Sequence[Mapping[str, float]], labels: Sequence[bool], loads: Sequence[float], penalty: float = PENALTY
) -> LinearModel:
    """Return a logistic model by iteratively reweighted least squares.

    Args:
        cases: the features of each case; one that is left out is 0.
        labels: the answer for each case.
        loads: how much each case counts.
        penalty: strength of the L2 penalty.
    """
    names = sorted({name for case in cases for name in case})
    x = np.array([[case.get(name, 0.0) for name in names] for case in cases])
    y, load = np.array(labels, float), np.array(loads) * len(cases) / sum(loads)
    mean, spread = x.mean(axis=0), x.std(axis=0) + 1e-9
    x = np.hstack([(x - mean) / spread, np.ones((len(x), 1))])
    ridge = np.diag([penalty] * len(names) + [1e-6])
    weights = np.zeros(len(names) + 1)
    for _ in range(ROUNDS):
        p = 1 / (1 + np.exp(-np.clip(x @ weights, -30, 30)))
        curvature = (x * (load * np.maximum(p * (1 - p), 1e-6))[:, None]).T @ x + ridge
        weights -= np.linalg.solve(curvature, x.T @ (load * (p - y)) + ridge @ weights)
    scaled = weights[:-1] / spread
    return LinearModel(
        weights=dict(zip(names, map(float, scaled), strict=True)), intercept=float(weights[-1] - scaled @ mean)
    )


def write(path: Path, model: LinearModel, explained: Mapping[str, str], about: str) -> None:
    """Write a model as a TOML file with a comment for each feature.

    Args:
        path: the file.
        model: what to write.
        explained: name of a feature → what it measures; ``name_xx`` is explained as ``name`` in the language ``xx``.
        about: first line of the file.
    """
    lines = [f"# {about}", "# Written by `python -m benchmarks.train`; a weight counts the value of its feature.", ""]
    lines += [f"intercept = {model.intercept:.4f}", f"threshold = {model.threshold:.4f}"]
    lines += [f"trained_on = {json.dumps(model.trained_on)}", "", "[weights]"]
    for name, meaning in explained.items():
        lines.append(f"# {meaning}")
        lines += [f"{key} = {model.weights[key]:.4f}" for key in _of(name, model, explained)]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _of(name: str, model: LinearModel, explained: Mapping[str, str]) -> Iterable[str]:
    """Return the keys of a feature: its name, and its name with a language."""
    return [key for key in model.weights if key == name or (key not in explained and key.rpartition("_")[0] == name)]


def main() -> None:
    """Train the parts that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", help=", ".join(PARTS))
    parser.add_argument("--without", action="append", default=[], help="a set to leave out")
    options = parser.parse_args()
    for part in options.parts or PARTS:
        path = import_module(PARTS[part]).train(tuple(options.without))
        print(f"{part}: {path.stat().st_size / 1000:.1f} kB in {path.name}")


if __name__ == "__main__":
    main()
