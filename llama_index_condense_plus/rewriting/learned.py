"""The linear gate: trained weights in a data file, summed without any library."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

from llama_index_condense_plus.errors import ConfigurationError


@dataclass(frozen=True, slots=True)
class LinearModel:
    """Weights of features, and the sum at which the model is undecided."""

    weights: Mapping[str, float]
    """Feature → weight, in natural-log odds."""
    offset: float
    """Added to every sum; a message whose sum is 0 has the score 0.5."""

    def score(self, found: Iterable[str]) -> float:
        """Return a score in [0, 1]: 0.5 where the shipped threshold lies, higher if a rewrite is needed."""
        total = self.offset
        get = self.weights.get
        for feature in found:
            total += get(feature, 0.0)
        return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, total))))

    def dump(self, path: Path) -> None:
        """Write the model as JSON, weights in thousandths."""
        weights = {name: round(weight * 1000) for name, weight in sorted(self.weights.items())}
        values = {"offset": round(self.offset * 1000), "weights": {k: v for k, v in weights.items() if v}}
        path.write_text(json.dumps(values, ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8")


def read_model(text: str) -> LinearModel:
    """Return the model in a JSON text that ``LinearModel.dump`` wrote.

    Raises:
        ConfigurationError: the text is no such model.
    """
    try:
        values = json.loads(text)
        weights = {str(name): weight / 1000 for name, weight in values["weights"].items()}
        return LinearModel(weights, values["offset"] / 1000)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ConfigurationError(f"Not a trained gate: {error}. Write one with `condense-plus train`.") from None


def read_model_file(path: Path) -> LinearModel:
    """Return the model in a file.

    Raises:
        ConfigurationError: the file cannot be read or holds no trained gate.
    """
    try:
        return read_model(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"Cannot read trigger.weights_file {path}: {error}") from None


@cache
def shipped_model() -> LinearModel:
    """Return the model that the package brings."""
    data = files("llama_index_condense_plus.rewriting") / "data" / "gate_weights.json"
    return read_model(data.read_text(encoding="utf-8"))
