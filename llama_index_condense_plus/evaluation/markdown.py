"""The report as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from llama_index_condense_plus.evaluation.differences import word_diff
from llama_index_condense_plus.evaluation.meanings import in_order

SHOWN_FAILURES = 20
COMPARISON_HEADER = ("engines", "figure", "difference [95 %]", "p (sign flips)", "better : worse")


def as_markdown(report: Mapping[str, Any]) -> str:
    """Return a report as Markdown."""
    engines = report["engines"]
    lines = [
        f"# Evaluation of {', '.join(engines)}",
        "",
        summary(report),
        "",
        *_figures(engines),
        *_stages(engines),
        *_categories(engines),
        *_comparisons(report["comparisons"]),
    ]
    for name, engine in engines.items():
        lines += _failures(name, engine)
    return "\n".join(lines) + "\n"


def summary(report: Mapping[str, Any]) -> str:
    """Return what was measured on, in a sentence."""
    dataset = report["dataset"]
    return (
        f"{dataset['cases']} cases of {dataset['name']} ({dataset['needs_rewrite']} need a rewrite), "
        f"{dataset['passages']} passages. 95 % bootstrap intervals in brackets."
    )


def figure_rows(engines: Mapping[str, Any]) -> list[list[str]]:
    """Return the table of figures: a name and one cell for each engine a row."""
    names = in_order(name for engine in engines.values() for name in (*engine["figures"], *engine["corpus"]))
    return [[name, *(_cell(engine, name) for engine in engines.values())] for name in names]


def _cell(engine: Mapping[str, Any], name: str) -> str:
    return _number(engine["corpus"][name]) if name in engine["corpus"] else interval(engine["figures"].get(name))


def interval(figure: Mapping[str, Any] | None) -> str:
    """Return a mean with its interval and number of cases."""
    if figure is None:
        return "–"
    return f"{figure['mean']:.3f} [{figure['low']:.3f}, {figure['high']:.3f}] n={figure['n']}"


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return a Markdown table."""
    escaped = [[str(cell).replace("|", "\\|").replace("\n", " ") for cell in row] for row in rows]
    return [f"| {' | '.join(row)} |" for row in (header, ["---"] * len(header), *escaped)] + [""]


def _figures(engines: Mapping[str, Any]) -> list[str]:
    lines = ["## Figures", "", *table(["figure", *engines], figure_rows(engines))]
    missing = sorted({name for engine in engines.values() for name in engine["not_measured"]})
    note = f"Not measured: {', '.join(missing)}. Install `llama-index-condense-plus[eval]`."
    return [*lines, note, ""] if missing else lines


def _stages(engines: Mapping[str, Any]) -> list[str]:
    stages = dict.fromkeys(stage for engine in engines.values() for stage in engine["stages"])
    rows = [[stage, *(str(engine["stages"].get(stage, 0)) for engine in engines.values())] for stage in stages]
    by = [[name, ", ".join(f"{who} {n}" for who, n in engine["rewriters"].items())] for name, engine in engines.items()]
    return [
        "## Where cases went wrong",
        "",
        *table(["stage", *engines], rows),
        *table(["engine", "queries made by"], by),
    ]


def _categories(engines: Mapping[str, Any]) -> list[str]:
    lines = []
    for measure in ("rewrite_accuracy", "hit@1"):
        found = {name: engine["categories"][measure] for name, engine in engines.items()}
        categories = sorted({category for values in found.values() for category in values})
        if categories:
            rows = [[c, *(interval(values.get(c)) for values in found.values())] for c in categories]
            lines += [f"## {measure} by category", "", *table(["category", *engines], rows)]
    return lines


def _comparisons(comparisons: Sequence[Mapping[str, Any]]) -> list[str]:
    rows = comparison_rows(comparisons)
    header = list(COMPARISON_HEADER)
    return ["## Side by side, case by case", "", *table(header, rows)] if rows else []


def comparison_rows(comparisons: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    """Return the table of paired comparisons, without its header."""
    return [
        [
            f"{pair['first']} − {pair['second']}",
            name,
            f"{c['difference']:+.3f} [{c['low']:+.3f}, {c['high']:+.3f}]",
            f"{c['p_value']:.4f}",
            f"{c['better']} : {c['worse']}",
        ]
        for pair in comparisons
        for name, c in pair["figures"].items()
    ]


def _failures(name: str, engine: Mapping[str, Any]) -> list[str]:
    shown = engine["worst"][:SHOWN_FAILURES]
    if not shown:
        return []
    rows = [[f["id"], f["stage"], _marked(f["question"], f["query"]) or f["error"], f["accepted"]] for f in shown]
    title = f"## Failures of {name}: {engine['failures']}, the worst {len(shown)}"
    return [title, "", *table(["case", "stage", "question → searched", "accepted"], rows)]


def _marked(before: str, after: str) -> str:
    marks = {"equal": "{}", "deleted": "~~{}~~", "added": "**{}**"}
    return "".join(marks[kind].format(text) if text.strip() else text for kind, text in word_diff(before, after))


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.4g}"
