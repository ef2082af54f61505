"""How sure a figure is: bootstrap intervals, and paired comparison of two engines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

RESAMPLES = 2000
LEVEL = 0.95
SEED = 20240601
"""Fixed, so that a report can be made again."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean with its bootstrap interval."""

    mean: float
    """The mean."""
    low: float
    """Lower end of the 95 % interval."""
    high: float
    """Upper end of the 95 % interval."""
    n: int
    """Number of values."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """One engine's figure less another's, on the same cases."""

    difference: float
    """Mean of the differences."""
    low: float
    """Lower end of the 95 % interval of the mean."""
    high: float
    """Upper end of the 95 % interval of the mean."""
    p_value: float
    """Two-sided p of a sign-flip permutation test, 0 to 1."""
    better: int
    """Cases where the first engine's value is higher."""
    worse: int
    """Cases where it is lower."""


def estimate(values: Sequence[float]) -> Estimate:
    """Return the mean and its percentile bootstrap interval (Efron and Tibshirani 1993).

    Raises:
        ValueError: there are no values.
    """
    if not values:
        raise ValueError("A mean needs at least one value.")
    data = np.asarray(values, dtype=float)
    if np.all(data == data[0]):
        return Estimate(float(data[0]), float(data[0]), float(data[0]), len(data))
    low, high = _interval(data)
    return Estimate(float(data.mean()), low, high, len(data))


def compare(first: Sequence[float], second: Sequence[float]) -> Comparison:
    """Compare two engines' values of the same cases, in the same order.

    Raises:
        ValueError: the lists are empty or of different length.
    """
    if not first or len(first) != len(second):
        raise ValueError("A paired comparison needs two lists of the same length.")
    differences = np.asarray(first, dtype=float) - np.asarray(second, dtype=float)
    mean = float(differences.mean())
    better, worse = int((differences > 0).sum()), int((differences < 0).sum())
    if not better and not worse:
        return Comparison(0.0, 0.0, 0.0, 1.0, 0, 0)
    low, high = _interval(differences)
    signs = np.random.default_rng(SEED).choice((-1.0, 1.0), size=(RESAMPLES, len(differences)))
    flipped = np.abs((signs * differences).mean(axis=1))
    extreme = int((flipped >= abs(mean) - 1e-12).sum())
    return Comparison(mean, low, high, (extreme + 1) / (RESAMPLES + 1), better, worse)


def _interval(data: np.ndarray[tuple[int], np.dtype[np.float64]]) -> tuple[float, float]:
    picks = np.random.default_rng(SEED).integers(0, len(data), size=(RESAMPLES, len(data)))
    means = data[picks].mean(axis=1)
    low, high = np.percentile(means, [50 * (1 - LEVEL), 50 * (1 + LEVEL)])
    return float(low), float(high)
