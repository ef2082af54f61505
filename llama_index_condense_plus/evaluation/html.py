"""The report as one self-contained HTML page."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib.resources import files
from typing import Any

from llama_index_condense_plus.evaluation.differences import word_diff
from llama_index_condense_plus.evaluation.markdown import COMPARISON_HEADER, comparison_rows, figure_rows, summary
from llama_index_condense_plus.evaluation.meanings import HEADLINES, meaning
from llama_index_condense_plus.evaluation.plots import COLOURS, NEEDS_MATPLOTLIB, draw
from llama_index_condense_plus.evaluation.stages import Stage

STYLE = (files("llama_index_condense_plus.evaluation") / "data" / "report.css").read_text("utf-8")
STAGE_KINDS = {Stage.RIGHT.value: "right", Stage.GATE_MISSED.value: "gate", Stage.REWRITE_WRONG.value: "rewrite"}
"""Stages with a colour of their own; guards and engine share one, retrieval another."""


def as_html(report: Mapping[str, Any]) -> str:
    """Return a report as one HTML page that loads nothing from elsewhere."""
    engines = report["engines"]
    title = f"Evaluation of {', '.join(engines)}"
    parts = [
        f"<h1>{escape(title)}</h1>",
        f"<p>{escape(summary(report))}</p>",
        _headlines(engines),
        "<h2>Where cases went wrong</h2>",
        _stages(engines),
        *_comparisons(report["comparisons"]),
        "<h2>Figures</h2>",
        _figures(engines),
        _plots(report),
        *(_failures(name, engine) for name, engine in engines.items()),
    ]
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{STYLE}</style></head><body>\n'
        + "\n".join(parts)
        + "\n</body></html>\n"
    )


def _headlines(engines: Mapping[str, Any]) -> str:
    cards = []
    for name in HEADLINES:
        values = [(engine, _mean(found, name)) for engine, found in engines.items()]
        lines = "".join(
            f'<div class="bar"><span>{escape(engine)}</span><i><b style="width:{100 * value:.1f}%;'
            f'background:{colour}"></b></i><strong>{value:.2f}</strong></div>'
            for colour, (engine, value) in zip(itertools.cycle(COLOURS), values, strict=False)
            if value is not None
        )
        if lines:
            cards.append(f'<div class="card" title="{escape(meaning(name)[1])}"><h3>{escape(name)}</h3>{lines}</div>')
    return f'<div class="cards">{"".join(cards)}</div>'


def _mean(engine: Mapping[str, Any], name: str) -> float | None:
    figure = engine["figures"].get(name)
    value = figure["mean"] if figure else engine["corpus"].get(name)
    return None if value is None else float(value)


def _figures(engines: Mapping[str, Any]) -> str:
    rows = []
    grouped = itertools.groupby(figure_rows(engines), key=lambda row: meaning(row[0])[0])
    for group, members in grouped:
        rows.append(f'<tr class="group"><th colspan="{len(engines) + 2}">{escape(group)}</th></tr>')
        for name, *cells in members:
            values = "".join(f"<td>{_cell(cell)}</td>" for cell in cells)
            rows.append(f"<tr><td>{escape(name)}</td>{values}<td><small>{escape(meaning(name)[1])}</small></td></tr>")
    head = "".join(f"<th>{escape(cell)}</th>" for cell in ("figure", *engines, ""))
    return f'<div class="wide"><table><tr>{head}</tr>{"".join(rows)}</table></div>'


def _cell(text: str) -> str:
    """Set a mean apart from its interval and number of cases."""
    mean, _, rest = text.partition(" ")
    return f"<b>{escape(mean)}</b> <small>{escape(rest)}</small>"


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    head = "".join(f"<th>{escape(cell)}</th>" for cell in header)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f'<div class="wide"><table><tr>{head}</tr>{body}</table></div>'


def _comparisons(comparisons: Sequence[Mapping[str, Any]]) -> list[str]:
    rows = comparison_rows(comparisons)
    if not rows:
        return []
    note = "Both engines on the same cases. An interval without 0 is a difference that chance would hardly make."
    return ["<h2>Side by side, case by case</h2>", f"<p><small>{note}</small></p>", _table(COMPARISON_HEADER, rows)]


def _stages(engines: Mapping[str, Any]) -> str:
    stages = [s.value for s in Stage if any(s.value in engine["stages"] for engine in engines.values())]
    bars = []
    for name, engine in engines.items():
        total = sum(engine["stages"].values()) or 1
        pieces = "".join(
            f'<b class="stage-{_kind(stage)}" style="width:{100 * count / total:.2f}%" '
            f'title="{escape(stage)}: {count}">'
            f"{count if count / total > MIN_LABELLED else ''}</b>"
            for stage in stages
            if (count := engine["stages"].get(stage, 0))
        )
        bars.append(f'<div class="stack"><span>{escape(name)}</span><i>{pieces}</i></div>')
    rows = [[stage, *(str(engine["stages"].get(stage, 0)) for engine in engines.values())] for stage in stages]
    return "".join(bars) + _table(["first stage that went wrong", *engines], rows)


MIN_LABELLED = 0.04
"""Narrower pieces of a bar, as a share of it, have no room for their number."""


def _kind(stage: str) -> str:
    later = (Stage.NOT_FOUND.value, Stage.NOT_FINDABLE.value, Stage.LOST.value)
    return STAGE_KINDS.get(stage, "retrieval" if stage in later else "engine")


def _plots(report: Mapping[str, Any]) -> str:
    try:
        plots = draw(report)
    except ImportError:
        return f"<p>{escape(NEEDS_MATPLOTLIB)}</p>"
    figures = "".join(f"<figure><figcaption>{escape(t)}</figcaption>{svg}</figure>" for t, svg in plots.items())
    return f'<div class="plots">{figures}</div>'


def _failures(name: str, engine: Mapping[str, Any]) -> str:
    items = []
    for failure in engine["worst"]:
        history = "\n".join(failure["history"])
        found = ", ".join(failure["found"]) or "nothing"
        items.append(
            f"<details><summary><b>{escape(failure['id'])}</b> <small>{escape(failure['category'])}</small> "
            f'<span class="tag stage-{_kind(failure["stage"])}">{escape(failure["stage"])}</span>'
            f'<div class="pair"><small>searched</small> <span>{_marked(failure["question"], failure["query"])}</span>'
            f"<small>accepted</small> <span>{escape(failure['accepted'])}</span></div></summary>"
            f"<p class=history>{escape(history)}</p><p>asked: {escape(failure['question'])}<br>"
            f"<small>gate: {escape(failure['reason'])} · gold: {escape(', '.join(failure['gold']))} · "
            f"found: {escape(found)} {escape(failure['error'])}</small></p></details>"
        )
    title = f"<h2>Failures of {escape(name)}: {engine['failures']}</h2>"
    shown = len(engine["worst"])
    note = f"<p><small>The worst {shown}. A click shows the conversation, and what was found.</small></p>"
    return title + (note if shown else "") + "".join(items)


def _marked(before: str, after: str) -> str:
    marks = {"equal": "{}", "deleted": "<del>{}</del>", "added": "<ins>{}</ins>"}
    return "".join(marks[kind].format(escape(text)) for kind, text in word_diff(before, after))
