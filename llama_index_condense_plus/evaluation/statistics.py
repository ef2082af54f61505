"""How sure a figure is: bootstrap intervals of means, and of the paired differences of two engines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

RESAMPLES = 2000
SEED = 20240601
"""Fixed, so that a report can be made again."""


class Estimate(NamedTuple):
    """A mean of ``n`` values with its 95 % bootstrap interval."""

    mean: float
    low: float
    high: float
    n: int


def estimate(values: Sequence[float]) -> Estimate:
    """Return the mean and its percentile bootstrap interval (Efron and Tibshirani 1993).

    The estimate of paired differences tells whether one engine is better than another: an interval without 0 is a
    difference that chance would hardly make.

    Raises:
        ValueError: there are no values.
    """
    data = np.asarray(values, dtype=float)
    picks = np.random.default_rng(SEED).integers(0, len(data), size=(RESAMPLES, len(data)))
    low, high = np.percentile(data[picks].mean(axis=1), [2.5, 97.5])
    return Estimate(float(data.mean()), float(low), float(high), len(data))
