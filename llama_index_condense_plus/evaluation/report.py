"""The report as plain data, which the JSON, Markdown and HTML forms are made from."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from llama_index_condense_plus._version import __version__
from llama_index_condense_plus.evaluation.cases import Case, Dataset
from llama_index_condense_plus.evaluation.metrics.statistics import compare
from llama_index_condense_plus.evaluation.outcome import Outcome
from llama_index_condense_plus.evaluation.scoring import LOWER_IS_BETTER, Scores, stage_counts
from llama_index_condense_plus.evaluation.stages import Stage

MAX_FAILURES = 60
"""Failures listed for each engine; their number is given in full."""
CURVE_STEPS = 21
"""Points of the gate's curve."""
COMPARED = ("rewrite_accuracy", "restoration_f1", "hit@1")
"""Figures by which two engines are compared, beside recall, MRR and nDCG where they are measured."""


def make_report(dataset: Dataset, runs: Sequence[Scores], *, k: int) -> dict[str, Any]:
    """Return everything a reader wants to know about the runs, as JSON-safe values.

    Args:
        dataset: the cases.
        runs: the engines' scores, the one to be judged first.
        k: depth of the retrieval figures.
    """
    return {
        "version": __version__,
        "dataset": {
            "name": dataset.name,
            "cases": len(dataset.cases),
            "passages": len(dataset.passages),
            "needs_rewrite": sum(bool(case.needs_rewrite) for case in dataset.cases),
            "fingerprint": dataset.fingerprint(),
        },
        "k": k,
        "engines": {scores.engine: _engine(dataset, scores) for scores in runs},
        "comparisons": [_compared(first, second) for first, second in itertools.combinations(runs, 2)],
    }


def gate_curve(dataset: Dataset, scores: Scores) -> list[dict[str, float]]:
    """Return recall and skip of the gate at thresholds from 0 to 1; turns decided by a rule count as 0 or 1."""
    turns = [
        (case.needs_rewrite, outcome.score if outcome.score is not None else float(outcome.rewrite_asked))
        for case, outcome in zip(dataset.cases, scores.outcomes, strict=True)
        if case.history and case.needs_rewrite is not None and not outcome.error
    ]
    needed = [value for needs, value in turns if needs]
    not_needed = [value for needs, value in turns if not needs]
    if not needed or not not_needed:
        return []
    thresholds = [step / (CURVE_STEPS - 1) for step in range(CURVE_STEPS)]
    return [
        {
            "threshold": threshold,
            "recall": sum(value >= threshold for value in needed) / len(needed),
            "skip": sum(value < threshold for value in not_needed) / len(not_needed),
        }
        for threshold in thresholds
    ]


def _engine(dataset: Dataset, scores: Scores) -> dict[str, Any]:
    wrong = [
        (case, outcome)
        for case, outcome in zip(dataset.cases, scores.outcomes, strict=True)
        if scores.stages[case.id] is not Stage.RIGHT
    ]
    return {
        "figures": {name: asdict(figure) for name, figure in sorted(scores.estimates().items())},
        "corpus": scores.corpus,
        "not_measured": list(scores.missing),
        "stages": stage_counts(scores),
        "rewriters": dict(Counter(outcome.rewriter or "none" for outcome in scores.outcomes).most_common()),
        "categories": {
            name: {category: asdict(figure) for category, figure in scores.by_category(dataset, name).items()}
            for name in ("rewrite_accuracy", "gate_recall", "gate_skip", "hit@1")
        },
        "gate_curve": gate_curve(dataset, scores),
        "latencies_s": [round(outcome.latency_s, 5) for outcome in scores.outcomes],
        "failures": len(wrong),
        "worst": [_failure(case, outcome, scores) for case, outcome in _worst_first(wrong, scores)[:MAX_FAILURES]],
    }


def _worst_first(wrong: Sequence[tuple[Case, Outcome]], scores: Scores) -> list[tuple[Case, Outcome]]:
    """Order failures: engine failures first, then by how little of the right words was restored."""
    f1: Mapping[str, float] = scores.values.get("restoration_f1", {})
    order = list(Stage)
    return sorted(
        wrong,
        key=lambda pair: (
            scores.stages[pair[0].id] is not Stage.ENGINE_FAILED,
            f1.get(pair[0].id, 0.0),
            order.index(scores.stages[pair[0].id]),
        ),
    )


def _failure(case: Case, outcome: Outcome, scores: Scores) -> dict[str, Any]:
    return {
        "id": case.id,
        "category": case.category,
        "stage": scores.stages[case.id].value,
        "history": [f"{message.role}: {message.content}" for message in case.history],
        "question": case.question,
        "query": outcome.query,
        "accepted": case.accepted_rewrites[0] if case.accepted_rewrites else "",
        "reason": outcome.reason,
        "error": outcome.error,
        "gold": list(case.gold),
        "found": list(outcome.nodes),
    }


def _compared(first: Scores, second: Scores) -> dict[str, Any]:
    found = {}
    ranked = [name for name in first.values if name.startswith(("recall@", "mrr@", "ndcg@"))]
    for name in (*COMPARED, *ranked):
        one, other = first.values.get(name, {}), second.values.get(name, {})
        shared = [case for case in one if case in other]
        if shared:
            found[name] = asdict(compare([one[case] for case in shared], [other[case] for case in shared]))
    return {"first": first.engine, "second": second.engine, "figures": found}


def missed_thresholds(scores: Scores, thresholds: Mapping[str, float]) -> list[str]:
    """Return one line for each figure that misses its threshold, or was not measured."""
    lines = []
    for name, limit in thresholds.items():
        try:
            value = scores.figure(name)
        except KeyError:
            lines.append(f"{name} was not measured; measured are {', '.join(sorted({*scores.values, *scores.corpus}))}")
            continue
        below = name in LOWER_IS_BETTER or name.startswith("latency")
        if value > limit if below else value < limit:
            lines.append(f"{name} is {value:.3f}, {'at most' if below else 'at least'} {limit:g} is wanted")
    return lines
