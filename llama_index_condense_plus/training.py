"""Fitting the gate to a user's own turns: the package's weights move as far as the turns give reason to."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import TypeAdapter, ValidationError
from typing_extensions import TypedDict

from llama_index_condense_plus.errors import ConfigurationError
from llama_index_condense_plus.gate.features import FEATURES, features, read_history, read_message
from llama_index_condense_plus.gate.trigger import WEIGHTS, load_weights
from llama_index_condense_plus.languages import detect_language, registered_packs
from llama_index_condense_plus.linear import LinearModel
from llama_index_condense_plus.types import HistoryWindow, WindowMessage

PENALTY = 20.0
"""Strength with which the shipped weights hold on, in turns: fewer turns of one's own change little."""
STEPS = 15
"""Steps of Newton's method; it converges in six or seven."""
FOLDS = 5
RECALL = 0.95
"""Share of the turns needing a rewrite that get one, by cross-validation."""
BOTH = 2
"""Labels that training needs."""


class Said(TypedDict):
    """One message of a conversation."""

    role: str
    content: str


@dataclass(frozen=True)
class LabelledTurn:
    """A message of which it is known whether it needed a rewrite."""

    message: str
    history: tuple[Said, ...]
    need: bool
    conversation: str = ""


def train_gate(rows: Iterable[LabelledTurn | Mapping[str, Any]], output: Path) -> LinearModel:
    """Fit the gate to labelled turns, and write its weights as a readable TOML file.

    Args:
        rows: each with ``message``, ``history`` (a list of ``{"role", "content"}``) and ``need`` (a bool).
        output: file for the weights; name it in ``trigger.weights_file``.

    Returns:
        The model.

    Raises:
        ConfigurationError: a row is incomplete, or all rows have one label.
    """
    cases, logits, labels = [], [], []
    shipped, own = load_weights(WEIGHTS)
    try:
        turns = TypeAdapter(list[LabelledTurn]).validate_python(list(rows))
    except ValidationError as error:
        raise ConfigurationError(f"Rows need message, history and need: {error}") from None
    for row in turns:
        language = detect_language(row.message)
        history = HistoryWindow(messages=tuple(WindowMessage(m["role"], m["content"], "") for m in row.history))
        reading = read_message(row.message, registered_packs()[language], read_history(history))
        found, model = features(reading), own.get(language, shipped)
        cases.append([found.get(name, 0.0) for name in FEATURES])
        logits.append(model.intercept + sum(model.weights.get(name, 0.0) * value for name, value in found.items()))
        labels.append(float(row.need))
    if len(set(labels)) < BOTH:
        raise ConfigurationError("Training needs turns that need a rewrite and turns that need none.")
    x, offset, y = np.array(cases, float), np.array(logits), np.array(labels)
    moved = _moved(x, offset, y)
    change = dict(zip(FEATURES, map(float, moved[:-1]), strict=True))
    trained = replace(
        shipped,
        weights={name: weight + change.get(name, 0.0) for name, weight in shipped.weights.items()},
        intercept=shipped.intercept + float(moved[-1]),
        threshold=_threshold(x, offset, y, shipped.threshold),
        trained_on=(*shipped.trained_on, f"{len(y)} turns of your own"),
    )
    output.write_text("\n".join(_lines(trained)) + "\n", encoding="utf-8")
    return trained


Array = np.ndarray[Any, np.dtype[np.float64]]


def _moved(x: Array, offset: Array, y: Array) -> Array:
    """Return by how much each weight, and the intercept, moves: ridge logistic regression around the shipped ones."""
    spread = x.std(axis=0)
    scale = np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > 0)  # a constant feature moves nothing
    scaled = np.hstack([x * scale, np.ones((len(x), 1))])
    ridge = PENALTY * np.eye(scaled.shape[1])
    weights = np.zeros(scaled.shape[1])
    for _ in range(STEPS):
        p = 1 / (1 + np.exp(-np.clip(offset + scaled @ weights, -30, 30)))
        curvature = (scaled * (p * (1 - p))[:, None]).T @ scaled + ridge
        weights -= np.linalg.solve(curvature, scaled.T @ (p - y) + ridge @ weights)
    return np.append(weights[:-1] * scale, weights[-1])


def _threshold(x: Array, offset: Array, y: Array, shipped: float) -> float:
    """Return the threshold that ``RECALL`` of the turns needing a rewrite reach under models that never saw them."""
    fold = np.arange(len(y)) % FOLDS
    held = np.zeros(len(y))
    for number in range(FOLDS):
        rest, mine = fold != number, fold == number
        moved = _moved(x[rest], offset[rest], y[rest])
        held[mine] = 1 / (1 + np.exp(-(offset[mine] + x[mine] @ moved[:-1] + moved[-1])))
    return min(shipped, float(np.quantile(held[y == 1], 1 - RECALL)))


def _lines(model: LinearModel) -> Iterator[str]:
    yield "# Weights of the gate: the larger the sum, the more a message needs a rewrite."
    yield f"\nintercept = {model.intercept:.4f}\nthreshold = {model.threshold:.4f}"
    yield f"trained_on = {json.dumps(model.trained_on)}\n\n[weights]"
    for name, weight in model.weights.items():
        if name in FEATURES:
            yield f"# {FEATURES[name]}"
        yield f"{name} = {weight:.4f}"
