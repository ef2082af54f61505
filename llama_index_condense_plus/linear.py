"""A small logistic model whose weights a person can read."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from llama_index_condense_plus.errors import ConfigurationError
from llama_index_condense_plus.settings.reading import read_toml

LARGEST_LOGIT = 30.0
"""Beyond it the logistic function is 0 or 1 to thirteen digits."""


@dataclass(frozen=True, slots=True)
class LinearModel:
    """Logistic regression over named features.

    Example:
        >>> model = LinearModel(weights={"pronoun": 2.0}, intercept=-1.0)
        >>> round(model.probability({"pronoun": 1.0}), 3)
        0.731
    """

    weights: Mapping[str, float]
    """Weight of each feature; a feature without one counts nothing."""
    intercept: float = 0.0
    """Logit of a case whose features are all 0."""
    threshold: float = 0.5
    """Probability from which the answer is yes, in [0, 1]."""
    trained_on: tuple[str, ...] = field(default=())
    """Names of the sets that the weights come from."""

    @classmethod
    def load(cls, path: Path) -> LinearModel:
        """Return the model of a TOML file.

        Args:
            path: a file with ``intercept``, ``threshold``, ``trained_on`` and a table ``weights``.

        Raises:
            ConfigurationError: the file cannot be read, or holds no numbers under ``weights``.
        """
        try:
            table: dict[str, Any] = dict(read_toml(path))
            return cls(
                weights={name: float(value) for name, value in table["weights"].items()},
                intercept=float(table.get("intercept", 0.0)),
                threshold=float(table.get("threshold", 0.5)),
                trained_on=tuple(table.get("trained_on", ())),
            )
        except (ConfigurationError, KeyError, TypeError, ValueError, AttributeError):
            raise ConfigurationError(
                f"{path} is not a weights file: a TOML file with numbers under [weights] is expected, "
                "as the training command writes it."
            ) from None

    def probability(self, features: Mapping[str, float]) -> float:
        """Return the estimated probability in [0, 1].

        Args:
            features: value of each feature; one that is left out is 0.
        """
        weights = self.weights
        logit = self.intercept + sum([weights.get(name, 0.0) * value for name, value in features.items()])
        return 1.0 / (1.0 + math.exp(-max(-LARGEST_LOGIT, min(LARGEST_LOGIT, logit))))
