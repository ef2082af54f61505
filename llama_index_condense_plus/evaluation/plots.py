"""Plots of a report as inline SVG, drawn by matplotlib."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any

COLOURS = ("#2a6fbb", "#d9772b", "#4a9d5b", "#8c5aa8", "#777777")
NEEDS_MATPLOTLIB = "Plots need matplotlib: pip install 'llama-index-condense-plus[eval]'."


def draw(report: Mapping[str, Any]) -> dict[str, str]:
    """Return the plots of a report: title → SVG.

    Raises:
        ImportError: matplotlib is not installed.
    """
    engines = report["engines"]
    plots = {"Gate: what is skipped at which recall": _gate_curves(engines)}
    plots["Rewrite accuracy by category"] = _bars(engines, "rewrite_accuracy")
    plots["Hit rate at rank 1 by category"] = _bars(engines, "hit@1")
    plots["Latency"] = _latencies(engines)
    return {title: svg for title, svg in plots.items() if svg}


def _gate_curves(engines: Mapping[str, Any]) -> str:
    curves = {name: engine["gate_curve"] for name, engine in engines.items() if engine["gate_curve"]}
    if not curves:
        return ""
    figure, axes = _figure(5.5, 4.0)
    for colour, (name, points) in zip(COLOURS, curves.items(), strict=False):
        axes.plot([p["skip"] for p in points], [p["recall"] for p in points], marker="o", label=name, color=colour)
    axes.set(
        xlabel="share of complete questions skipped", ylabel="recall of follow-ups", xlim=(0, 1.02), ylim=(0, 1.02)
    )
    axes.legend()
    return _svg(figure)


def _bars(engines: Mapping[str, Any], measure: str) -> str:
    values = {name: engine["categories"][measure] for name, engine in engines.items()}
    categories = sorted({category for found in values.values() for category in found})
    if not categories:
        return ""
    figure, axes = _figure(7.5, 0.3 * len(categories) * max(1, len(values) * 0.6) + 1.2)
    height = 0.8 / len(values)
    for place, (colour, (name, found)) in enumerate(zip(COLOURS, values.items(), strict=False)):
        means = [found[c]["mean"] if c in found else 0.0 for c in categories]
        spread = [
            [found[c]["mean"] - found[c]["low"] if c in found else 0.0 for c in categories],
            [found[c]["high"] - found[c]["mean"] if c in found else 0.0 for c in categories],
        ]
        rows = [i + place * height for i in range(len(categories))]
        axes.barh(rows, means, height=height, xerr=spread, color=colour, label=name, ecolor="#555555")
    axes.set_yticks([i + height * (len(values) - 1) / 2 for i in range(len(categories))], categories)
    axes.margins(y=0.01)
    axes.invert_yaxis()
    axes.set(xlim=(0, 1.02), xlabel=measure)
    figure.legend(loc="outside upper right", ncols=len(values), frameon=False)
    return _svg(figure)


def _latencies(engines: Mapping[str, Any]) -> str:
    figure, axes = _figure(5.5, 3.2)
    for colour, (name, engine) in zip(COLOURS, engines.items(), strict=False):
        times = sorted(1000 * value for value in engine["latencies_s"])
        axes.plot(times, [(i + 1) / len(times) for i in range(len(times))], label=name, color=colour)
    axes.set(xscale="log", xlabel="milliseconds a turn, without the answer", ylabel="share of turns", ylim=(0, 1.02))
    axes.xaxis.set_major_formatter("{x:g}")
    axes.legend()
    return _svg(figure)


def _figure(width: float, height: float) -> tuple[Any, Any]:
    from matplotlib.figure import Figure  # noqa: PLC0415, an extra

    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.subplots()
    axes.grid(alpha=0.3)
    return figure, axes


def _svg(figure: Any) -> str:
    handle = io.StringIO()
    figure.savefig(handle, format="svg", metadata={"Date": None, "Creator": None})
    text = handle.getvalue()
    return text[text.index("<svg") :]
