"""From outcomes to figures: every measure for every case, so that figures can be compared case by case."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from statistics import fmean, quantiles

from llama_index_condense_plus.evaluation.cases import Case, Dataset
from llama_index_condense_plus.evaluation.engines import Outcome
from llama_index_condense_plus.evaluation.matching import is_correct, is_dangling, is_labelled, restoration_f1
from llama_index_condense_plus.evaluation.statistics import Estimate, estimate
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


@dataclass(frozen=True, slots=True)
class Scores:
    """Everything measured on one engine; what was not measured is not there."""

    engine: str
    """Its name."""
    outcomes: tuple[Outcome, ...]
    """What it did, in the data set's order."""
    values: dict[str, dict[str, float]]
    """Figure → case → value."""
    stages: dict[str, Stage]
    """Case → the first stage that went wrong."""
    run: dict[str, float]
    """Figures of the run as a whole: seconds."""

    def estimates(self) -> dict[str, Estimate]:
        """Return every figure with its interval."""
        return {name: estimate(list(values.values())) for name, values in self.values.items()}

    def figure(self, name: str) -> float:
        """Return one figure.

        Raises:
            KeyError: it was not measured.
        """
        return self.run[name] if name in self.run else fmean(self.values[name].values())

    def counts(self) -> dict[str, int]:
        """Return how many cases ended at which stage."""
        counts = Counter(self.stages.values())
        return {stage.value: counts[stage] for stage in Stage if counts[stage]}


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
        for name, value in (*_gate(case, outcome), *_rewrite(case, outcome), *_found(case, outcome, dataset, k)):
            values[name][case.id] = value
    if any(outcome.llm_calls for outcome in outcomes):
        values["llm_calls"] = {outcome.case_id: float(outcome.llm_calls) for outcome in outcomes}
    values |= _ranked(pairs, dataset, k)
    cuts = quantiles([outcome.latency_s for outcome in (*outcomes, *outcomes)], n=20, method="inclusive")
    stages = {case.id: stage_of(case, outcome, k) for case, outcome in pairs}
    return Scores(engine, tuple(outcomes), dict(values), stages, {"latency_p50_s": cuts[9], "latency_p95_s": cuts[18]})


def stage_of(case: Case, outcome: Outcome, k: int) -> Stage:
    """Return the first stage that went wrong, or ``RIGHT``.

    Args:
        case: what was asked for.
        outcome: what the engine did.
        k: depth at which a passage counts as found.
    """
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


Measured = Iterator[tuple[str, float]]


def _gate(case: Case, outcome: Outcome) -> Measured:
    """Yield what the gate did; first turns need none, and an engine that is switched off has none."""
    if case.needs_rewrite is None or not case.history or outcome.reason == TriggerReason.DISABLED.value:
        return
    asked = outcome.rewrite_asked and not outcome.error
    if case.needs_rewrite:
        yield "gate_recall", float(asked)
    else:
        yield "gate_skip", float(not asked and not outcome.error)


def _rewrite(case: Case, outcome: Outcome) -> Measured:
    yield "failed_rate", float(bool(outcome.error))
    if case.history and case.needs_rewrite is not False and not outcome.error:
        yield "dangling_rate", float(is_dangling(outcome.query))
    if not is_labelled(case):
        return
    right = float(not outcome.error and is_correct(case, outcome.query))
    yield "rewrite_accuracy", right
    if case.needs_rewrite is not None:
        yield ("accuracy_where_needed" if case.needs_rewrite else "accuracy_where_not_needed"), right
    if case.accepted_rewrites and case.needs_rewrite:
        f1 = restoration_f1(case.question, outcome.query, case.accepted_rewrites) if outcome.query else 0.0
        yield "restoration_f1", f1


def _found(case: Case, outcome: Outcome, dataset: Dataset, k: int) -> Measured:
    if case.gold and dataset.passages:
        yield "hit@1", float(rank(outcome, case, 1) is not None)
        yield f"hit@{k}", float(rank(outcome, case, k) is not None)


def _ranked(pairs: Sequence[tuple[Case, Outcome]], dataset: Dataset, k: int) -> dict[str, dict[str, float]]:
    """Return recall, MRR and nDCG of each case by ir-measures (MacAvaney et al. 2022), where it is installed."""
    gold = {case.id: case.gold for case, _ in pairs if case.gold}
    try:
        import ir_measures  # noqa: PLC0415, an extra
    except ImportError:
        return {}
    if not gold or not dataset.passages:
        return {}
    measures = {
        ir_measures.R @ k: f"recall@{k}",
        ir_measures.RR @ k: f"mrr@{k}",
        ir_measures.nDCG @ k: f"ndcg@{k}",
    }
    qrels = [ir_measures.Qrel(case, name, 1) for case, names in gold.items() for name in names]
    run = [
        ir_measures.ScoredDoc(outcome.case_id, name, float(-place))
        for case, outcome in pairs
        if case.gold
        for place, name in enumerate(dict.fromkeys(outcome.nodes[:k]))
    ]
    values = {name: dict.fromkeys(gold, 0.0) for name in measures.values()}
    for metric in ir_measures.iter_calc(list(measures), qrels, run) if run else ():
        values[measures[metric.measure]][metric.query_id] = float(metric.value)
    return values
