"""The report: plain data, a table for the terminal, and one self-contained HTML page."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from importlib.resources import files
from typing import Any

from llama_index_condense_plus._version import __version__
from llama_index_condense_plus.errors import ConfigurationError
from llama_index_condense_plus.evaluation.cases import Dataset
from llama_index_condense_plus.evaluation.differences import word_diff
from llama_index_condense_plus.evaluation.scoring import Scores, Stage, rank
from llama_index_condense_plus.evaluation.statistics import estimate
from llama_index_condense_plus.observability.clean import printable

_DATA = files(__package__) / "data"
MAX_CASES = 200
"""Cases shown on the page, the most telling first; the JSON report has them all."""
OUTCOMES = ("same", "all wrong", "engines differ", "failed")
"""What can become of a case with all engines; the later, the sooner it deserves a look."""


def make_report(dataset: Dataset, runs: Sequence[Scores], *, k: int) -> dict[str, Any]:
    """Return everything a reader wants to know about the runs, as JSON-safe values.

    Args:
        dataset: the cases.
        runs: the engines' scores.
        k: depth of the retrieval figures.
    """
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
        "figures": list(_figures(runs, k)),
        "stages": {run.engine: Counter(stage.value for stage in run.stages.values()) for run in runs},
        "cases": sorted(cases, key=lambda case: -case["priority"]),
    }


def _figures(runs: Sequence[Scores], k: int) -> Iterator[dict[str, Any]]:
    """Yield each measured figure of every engine, and the first engine's difference to the others."""
    for figure in json.loads((_DATA / "figures.json").read_text(encoding="utf-8")):
        key = figure["key"].replace("@k", f"@{k}")
        measured = [run.values.get(key, {}) for run in runs]
        values = [
            {"mean": run.run[key]} if key in run.run else _mean(found.values())
            for run, found in zip(runs, measured, strict=True)
        ]
        if any(values):
            words = {part: figure[part].replace(" k", f" {k}") for part in ("name", "meaning")}
            first, *others = measured
            differences = [_mean(first[case] - other[case] for case in first if case in other) for other in others]
            yield {**figure, **words, "key": key, "values": values, "differences": differences}


def _mean(values: Iterable[float]) -> dict[str, float] | None:
    known = list(values)
    return estimate(known)._asdict() if known else None


def _case(dataset: Dataset, index: int, runs: Sequence[Scores], k: int) -> dict[str, Any]:
    case = dataset.cases[index]
    texts = {passage.id: passage.title or passage.text for passage in dataset.passages}
    rows = []
    for run in runs:
        outcome, stage = run.outcomes[index], run.stages[case.id]
        rows.append(
            {
                "engine": run.engine,
                **{name: getattr(outcome, name) for name in ("query", "rewriter", "trust", "error")},
                "why": outcome.reason,
                "stage": stage.value,
                "right": stage is Stage.RIGHT,
                "rank": rank(outcome, case, k),
                "found": [texts.get(name, name) for name in outcome.nodes[:k]],
            }
        )
    outcome_of_all = _outcome(rows)
    differing_queries = len({row["query"] for row in rows}) > 1
    return {
        "id": case.id,
        "category": case.category,
        "history": [asdict(message) for message in case.history],
        "question": case.question,
        "accepted": list(case.accepted_rewrites[:1]),
        "gold": [texts.get(name, name) for name in case.gold],
        "engines": rows,
        "outcome": outcome_of_all,
        "priority": 4 * OUTCOMES.index(outcome_of_all) + 2 * differing_queries + bool(case.gold),
    }


def _outcome(rows: Sequence[Mapping[str, Any]]) -> str:
    if any(row["error"] for row in rows):
        return "failed"
    if len({(row["right"], row["rank"] or 0) for row in rows}) > 1:
        return "engines differ"
    return "same" if rows[0]["right"] else "all wrong"


def as_html(report: Mapping[str, Any]) -> str:
    """Return a report as one HTML page that loads nothing from elsewhere.

    Raises:
        ConfigurationError: jinja2 is not installed.
    """
    try:
        from jinja2 import Environment  # noqa: PLC0415, an extra
    except ImportError:
        raise ConfigurationError("jinja2 is missing: pip install 'llama-index-condense-plus[eval]'") from None
    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {"number": _number, "printable": printable}
    environment.globals |= {"diff": word_diff}
    template = environment.from_string((_DATA / "report.html.jinja").read_text(encoding="utf-8"))
    return template.render(report=report, shown=report["cases"][:MAX_CASES], stages=_stages(report))


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


def missed_thresholds(report: Mapping[str, Any], thresholds: Mapping[str, float]) -> Iterator[str]:
    """Yield one line for each figure of the first engine that misses its threshold, or was not measured."""
    known = {figure["key"]: figure for figure in report["figures"] if figure["values"][0]}
    for name, limit in thresholds.items():
        if name not in known:
            yield f"{name} was not measured; measured are {', '.join(sorted(known))}"
            continue
        value, lower = known[name]["values"][0]["mean"], known[name]["lower"]
        if value > limit if lower else value < limit:
            yield f"{name} is {value:.3f}, {'at most' if lower else 'at least'} {limit:g} is wanted"
