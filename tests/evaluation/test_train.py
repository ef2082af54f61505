from __future__ import annotations

import math

from llama_index_condense_plus.evaluation.train import MIN_GROUP, Prepared, TrainingTurn, calibrated, window_of
from llama_index_condense_plus.rewriting.learned import LinearModel

TALK = [{"role": "user", "content": "What is it?"}, {"role": "assistant", "content": "A printer."}]


def prepared(number: int, *, ruled: bool | None = None) -> Prepared:
    turn = TrainingTurn("And its price?", window_of(TALK), True, "log", str(number))
    return Prepared(turn, frozenset(), ruled, "en")


def threshold(sums: list[float]) -> float:
    turns = [prepared(number) for number in range(len(sums))]
    return calibrated(LinearModel({"en": {"": 0.0}}), turns, sums).weights["en"][""]


def test_calibrated_lets_the_threshold_miss_few_of_what_needs_a_rewrite() -> None:
    sums = [float(number) for number in range(100)]
    assert -6.0 < threshold(sums) < -3.0


def test_calibrated_stays_finite_where_rules_decide_most_of_a_group() -> None:
    for sums in ([-math.inf] * 30 + [1.0] * 70, [math.inf] * 99 + [1.0], [-math.inf] * 60 + [math.inf] * 40):
        assert len(sums) > MIN_GROUP
        assert math.isfinite(threshold(sums))
