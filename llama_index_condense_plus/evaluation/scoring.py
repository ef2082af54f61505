"""From outcomes to figures: every measure for every case, so that figures can be compared case by case."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import fmean

import numpy as np

from llama_index_condense_plus.evaluation.cases import Case, Dataset
from llama_index_condense_plus.evaluation.matching import is_accepted, is_correct
from llama_index_condense_plus.evaluation.metrics.ranking import hit, ranking_measures
from llama_index_condense_plus.evaluation.metrics.statistics import Estimate, estimate
from llama_index_condense_plus.evaluation.metrics.texts import bleu, restoration_f1, rouge_l
from llama_index_condense_plus.evaluation.outcome import Outcome
from llama_index_condense_plus.evaluation.stages import Stage, is_labelled, stage_of
from llama_index_condense_plus.rewriting.guards.unresolved import references

LOWER_IS_BETTER = frozenset({"unresolved_reference_rate", "failed_rate"})
"""Figures for which less is more."""


@dataclass(frozen=True, slots=True)
class Scores:
    """Everything measured on one engine."""

    engine: str
    """Its name."""
    outcomes: tuple[Outcome, ...]
    """What it did, in the data set's order."""
    values: dict[str, dict[str, float]]
    """Figure → case → value."""
    stages: dict[str, Stage]
    """Case → the stage that went wrong."""
    corpus: dict[str, float] = field(default_factory=dict)
    """Figures of the run as a whole: BLEU, calls, tokens, seconds."""
    missing: tuple[str, ...] = ()
    """Figures that need a library that is not installed."""

    def estimates(self) -> dict[str, Estimate]:
        """Return every figure with its interval; figures without cases are left out."""
        return {name: estimate(list(values.values())) for name, values in self.values.items() if values}

    def figure(self, name: str) -> float:
        """Return one figure.

        Raises:
            KeyError: it was not measured.
        """
        return self.corpus[name] if name in self.corpus else fmean(self.values[name].values())

    def by_category(self, dataset: Dataset, name: str) -> dict[str, Estimate]:
        """Return a figure for each category that has cases."""
        groups: dict[str, list[float]] = defaultdict(list)
        values = self.values.get(name, {})
        for case in dataset.cases:
            if case.id in values:
                groups[case.category].append(values[case.id])
        return {category: estimate(group) for category, group in sorted(groups.items())}


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
    stages = {case.id: stage_of(case, outcome, k) for case, outcome in pairs}
    for case, outcome in pairs:
        for name, value in (*_gate(case, outcome), *_rewrite(case, outcome), *_found(case, outcome, dataset, k)):
            values[name][case.id] = value
    corpus, missing = _corpus(pairs), []
    try:
        values.update(_ranked(pairs, dataset, k))
    except ImportError:
        missing += [f"recall@{k}", f"mrr@{k}", f"ndcg@{k}"]
    try:
        values.update(_rouge(pairs))
        corpus |= _bleu(pairs)
    except ImportError:
        missing += ["rouge_l", "bleu"]
    return Scores(engine, tuple(outcomes), dict(values), stages, corpus, tuple(missing))


Pairs = Sequence[tuple[Case, Outcome]]


def _gate(case: Case, outcome: Outcome) -> list[tuple[str, float]]:
    """First turns are left out: whoever has no history needs no gate."""
    if case.needs_rewrite is None or not case.history:
        return []
    asked = outcome.rewrite_asked and not outcome.error
    found = (
        [("gate_recall", float(asked))]
        if case.needs_rewrite
        else [("gate_skip", float(not asked and not outcome.error))]
    )
    return [*found, ("gate_precision", float(case.needs_rewrite))] if asked else found


def _rewrite(case: Case, outcome: Outcome) -> list[tuple[str, float]]:
    found = [("failed_rate", float(bool(outcome.error)))]
    if case.needs_rewrite and not outcome.error:
        found.append(("unresolved_reference_rate", float(bool(references(outcome.query)))))
    if not is_labelled(case):
        return found
    right = float(not outcome.error and is_correct(case, outcome.query))
    found.append(("rewrite_accuracy", right))
    found.append(("accuracy_where_needed" if case.needs_rewrite else "accuracy_where_not_needed", right))
    if case.accepted_rewrites:
        found.append(("exact_match", float(not outcome.error and is_accepted(case, outcome.query))))
        if case.needs_rewrite:
            f1 = restoration_f1(case.question, outcome.query, case.accepted_rewrites) if outcome.query else 0.0
            found.append(("restoration_f1", f1))
    return found


def _found(case: Case, outcome: Outcome, dataset: Dataset, k: int) -> list[tuple[str, float]]:
    found = [] if outcome.faithful is None else [("faithfulness", float(outcome.faithful))]
    if not case.gold or not dataset.passages:
        return found
    value = hit(outcome.nodes, case.gold, k)
    found += [("hit@1", hit(outcome.nodes, case.gold, 1)), (f"hit@{k}", value)]
    if is_labelled(case) and not outcome.error and is_correct(case, outcome.query):
        found.append((f"hit@{k}_where_rewrite_right", value))
    if outcome.ideal:
        found.append((f"hit@{k}_of_accepted_rewrite", hit(outcome.ideal, case.gold, k)))
    return found


def _ranked(pairs: Pairs, dataset: Dataset, k: int) -> dict[str, dict[str, float]]:
    gold = {case.id: case.gold for case, _ in pairs if case.gold and dataset.passages}
    return ranking_measures({o.case_id: o.nodes[:k] for _, o in pairs}, gold, k) if gold else {}


def _rouge(pairs: Pairs) -> dict[str, dict[str, float]]:
    return {
        "rouge_l": {
            case.id: rouge_l(outcome.query, case.accepted_rewrites) for case, outcome in pairs if case.accepted_rewrites
        }
    }


def _bleu(pairs: Pairs) -> dict[str, float]:
    found = {}
    for lang in sorted({case.lang for case, _ in pairs}):
        chosen = [(c, o) for c, o in pairs if c.lang == lang and c.accepted_rewrites and c.needs_rewrite]
        if chosen:
            found[f"bleu_{lang}"] = bleu([o.query for _, o in chosen], [c.accepted_rewrites for c, _ in chosen], lang)
    return found


def _corpus(pairs: Pairs) -> dict[str, float]:
    latencies = [outcome.latency_s for _, outcome in pairs]
    later = [outcome for case, outcome in pairs if case.history]
    found = {
        "latency_p50_s": float(np.percentile(latencies, 50)),
        "latency_p95_s": float(np.percentile(latencies, 95)),
        "llm_calls": float(sum(outcome.llm_calls for _, outcome in pairs)),
        "prompt_tokens": float(sum(outcome.prompt_tokens or 0 for _, outcome in pairs)),
        "completion_tokens": float(sum(outcome.completion_tokens or 0 for _, outcome in pairs)),
    }
    if later:  # the stock engine makes one call for each of these turns
        found["llm_calls_saved"] = 1.0 - sum(outcome.rewrite_asked for outcome in later) / len(later)
    return found


def stage_counts(scores: Scores) -> dict[str, int]:
    """Return how many cases went wrong at which stage, in the order of a turn."""
    counts = Counter(scores.stages.values())
    return {stage.value: counts[stage] for stage in Stage if counts[stage]}
