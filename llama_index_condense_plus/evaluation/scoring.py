"""From outcomes to figures: every measure for every case, so that figures can be compared case by case."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np

from llama_index_condense_plus.evaluation.cases import Case, Dataset, Outcome
from llama_index_condense_plus.evaluation.matching import is_correct, is_dangling, is_labelled
from llama_index_condense_plus.types import TriggerReason


class Stage(str, Enum):
    """Where a case went wrong, in the order of a turn."""

    RIGHT = "right"
    ENGINE_FAILED = "engine failed"
    NOT_ASKED = "no rewrite asked for"
    REFUSED = "a good rewrite refused"
    REWRITE_WRONG = "rewrite wrong"
    NOT_FOUND = "passage not found"
    LOST = "passage found, then lost in fusion or reranking"


@dataclass(frozen=True)
class Scores:
    """Everything measured on one engine; what was not measured is not there.

    Attributes:
        outcomes: what it did, in the data set's order.
        values: figure → case → value.
        stages: case → the first stage that went wrong.
        run: figures of the run as a whole: seconds.
    """

    engine: str
    outcomes: tuple[Outcome, ...]
    values: dict[str, dict[str, float]]
    stages: dict[str, Stage]
    run: dict[str, float]


def score(engine: str, dataset: Dataset, outcomes: Sequence[Outcome], *, k: int = 3) -> Scores:
    """Measure one engine's outcomes; failed cases count as zero and stay.

    Args:
        engine: its name.
        dataset: the cases.
        outcomes: one for each case, in the same order.
        k: depth of the retrieval figures.
    """
    pairs = list(zip(dataset.cases, outcomes, strict=True))
    values: dict[str, dict[str, float]] = defaultdict(dict)
    for case, outcome in pairs:
        for name, value in (*_gate(case, outcome), *_rewrite(case, outcome)):
            values[name][case.id] = value
    if any(outcome.llm_calls for outcome in outcomes):
        values["llm_calls"] = {outcome.case_id: float(outcome.llm_calls) for outcome in outcomes}
    if dataset.passages:
        values |= _ranked([(case, outcome) for case, outcome in pairs if case.gold], k)
    median, slow = np.percentile([outcome.latency_s for outcome in outcomes], [50, 95])
    stages = {case.id: stage_of(case, outcome, k) for case, outcome in pairs}
    run = {"latency_p50_s": float(median), "latency_p95_s": float(slow)}
    return Scores(engine, tuple(outcomes), dict(values), stages, run)


def stage_of(case: Case, outcome: Outcome, k: int) -> Stage:
    """Return the first stage that went wrong, or ``RIGHT``; a passage is found if it is among the first ``k``."""
    if outcome.error or not outcome.query:
        return Stage.ENGINE_FAILED
    if is_labelled(case) and not is_correct(case, outcome.query):
        if case.needs_rewrite and not outcome.rewrite_asked:
            return Stage.NOT_ASKED
        refused = (query for query, verdict in outcome.attempts if verdict == "refused")
        return Stage.REFUSED if any(is_correct(case, query) for query in refused) else Stage.REWRITE_WRONG
    if not case.gold or not outcome.lists or rank(outcome, case, k):
        return Stage.RIGHT
    return Stage.LOST if any(set(ids[:k]) & set(case.gold) for _, ids in outcome.lists) else Stage.NOT_FOUND


def rank(outcome: Outcome, case: Case, k: int) -> int | None:
    """Return the rank of the first right passage among the first ``k``, None if there is none."""
    return next((place for place, name in enumerate(outcome.nodes[:k], 1) if name in case.gold), None)


def _gate(case: Case, outcome: Outcome) -> Iterator[tuple[str, float]]:
    """Yield what the gate did; first turns need none, and an engine that is switched off has none."""
    if case.needs_rewrite is None or not case.history or outcome.reason == TriggerReason.DISABLED.value:
        return
    right = outcome.rewrite_asked is case.needs_rewrite and not outcome.error
    yield ("gate_recall" if case.needs_rewrite else "gate_skip"), float(right)


def _rewrite(case: Case, outcome: Outcome) -> Iterator[tuple[str, float]]:
    yield "failed_rate", float(bool(outcome.error))
    if case.history and case.needs_rewrite is not False and not outcome.error:
        yield "dangling_rate", float(is_dangling(outcome.query))
    if not is_labelled(case):
        return
    right = float(not outcome.error and is_correct(case, outcome.query))
    yield "rewrite_accuracy", right
    if case.needs_rewrite is not None:
        yield ("accuracy_where_needed" if case.needs_rewrite else "accuracy_where_not_needed"), right


def _ranked(pairs: Sequence[tuple[Case, Outcome]], k: int) -> dict[str, dict[str, float]]:
    """Return hits of each case, and recall, MRR and nDCG by ir-measures, where it is installed."""
    if not pairs:
        return {}
    values = {f"hit@{depth}": {c.id: float(rank(o, c, depth) is not None) for c, o in pairs} for depth in {1, k}}
    try:
        import ir_measures  # noqa: PLC0415, an extra
    except ImportError:
        return values
    names = {ir_measures.R @ k: f"recall@{k}", ir_measures.RR @ k: f"mrr@{k}", ir_measures.nDCG @ k: f"ndcg@{k}"}
    values |= {name: {case.id: 0.0 for case, _ in pairs} for name in names.values()}
    qrels = [ir_measures.Qrel(case.id, passage, 1) for case, _ in pairs for passage in case.gold]
    found = [
        ir_measures.ScoredDoc(case.id, passage, float(-place))
        for case, outcome in pairs
        for place, passage in enumerate(dict.fromkeys(outcome.nodes[:k]))
    ]
    for metric in ir_measures.iter_calc(list(names), qrels, found) if found else ():
        values[names[metric.measure]][metric.query_id] = float(metric.value)
    return values
