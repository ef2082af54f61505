"""What is found without a model: the carry, trained without the set in question, its words searched beside the user's.

    CONDENSE_PLUS_DATA=<folder> python -m benchmarks.carry

The last table is the frontier of ``rewrite.cascade``: how many model calls a confidence saves, and what it costs.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from statistics import fmean
from typing import Any

from llama_index.core.retrievers import BaseRetriever

from benchmarks._bm25 import bm25
from benchmarks._data import figure, history_of, load, ndcg_at, recall_at, table
from benchmarks._ranker import train_ranker
from benchmarks._vectors import vectors
from llama_index_condense_plus.retrieval.fusion import fuse
from llama_index_condense_plus.retrieval.parallel import deepened
from llama_index_condense_plus.rewriting.carry import CarryRewriter
from llama_index_condense_plus.settings.sections import FusionSettings
from llama_index_condense_plus.types import HistoryWindow, PlannedQuery, QueryRole, RankedList, WindowMessage

WEIGHT = {"kdconv_zh_dev": 0.3, "mtrag_dev": 1.0}
"""Weight of the user's own words beside what is carried over."""
STEP = 3
"""Every so many of KdConv's questions that need a rewrite."""
THRESHOLDS = (0.1, 0.15, 0.2, 0.3, 0.4, 0.6)
Row = dict[str, Any]
SEARCH: list[Callable[[str, str], BaseRetriever]] = [bm25]
"""What searches; ``--vectors`` puts vectors here."""


def groups() -> dict[str, tuple[str, list[Row]]]:
    """Return name → data set and questions."""
    zh = [row for row in load("kdconv_zh_dev") if row["history"]]
    en = [row for row in load("mtrag_dev") if row["history"]]
    need = [row for row in zh if not row["entity_in_question"] and row["entity_recoverable"]]
    named = {
        "KdConv, needs a rewrite": ("kdconv_zh_dev", need[::STEP]),
        "KdConv, needs none": ("kdconv_zh_dev", [row for row in zh if row["entity_in_question"]]),
    }
    for domain in ("cloud", "fiqa"):
        named[f"MTRAG {domain}"] = ("mtrag_dev", [row for row in en if row["domain"] == domain])
    return named


def window(row: Row) -> HistoryWindow:
    """Return the whole history as a window."""
    return HistoryWindow(tuple(WindowMessage(role, text, text) for role, text in history_of(row)))


@cache
def carry(left_out: str) -> CarryRewriter:
    """Return the carry, trained without a set, that carries over whatever comes first."""
    return CarryRewriter(model=replace(train_ranker((left_out,)), threshold=0.0))


def score(name: str, row: Row, rewrite: str | None, weight: float | None = None) -> float:
    """Return R@5 in Chinese, nDCG@5 in English, of a rewrite beside the question."""
    zh = name.startswith("kdconv")
    retriever: BaseRetriever = SEARCH[0](name.replace("_dev", "_corpus"), row["domain"])
    own = WEIGHT[name] if weight is None else weight
    queries = [(rewrite, 1.0), (row["question"], own)] if rewrite else [(row["question"], 1.0)]
    wanted = [PlannedQuery(text, QueryRole.REWRITTEN, load) for text, load in queries if load > 0]
    searched = deepened(retriever, len(wanted))
    lists = [RankedList(query, tuple(searched.retrieve(query.text))) for query in wanted]
    ids = [node.node_id for node in fuse(lists, FusionSettings(), 5 if zh else 10)]
    return (recall_at if zh else ndcg_at)(ids, row["gold_docs"], 5)


def concat(row: Row) -> str:
    """Return the last round before the question."""
    return " ".join([*(text for _, text in history_of(row)[-2:]), row["question"]])


def main() -> None:
    """Print what each way finds, and the frontier."""
    if "--vectors" in sys.argv:
        SEARCH[0] = vectors
    rows, frontier = [], []
    for title, (name, questions) in groups().items():
        outcomes = [carry(name).outcome(row["question"], window(row)) for row in questions]
        typed = [score(name, row, None) for row in questions]
        cells = [figure(typed), figure([score(name, row, concat(row), 0.0) for row in questions])]
        topics = [carry(name).topic_query(row["question"], window(row)) for row in questions]
        cells.append(figure([score(name, row, topic) for row, topic in zip(questions, topics, strict=True)]))
        carried = [score(name, row, found.text) for row, found in zip(questions, outcomes, strict=True)]
        cells.append(figure(carried))
        for threshold in THRESHOLDS:
            sure = [found.text is not None and found.confidence >= threshold for found in outcomes]
            values = [new if yes else old for new, old, yes in zip(carried, typed, sure, strict=True)]
            frontier.append(
                (title, threshold, f"{fmean(sure):.0%}", figure(values), f"{fmean(values) - fmean(typed):+.3f}")
            )
        rows.append((f"{title} ({len(questions)})", *cells))
    table(
        f"Without a model, {SEARCH[0].__name__}",
        ("questions", "as typed", "concat", "topic, always", "carry, threshold 0"),
        rows,
    )
    table("By confidence", ("questions", "from", "carried over", "found", "gain over as typed"), frontier)


if __name__ == "__main__":
    main()
