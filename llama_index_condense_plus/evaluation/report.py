"""The report: plain data, a table for the terminal, and one self-contained HTML page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from importlib.resources import files
from typing import Any, NamedTuple

from llama_index_condense_plus._version import __version__
from llama_index_condense_plus.errors import ConfigurationError
from llama_index_condense_plus.evaluation.cases import Case, Dataset
from llama_index_condense_plus.evaluation.differences import word_diff
from llama_index_condense_plus.evaluation.scoring import Scores, Stage, rank
from llama_index_condense_plus.evaluation.statistics import estimate
from llama_index_condense_plus.observability.clean import printable

MAX_CASES = 200
"""Cases shown on the page, the most telling first; the JSON report has them all."""


class Figure(NamedTuple):
    """How a figure is shown."""

    name: str
    """Plain name."""
    meaning: str
    """What it counts."""
    lower: bool = False
    """True if less is better."""
    unit: str = "%"
    """``%`` for shares, else the unit of the number."""
    headline: bool = False
    """True for the cards on top."""


FIGURES = {
    "rewrite_accuracy": Figure("Right searches", "the query says all it must and nothing it must not", headline=True),
    "accuracy_where_needed": Figure("Right where a rewrite is needed", "the same, follow-ups only"),
    "accuracy_where_not_needed": Figure("Right where none is needed", "the same, complete questions only"),
    "restoration_f1": Figure("Missing words restored", "F1 of the added words against accepted rewrites", unit=""),
    "dangling_rate": Figure(
        "Dangling references", "queries that still say it, that or they", lower=True, headline=True
    ),
    "gate_recall": Figure("Follow-ups rewritten", "messages that need a rewrite and get one", headline=True),
    "gate_skip": Figure(
        "Complete questions left alone", "messages that need no rewrite and cost no call", headline=True
    ),
    "hit@1": Figure("Right passage first", "a right passage is the best result", headline=True),
    "hit@k": Figure("Right passage in the top k", "a right passage is among the first k", headline=True),
    "recall@k": Figure("Recall at k", "share of the right passages among the first k"),
    "mrr@k": Figure("Mean reciprocal rank", "1 / rank of the first right passage", unit=""),
    "ndcg@k": Figure("nDCG at k", "normalised discounted cumulative gain", unit=""),
    "failed_rate": Figure("Failed turns", "the engine raised an error", lower=True),
    "llm_calls": Figure("Model calls per turn", "calls of the language model for the search", True, "", headline=True),
    "latency_p50_s": Figure("Median time", "seconds to search one turn, without the answer", lower=True, unit="s"),
    "latency_p95_s": Figure("95th percentile of time", "seconds to search one turn", lower=True, unit="s"),
}
"""Every figure in the order in which a reader wants them; ``k`` stands for the depth."""


def make_report(dataset: Dataset, runs: Sequence[Scores], *, k: int) -> dict[str, Any]:
    """Return everything a reader wants to know about the runs, as JSON-safe values.

    Args:
        dataset: the cases.
        runs: the engines' scores.
        k: depth of the retrieval figures.
    """
    shown = []
    for name, figure in FIGURES.items():
        key = name.replace("@k", f"@{k}")
        values = [_value(run, key) for run in runs]
        if any(value is not None for value in values):
            words = {part: getattr(figure, part).replace(" k", f" {k}") for part in ("name", "meaning")}
            row = {**figure._asdict(), **words, "key": key, "values": values}
            shown.append(row | {"differences": [_difference(runs[0], run, key) for run in runs[1:]]})
    cases = [_case(dataset, index, runs, k) for index in range(len(dataset.cases))]
    return {
        "version": __version__,
        "dataset": {
            "name": dataset.name,
            "cases": len(dataset.cases),
            "passages": len(dataset.passages),
            "need_rewrite": sum(case.needs_rewrite is True for case in dataset.cases),
            "note": dataset.note,
        },
        "k": k,
        "engines": [run.engine for run in runs],
        "figures": shown,
        "stages": {run.engine: run.counts() for run in runs},
        "cases": sorted(cases, key=lambda case: -case["priority"]),
    }


def _value(run: Scores, key: str) -> dict[str, float] | None:
    if key in run.run:
        return {"mean": run.run[key]}
    return asdict(estimate(list(run.values[key].values()))) if run.values.get(key) else None


def _difference(first: Scores, other: Scores, key: str) -> dict[str, float] | None:
    """Return the first engine's figure less another's, on the cases that both have."""
    one, two = first.values.get(key, {}), other.values.get(key, {})
    shared = [one[case] - two[case] for case in one if case in two]
    return asdict(estimate(shared)) if shared else None


def _case(dataset: Dataset, index: int, runs: Sequence[Scores], k: int) -> dict[str, Any]:
    case = dataset.cases[index]
    texts = {passage.id: passage.title or passage.text for passage in dataset.passages}
    rows = []
    for run in runs:
        outcome = run.outcomes[index]
        rows.append(
            {
                "engine": run.engine,
                "query": outcome.query,
                "stage": run.stages[case.id].value,
                "right": run.stages[case.id] is Stage.RIGHT,
                "rank": rank(outcome, case, k),
                "why": outcome.reason,
                "rewriter": outcome.rewriter,
                "trust": outcome.trust,
                "found": [texts.get(name, name) for name in outcome.nodes[:k]],
                "error": outcome.error,
            }
        )
    return {
        "id": case.id,
        "category": case.category,
        "history": [asdict(message) for message in case.history],
        "question": case.question,
        "accepted": list(case.accepted_rewrites[:1]),
        "gold": [texts.get(name, name) for name in case.gold],
        "engines": rows,
        "priority": _priority(case, rows),
        "outcome": _outcome(rows),
    }


def _outcome(rows: Sequence[Mapping[str, Any]]) -> str:
    if any(row["error"] for row in rows):
        return "failed"
    if len({(row["right"], row["rank"] or 0) for row in rows}) > 1:
        return "engines differ"
    return "same" if rows[0]["right"] else "all wrong"


def _priority(case: Case, rows: Sequence[Mapping[str, Any]]) -> int:
    """Return how soon a case deserves a look: failures, then losses of any engine, then differing queries."""
    order = ("same", "all wrong", "engines differ", "failed")
    different = len({row["query"] for row in rows}) > 1
    return 4 * order.index(_outcome(rows)) + 2 * different + bool(case.gold)


def as_html(report: Mapping[str, Any]) -> str:
    """Return a report as one HTML page that loads nothing from elsewhere.

    Raises:
        ConfigurationError: jinja2 is not installed.
    """
    try:
        from jinja2 import Environment  # noqa: PLC0415, an extra
    except ImportError:
        raise ConfigurationError("jinja2 is missing: pip install 'llama-index-condense-plus[eval]'") from None
    text = (files("llama_index_condense_plus.evaluation") / "data" / "report.html.jinja").read_text("utf-8")
    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {"number": _number, "printable": printable}
    environment.globals |= {"diff": word_diff}
    shown = report["cases"][:MAX_CASES]
    return environment.from_string(text).render(report=report, shown=shown, stages=_stages(report))


def as_text(report: Mapping[str, Any]) -> str:
    """Return the figures as a table of at most 80 columns for two engines, and where cases went wrong."""
    engines = report["engines"]
    rows = [["", *engines]]
    for figure in report["figures"]:
        arrow = "↓" if figure["lower"] else "↑"
        cells = [_number(value and value["mean"], figure["unit"]) for value in figure["values"]]
        rows.append([f"{figure['name']} {arrow}", *cells])
    stages = _stages(report)
    rows += [[""] * len(rows[0]), ["Cases", *[""] * len(engines)]]
    rows += [[f"  {stage}", *(str(report["stages"][name].get(stage, 0)) for name in engines)] for stage in stages]
    width = max(len(row[0]) for row in rows) + 2
    column = max(len(cell) for row in rows for cell in row[1:]) + 2
    lines = ["".join([row[0].ljust(width), *(cell.rjust(column) for cell in row[1:])]).rstrip() for row in rows]
    notes = [report["dataset"]["note"]] if report["dataset"]["note"] else []
    if not any(figure["key"].startswith("ndcg") for figure in report["figures"]) and report["dataset"]["passages"]:
        notes.append("Recall, MRR and nDCG need pip install 'llama-index-condense-plus[eval]'.")
    return "\n".join([*lines, *([""] if notes else []), *notes])


def _stages(report: Mapping[str, Any]) -> list[str]:
    return [stage.value for stage in Stage if any(stage.value in counts for counts in report["stages"].values())]


def _number(value: float | None, unit: str) -> str:
    if value is None:
        return "–"
    if unit == "%":
        return f"{100 * value:.1f} %"
    return f"{value:.3f} {unit}".rstrip()


def missed_thresholds(scores: Scores, thresholds: Mapping[str, float]) -> list[str]:
    """Return one line for each figure that misses its threshold, or was not measured."""
    lines = []
    for name, limit in thresholds.items():
        try:
            value = scores.figure(name)
        except KeyError:
            lines.append(f"{name} was not measured; measured are {', '.join(sorted({*scores.values, *scores.run}))}")
            continue
        lower = name in FIGURES and FIGURES[name].lower
        if value > limit if lower else value < limit:
            lines.append(f"{name} is {value:.3f}, {'at most' if lower else 'at least'} {limit:g} is wanted")
    return lines
