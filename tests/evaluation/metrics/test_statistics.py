from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from llama_index_condense_plus.evaluation.metrics.statistics import compare, estimate


def test_estimate_agrees_with_scipy_s_bootstrap() -> None:
    values = [1.0] * 70 + [0.0] * 30
    found = estimate(values)
    interval = stats.bootstrap((values,), np.mean, method="percentile", rng=1).confidence_interval
    assert found.mean == pytest.approx(0.7)
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high), abs=0.02)
    assert found.n == 100


def test_estimate_of_equal_values_has_no_width() -> None:
    found = estimate([1.0, 1.0])
    assert (found.mean, found.low, found.high) == (1.0, 1.0, 1.0)


def test_estimate_is_the_same_each_time() -> None:
    values = [0.1 * i for i in range(20)]
    assert estimate(values) == estimate(values)


def test_compare_agrees_with_scipy_s_permutation_test() -> None:
    dice = np.random.default_rng(3)
    first = (dice.random(60) < 0.7).astype(float)
    second = (dice.random(60) < 0.5).astype(float)
    found = compare(list(first), list(second))
    theirs = stats.permutation_test((first - second,), np.mean, permutation_type="samples", n_resamples=5000, rng=1)
    assert found.difference == pytest.approx(float((first - second).mean()))
    assert found.p_value == pytest.approx(theirs.pvalue, abs=0.03)
    assert found.low <= found.difference <= found.high
    assert (found.better, found.worse) == (int((first > second).sum()), int((first < second).sum()))


def test_compare_of_equal_engines_sees_nothing() -> None:
    assert compare([1.0, 0.0], [1.0, 0.0]).p_value == 1.0


@pytest.mark.parametrize(("first", "second"), [([], []), ([1.0], [1.0, 2.0])])
def test_compare_refuses_lists_that_do_not_pair(first: list[float], second: list[float]) -> None:
    with pytest.raises(ValueError, match="same length"):
        compare(first, second)


def test_estimate_refuses_no_values() -> None:
    with pytest.raises(ValueError, match="at least one"):
        estimate([])
