"""Loads the development data from the folder in CONDENSE_PLUS_DATA; measures and tables that all benchmarks share."""

from __future__ import annotations

import gzip
import json
import math
import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

RESULTS = Path(__file__).parent / "results"
"""Where benchmarks keep model outputs between runs; not committed."""


def data_folder() -> Path:
    """Return the data folder, or end the program normally with a message that says what is missing."""
    folder = os.environ.get("CONDENSE_PLUS_DATA", "")
    if not folder or not Path(folder).is_dir():
        print("Set CONDENSE_PLUS_DATA to the folder that holds the development data; nothing was measured.")
        sys.exit(0)
    return Path(folder)


def load(name: str) -> list[dict[str, Any]]:
    """Return the rows of one data set, for example ``kdconv_zh_dev``."""
    path = data_folder() / f"{name}.jsonl.gz"
    if not path.exists():
        print(f"{path.name} is not in CONDENSE_PLUS_DATA; nothing was measured.")
        sys.exit(0)
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def history_of(row: dict[str, Any]) -> list[tuple[str, str]]:
    """Return a row's history as (role, text) pairs."""
    return [(message["role"], message["content"]) for message in row["history"]]


def passages(corpus: str, domain: str) -> list[tuple[str, str]]:
    """Return the (id, text) pairs of one domain of a corpus; KdConv's ids begin with it."""
    rows = load(corpus)
    return [(row["id"], row["text"]) for row in rows if row.get("domain", row["id"].split("/")[0]) == domain]


def asked_for(corpus: str) -> set[str]:
    """Return the passages that the questions over a corpus ask for."""
    rows = recorded_kdconv() if corpus.startswith("kdconv") else load("mtrag_dev")
    return {passage for row in rows for passage in row["gold_docs"]}


def recorded_kdconv() -> list[dict[str, Any]]:
    """Return the KdConv questions with a recorded rewrite: the question's row with ``rewrite`` and ``need``."""
    questions = {row["id"]: row for row in load("kdconv_zh_dev")}
    return [{**questions[row["id"]], **row} for row in load("kdconv_zh_dev_qwen")]


def recall_at(found: Sequence[str], gold: Iterable[str], k: int) -> float:
    """Return the share of the gold passages among the first ``k``."""
    wanted = set(gold)
    return len(wanted & set(found[:k])) / len(wanted)


def ndcg_at(found: Sequence[str], gold: Iterable[str], k: int) -> float:
    """Return nDCG at ``k`` with binary gains (Järvelin and Kekäläinen 2002)."""
    wanted = set(gold)
    gained = sum(1 / math.log2(rank + 2) for rank, passage in enumerate(found[:k]) if passage in wanted)
    return gained / sum(1 / math.log2(rank + 2) for rank in range(min(k, len(wanted))))


def standard_error(values: Sequence[float]) -> float:
    """Return the standard error of a mean."""
    return stdev(values) / math.sqrt(len(values)) if len(values) > 1 else math.nan


def figure(values: Sequence[float], digits: int = 3) -> str:
    """Return a mean with its standard error, for example ``0.486 ± 0.031``."""
    return f"{fmean(values):.{digits}f} ± {standard_error(values):.{digits}f}" if values else "–"


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table, with rich where it is installed."""
    cells = [[str(cell) for cell in row] for row in rows]
    if not cells:
        print(f"{title}: nothing was measured.")
        return
    try:
        from rich.console import Console
        from rich.table import Table
    except ImportError:
        print(f"\n{title}", *("  ".join(row) for row in [list(columns), *cells]), sep="\n")
        return
    printed = Table(title=title, title_justify="left")
    for index, column in enumerate(columns):
        printed.add_column(column, justify="left" if index == 0 else "right", overflow="fold")
    for row in cells:
        printed.add_row(*row)
    Console(width=None if sys.stdout.isatty() else 150).print(printed)
