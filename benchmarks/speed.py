"""What the pure stages cost in CPU time: the gate, parser and guards, conversations and messages that grow, the import.

    CONDENSE_PLUS_DATA=… python -m benchmarks.speed

CPU time of this process, so that other work on the machine disturbs little; each figure is the best of several runs.
"""

from __future__ import annotations

import gc
import subprocess
import sys
import time
from collections.abc import Callable, Sequence

from llama_index.core.base.llms.types import ChatMessage

from benchmarks._data import table
from benchmarks._gate_speed import WORDS_MET, gate_rows
from benchmarks._trigger_sets import SETS, LabelledTurn, labelled_turns
from llama_index_condense_plus.rewriting.history import build_window
from llama_index_condense_plus.rewriting.parse import parse_rewrite
from llama_index_condense_plus.rewriting.review import Reviewer
from llama_index_condense_plus.rewriting.trigger import build_trigger
from llama_index_condense_plus.settings import CondensePlusSettings

RUNS = 5
SETTINGS = CondensePlusSettings()
IMPORT = """
import time, llama_index.core, llama_index.core.chat_engine
begun = time.process_time()
{statement}
print(time.process_time() - begun)
"""
IMPORTS = {
    "import of the package, beyond LlamaIndex's": ("import llama_index_condense_plus", "50 ms"),
    "the engine, when it is first named": ("from llama_index_condense_plus import CondensePlusChatEngine", ""),
}
GATE = {WORDS_MET: "50 / 500 µs"}
"""Limits of the gate, p50 and p99."""
Row = tuple[str, str, str, str]


def main() -> None:
    """Print every table."""
    gc.disable()
    table("CPU time", ("", "p50", "p99", "limit"), [*_gate(), *_review(), *_imports()])
    table("Doubling the input", ("", "size", "ms", "× the one before"), [*_message(), *_output(), *_conversation()])


def _spent(call: Callable[[], object]) -> float:
    begun = time.process_time_ns()
    call()
    return (time.process_time_ns() - begun) / 1e9


def _row(name: str, times: Sequence[float], limit: str) -> Row:
    ordered = sorted(times)
    middle, high = ordered[len(ordered) // 2], ordered[int(len(ordered) * 0.99)]
    return name, f"{middle * 1e6:.0f} µs", f"{high * 1e6:.0f} µs", limit


def _turns(fits: Callable[[LabelledTurn], bool]) -> list[LabelledTurn]:
    turns = [turn for name in SETS for turn in labelled_turns(name) if fits(turn) and len(turn.window.messages) > 4]
    return list({turn.question: turn for turn in turns}.values())[:400]


def _gate() -> list[Row]:
    """Time the gate on questions of 50 to 70 characters after six messages that were read before."""
    return [(f"gate, {name} ({count})", middle, high, GATE.get(name, "")) for name, count, middle, high in gate_rows()]


def _review() -> list[Row]:
    """Time the parser, and parser, cleanup and guards together, on new rewrites of about 100 characters."""
    reviewer = Reviewer(SETTINGS)
    turns = _turns(lambda turn: 80 <= len(turn.gold) <= 120)
    parsed: dict[str, float] = {}
    whole: dict[str, float] = {}
    for run in range(RUNS):
        for turn in turns:
            raw = turn.gold + " " * run + "?"
            reviewer.review("x?", turn.question, turn.window)
            spent = _spent(lambda: parse_rewrite(raw, turn.question))
            parsed[turn.gold] = min(spent, parsed.get(turn.gold, spent))
            new = turn.gold + "!" * run
            spent = _spent(lambda: reviewer.review(new, turn.question, turn.window))
            whole[turn.gold] = min(spent, whole.get(turn.gold, spent))
    return [
        _row(f"parser, {len(turns)} rewrites", list(parsed.values()), ""),
        _row("parser, cleanup and guards", list(whole.values()), "300 µs"),
    ]


def _imports() -> list[Row]:
    """Time imports in processes that have loaded LlamaIndex's core."""
    rows = []
    for name, (statement, limit) in IMPORTS.items():
        code = [sys.executable, "-c", IMPORT.format(statement=statement)]
        times = [
            float(subprocess.run(code, capture_output=True, check=True, text=True).stdout) for _ in range(2 * RUNS)
        ]
        rows.append((name, f"{min(times) * 1e3:.1f} ms", "", limit))
    return rows


def _growing(name: str, sizes: Sequence[int], make: Callable[[int, int], Callable[[], object]]) -> list[Row]:
    rows: list[Row] = []
    before = 0.0
    for size in sizes:
        spent = min(_spent(make(size, run)) for run in range(3))
        rows.append((name, f"{size:,}", f"{spent * 1e3:.2f}", f"{spent / before:.2f}" if before else ""))
        before, name = spent, ""
    return rows


def _message() -> list[Row]:
    trigger, text = build_trigger(SETTINGS), "那它的价格是多少，and how much is it? " * 40_000
    window = build_window([("user", "年假有几天？"), ("assistant", "5天。")], SETTINGS.history)
    return _growing(
        "gate, characters (1 MB: limit 50 ms)",
        [2**power for power in range(14, 21)],
        lambda size, run: lambda: trigger.decide(text[: size - 1] + str(run), window),
    )


def _output() -> list[Row]:
    reviewer, text = Reviewer(SETTINGS), "<think>那它的价格是多少，and how much is it? " * 40_000
    window = build_window([("user", "年假有几天？"), ("assistant", "5天。")], SETTINGS.history)
    return _growing(
        "parser and guards, characters of output",
        [2**power for power in range(14, 21)],
        lambda size, run: lambda: reviewer.review(f"{text[:size]}</think>年假{run}天？", "那几天？", window),
    )


def _conversation() -> list[Row]:
    """Time the window, the gate and the review of the next turn of a conversation."""
    trigger, reviewer = build_trigger(SETTINGS), Reviewer(SETTINGS)

    def make(size: int, run: int) -> Callable[[], object]:
        history = [
            ChatMessage(role=("user", "assistant")[i % 2], content=f"Message {i} on GTE-{i}.") for i in range(size)
        ]

        def turn(question: str, said: list[ChatMessage]) -> None:
            window = build_window(said, SETTINGS.history)
            trigger.decide(question, window)
            reviewer.review(f"What is the price of GTE-3, {question}", question, window)

        turn("And it?", history)
        later = [*history, ChatMessage(role="user", content=f"Hi {run}"), ChatMessage(role="assistant", content="Two.")]
        return lambda: turn(f"And its price {run}?", later)

    return _growing("next turn, messages (1,000: limit 2 × 10)", [10, 125, 250, 500, 1000], make)


if __name__ == "__main__":
    main()
