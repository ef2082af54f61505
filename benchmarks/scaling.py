"""How time grows with the length of a text: every function that reads what others wrote, on crafted texts.

    python -m benchmarks.scaling [--longest N]

Each text is doubled until a call takes long enough to be measured; the exponent is that of the last doublings. One
above 1.3 is no longer linear: somebody could make a turn take minutes.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable
from itertools import product

from benchmarks._data import table
from llama_index_condense_plus import CondensePlusSettings, decide_rewrite
from llama_index_condense_plus.aliases import AliasTable
from llama_index_condense_plus.cleanup import Cleaner, fit_query, safe_line
from llama_index_condense_plus.languages import pack_of
from llama_index_condense_plus.rewriting.cutting import cut, list_items
from llama_index_condense_plus.rewriting.history import build_window
from llama_index_condense_plus.rewriting.parse import parse_rewrite
from llama_index_condense_plus.rewriting.prompt import quoted

LIMIT = 1.3
SHORTEST, LONGEST = 2_000, 128_000
MEASURABLE_S = 0.004
SETTINGS = CondensePlusSettings(aliases={"gw": "Gateway", "ab": "Alpha Beta"})
PIECES = (
    "a", " ", "\n", "?", "- x\n", "1. x\n", "1) x ", "a, b and ", "a、b", "“", '"', "'", "(", "[", "{", '{"query": "',
    "<", "<think>", "</think>", "<memory>", "</memory>", "![", "](", "```", "`", "**", "|", "|-|-|\n", "User: ",
    "Question: ", "it ", "you mentioned ", "please ", "the first ", "gw ", "GTE-3000 ", "A. x ", "\u200b", "\ud800",
    "0", "…", "—", "http://", "@", "not ", "what about ", "if ", ", ", ". ", "。", "，", "《", "》", "🙂",
    "é", "ß", "ﬀ",
)  # fmt: skip
PATTERNS = [*PIECES, *(one + other for one, other in product(PIECES[:16], PIECES[8:24]))]
"""What a text is made of, over and over."""


def _prefix(text: str) -> str:
    return f"What does the GTE-3000 cost? {text}"


TARGETS: dict[str, Callable[[str], object]] = {
    "build_window, answer": lambda text: build_window([("user", "hi"), ("assistant", text)], SETTINGS.history),
    "build_window, message": lambda text: build_window([("user", text)], SETTINGS.history, summary="blocks"),
    "cut": lambda text: cut(text, 160),
    "list_items": list_items,
    "parse_rewrite": lambda text: parse_rewrite(text, "and it?"),
    "parse_rewrite, after a question": lambda text: parse_rewrite(_prefix(text), "and it?"),
    "clean": lambda text: Cleaner(SETTINGS).clean(text),
    "safe_line": safe_line,
    "fit_query": lambda text: fit_query(text, 512),
    "aliases": lambda text: AliasTable(SETTINGS.aliases).apply(text),
    "quoted": quoted,
    "decide_rewrite": lambda text: decide_rewrite(
        text, [("user", "What does the GTE-3000 cost?"), ("assistant", "99.")]
    ),
    "tokenize": lambda text: pack_of(text).tokenize(text),
    "references": lambda text: pack_of(text).references(text),
    "asking_clause": lambda text: pack_of(text).asking_clause(text),
    "small_talk": lambda text: pack_of(text).small_talk(text),
    "instructions": lambda text: pack_of(text).instructions(text),
}


def exponent(target: Callable[[str], object], pattern: str, longest: int) -> tuple[float, str, float]:
    """Return the exponent of the last doublings, the pattern, and the seconds a character of the longest text."""
    taken: list[tuple[int, float]] = []
    length = SHORTEST
    while length <= longest and (not taken or taken[-1][1] < 1.0):
        times = []
        for run in range(2):
            fresh = f"{(pattern * (length // len(pattern) + 1))[:length]}{run}"  # remembered from no run before
            began = time.perf_counter()
            target(fresh)
            times.append(time.perf_counter() - began)
        taken.append((length, min(times)))
        length *= 2
    slowest = taken[-1][1] / taken[-1][0]
    measurable = [one for one in taken if one[1] >= MEASURABLE_S][-3:]
    if len(measurable) < 2:
        return 0.0, pattern, slowest
    (first, least), (last, most) = measurable[0], measurable[-1]
    return math.log(most / least) / math.log(last / first), pattern, slowest


def main() -> int:
    """Print each function's worst texts; exit status 1 if one is not linear."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--longest", type=int, default=LONGEST)
    parser.add_argument("--only", default="", help="part of a function's name")
    parser.add_argument("--step", type=int, default=1, help="every n-th text")
    given = parser.parse_args()
    rows, bad = [], 0
    for name, target in TARGETS.items():
        if given.only not in name:
            continue
        found = [exponent(target, pattern, given.longest) for pattern in PATTERNS[:: given.step]]
        worst, slowest = max(found), max(found, key=lambda one: one[2])
        if worst[0] > LIMIT:  # a busy machine: measured again before it counts
            worst = max(exponent(target, one[1], given.longest) for one in found if one[0] > LIMIT)
        bad += worst[0] > LIMIT
        print(f"{name}: {worst[0]:.2f} {worst[1]!r}", flush=True)
        rows.append((name, f"{worst[0]:.2f}", repr(worst[1]), f"{slowest[2] * 1e6:.2f}", repr(slowest[1])))
    columns = ("function", "worst exponent", "of", "slowest, µs a character", "of")
    table(f"{len(PATTERNS[:: given.step])} texts, up to {given.longest:,} characters", columns, rows)
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
