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
from llama_index_condense_plus.lexicons.memo import Memo
from llama_index_condense_plus.rewriting.feature_names import Found, Part, names

PARTS = 32_768
"""Parts of a language whose sums are remembered: about 10 MB."""


@dataclass(frozen=True, slots=True)
class LinearModel:
    """Weights of features, for each language."""

    weights: Mapping[str, Mapping[str, float]]
    """Language → feature → weight, in natural-log odds. Under "" stands what is added to every sum: 0 is undecided."""

    def __len__(self) -> int:
        """Return the number of weights."""
        return sum(map(len, self.weights.values()))

    def sum(self, language: str, found: Iterable[str]) -> float:
        """Return the sum of a message's features: positive if a rewrite is needed."""
        weight = self.weights.get(language, {}).get
        return math.fsum(weight(feature, 0.0) for feature in ("", *found))

    def dump(self, path: Path) -> None:
        """Write the model as JSON, weights in thousandths."""
        values = {
            language: {name: rounded for name, weight in sorted(weights.items()) if (rounded := round(weight * 1000))}
            for language, weights in self.weights.items()
        }
        path.write_text(json.dumps(values, ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8")


class Scorer:
    """Scores messages.

    Args:
        model: the weights.
    """

    def __init__(self, model: LinearModel) -> None:
        self._sums = {language: _Sums(weights) for language, weights in model.weights.items()}

    def score(self, language: str, found: Found) -> float:
        """Return a score in [0, 1]: 0.5 where the shipped threshold lies, higher if a rewrite is needed."""
        sums = self._sums.get(language)
        total = 0.0 if sums is None else sums.of(found)
        return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, total))))


class _Sums(Memo[Part, float]):
    """What parts of messages add to a language's sum, each reckoned when it is first met.

    Args:
        weights: feature → weight.
    """

    def __init__(self, weights: Mapping[str, float]) -> None:
        super().__init__(PARTS)
        self._weights = weights
        self._offset = weights.get("", 0.0)

    def __missing__(self, part: Part) -> float:
        return self.keep(part, math.fsum(self._weights.get(name, 0.0) for name in names(part)))

    def of(self, found: Found) -> float:
        """Return the sum of a message's features."""
        weights = self._weights
        told = filter(weights.__contains__, found.wording)
        return self._offset + sum(map(self.__getitem__, found.parts)) + sum(map(weights.__getitem__, told))


def read_model(text: str) -> LinearModel:
    """Return the model in a JSON text that ``LinearModel.dump`` wrote.

    Raises:
        ConfigurationError: the text is no such model.
    """
    shared: dict[int, float] = {}  # few weights differ: together they take less memory and are found sooner
    try:
        values = json.loads(text)
        return LinearModel(
            {
                str(language): {str(name): shared.setdefault(weight, weight / 1000) for name, weight in weights.items()}
                for language, weights in values.items()
            }
        )
    except (ValueError, TypeError, AttributeError) as error:
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
def shipped_scorer() -> Scorer:
    """Return what scores with the model that the package brings."""
    data = files("llama_index_condense_plus.rewriting") / "data" / "gate_weights.json"
    return Scorer(read_model(data.read_text(encoding="utf-8")))
