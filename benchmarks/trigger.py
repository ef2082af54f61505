"""How well the gate tells which messages need a rewrite, and how fast.

    CONDENSE_PLUS_DATA=… python -m benchmarks.trigger [--quick]

Learned figures are from cross-validation over conversations; "left out" trains on the other sets only. One
configuration and one threshold for all sets. Figures carry standard errors.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks._data import RESULTS, figure, table
from benchmarks._gate_speed import LENGTHS, gate_rows
from benchmarks._trigger_sets import SETS, labelled_turns
from benchmarks.train_trigger import training_turns
from llama_index_condense_plus.evaluation.train import (
    NO_ANSWERS,
    Prepared,
    TrainingTurn,
    calibrated,
    cross_validated,
    fitted,
    shipped_turns,
    total,
)
from llama_index_condense_plus.rewriting.learned import LinearModel
from llama_index_condense_plus.rewriting.trigger import build_trigger
from llama_index_condense_plus.settings import CondensePlusSettings
from llama_index_condense_plus.types import HistoryWindow, WindowMessage

SHIPPED = "shipped"
"""The cases that ship with the package."""
IMAGE = Path(__file__).parents[1] / "docs" / "images" / "trigger_curve.png"
"""The curve that the documentation shows."""
MUST = {
    "kdconv": (0.95, 0.60),
    "gecor": (0.95, 0.75),
    "cast19": (0.95, 0.40),
    "alexa": (0.97, None),
    SHIPPED: (0.98, 0.85),
}
"""Least share fired on of those that need it, and skipped of those that do not."""
WORST = 30
"""Errors that are printed."""


def main() -> None:
    """Print every table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="leave out the leave-one-set-out runs")
    quick = parser.parse_args().quick
    prepared = [Prepared.of(turn) for turn in training_turns()]
    shifted = _shifted(prepared, cross_validated(prepared))
    rows = []
    for name in (*SETS, SHIPPED):
        rows.extend(_rule_rows(name))
        own = [(item.turn, value) for item, value in zip(prepared, shifted, strict=True) if _is_of(item.turn, name)]
        fires, skips = _shares(own)
        rows.append(("", "learned, cross-validated", figure(fires), figure(skips), _verdict(name, fires, skips)))
        if not quick:
            fires, skips = _shares(_left_out(name, prepared))
            rows.append(("", "learned, set left out", figure(fires), figure(skips), "aim .95 / .25"))
    table("Fires on those that need it, skips those that need none", ["set", "gate", "fires", "skips", "goal"], rows)
    _curve(prepared, shifted)
    _worst(prepared, shifted)
    _speed()


def _shifted(prepared: Sequence[Prepared], sums: Sequence[float]) -> list[float]:
    """Return sums moved so that the threshold is 0."""
    shifts = calibrated(LinearModel({"zh": {}, "en": {}}), prepared, sums)
    return [value + _shift(shifts, item) for item, value in zip(prepared, sums, strict=True)]


def _shift(shifts: LinearModel, item: Prepared) -> float:
    answered = any(message.role == "assistant" for message in item.turn.window.messages)
    return shifts.sum(item.language, () if answered else (NO_ANSWERS,))


def _left_out(name: str, prepared: Sequence[Prepared]) -> list[tuple[TrainingTurn, float]]:
    rest = [item for item in prepared if item.turn.group.split("-")[0] != name]
    model = calibrated(fitted(rest), rest, cross_validated(rest, folds=3))
    return [(item.turn, total(item, model)) for item in prepared if _is_of(item.turn, name)]


def _is_of(turn: TrainingTurn, name: str) -> bool:
    return turn.group == name or (name == SHIPPED and turn.group.startswith(SHIPPED))


def _shares(scored: Sequence[tuple[TrainingTurn, float]]) -> tuple[list[float], list[float]]:
    fires = [float(value >= 0) for turn, value in scored if turn.need]
    skips = [float(value < 0) for turn, value in scored if not turn.need]
    return fires, skips


def _verdict(name: str, fires: Sequence[float], skips: Sequence[float]) -> str:
    least_fires, least_skips = MUST[name]
    met = sum(fires) / len(fires) >= least_fires
    if least_skips is not None:
        met = met and sum(skips) / len(skips) >= least_skips
    goal = f"{least_fires} / {least_skips or '–'}"
    return f"{goal} {'met' if met else 'not met'}"


def _labelled(name: str) -> list[tuple[str, HistoryWindow, bool]]:
    """Return a set's messages, what was said before, and whether they need a rewrite."""
    if name == SHIPPED:
        return [(turn.message, turn.window, turn.need) for turn in shipped_turns()]
    return [(turn.question, turn.window, turn.need) for turn in labelled_turns(name)]


def _rule_rows(name: str) -> list[tuple[str, str, str, str, str]]:
    rows = []
    for mode, label in (("pronoun", "pronoun list"), ("heuristic", "rules")):
        trigger = build_trigger(CondensePlusSettings(trigger={"mode": mode}))
        decided = [(trigger.decide(message, window).rewrite, need) for message, window, need in _labelled(name)]
        fires = [float(fired) for fired, need in decided if need]
        skips = [float(not fired) for fired, need in decided if not need]
        rows.append((name if mode == "pronoun" else "", label, figure(fires), figure(skips), ""))
    return rows


def _curve(prepared: Sequence[Prepared], shifted: Sequence[float]) -> None:
    """Print the trade-off by ``recall_bias`` and draw it."""
    biases = [-0.8, -0.6, -0.4, -0.2, 0.0, 0.2, 0.4, 0.6, 0.8]
    rows = []
    for bias in biases:
        limit = 0.5 * (1.0 - bias)
        cut = math.log(limit / (1.0 - limit))
        cells = [f"{bias:+.1f}"]
        for name in SETS:
            fires, skips = _rates(name, prepared, shifted, cut)
            cells.append(f"{fires:.3f} / {skips:.3f}" if skips is not None else f"{fires:.3f}")
        rows.append(cells)
    table("Trade-off by trigger.recall_bias (fires / skips, cross-validated)", ["bias", *SETS], rows)
    try:
        import matplotlib as mpl

        mpl.use("Agg")
        import matplotlib.pyplot as plt
    except ImportError:
        print("matplotlib is not installed; no curve drawn.")
        return
    figure_, axes = plt.subplots(figsize=(6.5, 4.5), dpi=110)
    for name in SETS:
        if name == "alexa":
            continue
        points = [_rates(name, prepared, shifted, step / 8) for step in range(-40, 41)]
        axes.plot([skips for _, skips in points], [fires for fires, _ in points], label=name)
        fires, skips = _rates(name, prepared, shifted, 0.0)
        axes.plot([skips], [fires], "ko", markersize=5)
    axes.axhline(0.95, color="grey", linewidth=0.8, linestyle=":")
    axes.set(
        xlabel="skips, of those that need none", ylabel="fires, of those that need it", ylim=(0.6, 1.0), xlim=(0, 1)
    )
    axes.legend(loc="lower left")
    axes.set_title("The learned gate, cross-validated; dots: the default threshold", fontsize=10)
    figure_.tight_layout()
    for path in (RESULTS / "trigger_curve.png", IMAGE):
        path.parent.mkdir(parents=True, exist_ok=True)
        figure_.savefig(path)


def _rates(name: str, prepared: Sequence[Prepared], shifted: Sequence[float], cut: float) -> tuple[float, float | None]:
    need = [value for item, value in zip(prepared, shifted, strict=True) if item.turn.group == name and item.turn.need]
    none = [
        value for item, value in zip(prepared, shifted, strict=True) if item.turn.group == name and not item.turn.need
    ]
    fires = sum(value >= cut for value in need) / len(need)
    return fires, sum(value < cut for value in none) / len(none) if none else None


def _worst(prepared: Sequence[Prepared], shifted: Sequence[float]) -> None:
    errors = [
        (abs(value), item.turn)
        for item, value in zip(prepared, shifted, strict=True)
        if item.turn.group in SETS and (value >= 0) != item.turn.need and item.ruled is None
    ]
    errors.sort(key=lambda error: -error[0])
    rows = [
        (
            turn.group,
            "missed" if turn.need else "fired",
            f"{size:.1f}",
            turn.message[:90],
            turn.window.messages[-1].text[:40],
        )
        for size, turn in errors[:WORST]
    ]
    table(f"The {WORST} worst errors", ["set", "error", "by", "message", "said before"], rows)


def _speed() -> None:
    """Time the default gate: new questions, repeated ones, and messages of doubled length."""
    table(
        f"CPU time of a decision on {LENGTHS[0]} to {LENGTHS[-1]} characters (limit 50 / 500 µs)",
        ["", "questions", "p50", "p99"],
        gate_rows(),
    )
    trigger = build_trigger(CondensePlusSettings())
    window = HistoryWindow(
        messages=(WindowMessage("user", "年假有几天？", ""), WindowMessage("assistant", "5天。", ""))
    )
    rows = []
    for power in range(10, 21):
        text = ("那它的价格是多少，and how much is it? " * 40_000)[: 2**power]
        best = math.inf
        for attempt in range(3):
            started = time.thread_time()
            trigger.decide(text[:-1] + str(attempt), window)
            best = min(best, time.thread_time() - started)
        rows.append((f"{2**power:,}", f"{best * 1000:.2f} ms"))
    table("Time by length of the message", ["characters", "best of 3"], rows)


if __name__ == "__main__":
    main()
