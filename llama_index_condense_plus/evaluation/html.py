"""The report as one self-contained HTML page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from llama_index_condense_plus.evaluation.differences import word_diff
from llama_index_condense_plus.evaluation.markdown import figure_rows, summary
from llama_index_condense_plus.evaluation.plots import NEEDS_MATPLOTLIB, draw

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; color: #222; }
table { border-collapse: collapse; margin: 1rem 0; } th, td { padding: .25rem .6rem; border-bottom: 1px solid #ddd;
text-align: left; vertical-align: top; } td:not(:first-child) { font-variant-numeric: tabular-nums; }
del { color: #b3261e; background: #fde8e6; } ins { color: #1b6e35; background: #e3f5e7; text-decoration: none; }
details { margin: .2rem 0; } figure { margin: 1rem 0; overflow-x: auto; } figcaption { font-weight: 600; }
small { color: #666; } .history { white-space: pre-line; color: #555; }
"""


def as_html(report: Mapping[str, Any]) -> str:
    """Return a report as one HTML page that loads nothing from elsewhere."""
    engines = report["engines"]
    title = f"Evaluation of {', '.join(engines)}"
    parts = [
        f"<h1>{escape(title)}</h1>",
        f"<p>{escape(summary(report))}</p>",
        "<h2>Figures</h2>",
        _table(["figure", *engines], figure_rows(engines)),
        "<h2>Where cases went wrong</h2>",
        _stages(engines),
        _plots(report),
        *(_failures(name, engine) for name, engine in engines.items()),
    ]
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f"<style>{STYLE}</style></head><body>\n" + "\n".join(parts) + "\n</body></html>\n"
    )


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    head = "".join(f"<th>{escape(cell)}</th>" for cell in header)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><tr>{head}</tr>{body}</table>"


def _stages(engines: Mapping[str, Any]) -> str:
    stages = dict.fromkeys(stage for engine in engines.values() for stage in engine["stages"])
    rows = [[stage, *(str(engine["stages"].get(stage, 0)) for engine in engines.values())] for stage in stages]
    return _table(["stage", *engines], rows)


def _plots(report: Mapping[str, Any]) -> str:
    try:
        plots = draw(report)
    except ImportError:
        return f"<p>{escape(NEEDS_MATPLOTLIB)}</p>"
    return "".join(f"<figure><figcaption>{escape(t)}</figcaption>{svg}</figure>" for t, svg in plots.items())


def _failures(name: str, engine: Mapping[str, Any]) -> str:
    items = []
    for failure in engine["worst"]:
        history = "\n".join(failure["history"])
        found = ", ".join(failure["found"]) or "nothing"
        items.append(
            f"<details><summary><b>{escape(failure['id'])}</b> {escape(failure['category'])} · "
            f"{escape(failure['stage'])}<br>{_marked(failure['question'], failure['query'])}</summary>"
            f"<p class=history>{escape(history)}</p><p>accepted: {escape(failure['accepted'])}<br>"
            f"<small>gate: {escape(failure['reason'])} · gold: {escape(', '.join(failure['gold']))} · "
            f"found: {escape(found)} {escape(failure['error'])}</small></p></details>"
        )
    title = f"<h2>Failures of {escape(name)}: {engine['failures']}</h2>"
    return title + "".join(items)


def _marked(before: str, after: str) -> str:
    marks = {"equal": "{}", "deleted": "<del>{}</del>", "added": "<ins>{}</ins>"}
    return "".join(marks[kind].format(escape(text)) for kind, text in word_diff(before, after))
