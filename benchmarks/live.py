"""Both engines with a live model: the same questions, each engine with its own prompt.

    CONDENSE_PLUS_DATA=<folder> python -m benchmarks.live ANSWERS [--llm URL] [--only mtrag|kdconv] [--n N]

Answers are kept in the folder ANSWERS by the hash of their prompt: without ``--llm`` nothing is asked, and questions
whose answers are not there are left out. The stock engine's rewrites for KdConv are recorded ones.
"""

from __future__ import annotations

import argparse
import json
import os
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

from llama_index.core.chat_engine import CondenseQuestionChatEngine

from benchmarks._bm25 import bm25
from benchmarks._data import figure, load, recorded_kdconv, table
from benchmarks._engines import Answers, Kept, NotKept, ask
from benchmarks.replay import Row, score
from llama_index_condense_plus import CondensePlusChatEngine, CondensePlusSettings

TYPED = CondensePlusSettings(enabled=False)


def questions(name: str, n: int) -> list[Row]:
    """Return the first ``n`` questions of a shuffled set."""
    rows = recorded_kdconv() if name == "kdconv" else [r for r in load("mtrag_dev") if r["gold_docs"] and r["history"]]
    random.Random(0).shuffle(rows)  # noqa: S311 - a sample, not secrecy
    return rows[:n]


def found(row: Row, answers: Answers, settings: CondensePlusSettings) -> tuple[list[list[str]], int] | None:
    """Return the ids found as typed, by the stock engine and by this one, and this one's calls; None: not asked yet."""
    retriever = bm25("kdconv_zh_corpus" if row["lang"] == "zh" else "mtrag_corpus", row["domain"])
    stock, ours = Kept(answers=answers, always=row.get("rewrite")), Kept(answers=answers)
    try:
        responses = [
            ask(CondensePlusChatEngine, row, retriever, Kept(), settings=TYPED),
            ask(CondenseQuestionChatEngine, row, retriever, stock),
            ask(CondensePlusChatEngine, row, retriever, ours, settings=settings),
        ]
    except NotKept:
        return None
    return None if ours.missing else ([[n.node_id for n in one.source_nodes] for one in responses], ours.calls)


def compare(name: str, rows: Sequence[Row], answers: Answers, settings: CondensePlusSettings) -> Iterator[list[str]]:
    """Yield the lines of the table for one set."""
    kept = []
    for number, row in enumerate(rows):
        print(f"{name} {number + 1}/{len(rows)}", end="\r", flush=True)
        if result := found(row, answers, settings):
            kept.append((row, *result))
    groups = {"all": (True, False, None), "need": (True,), "none": (False,)} if name == "kdconv" else {"all": (None,)}
    for group, needs in groups.items():
        chosen = [one for one in kept if one[0].get("need") in needs]
        if chosen:
            scores = [score([one[0] for one in chosen], [one[1][way] for one in chosen]) for way in range(3)]
            gain = [new - old for new, old in zip(scores[2], scores[1], strict=True)]
            calls = sum(one[2] for one in chosen) / len(chosen)
            yield [f"{name} {group} ({len(chosen)})", *map(figure, scores), figure(gain), f"{calls:.2f}"]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("answers", type=Path, help="folder of the kept answers")
    url = os.environ.get("CONDENSE_PLUS_LLM_URL")
    parser.add_argument("--llm", default=url, help="base URL of an OpenAI-compatible server")
    parser.add_argument("--only", choices=["mtrag", "kdconv"])
    parser.add_argument("--n", type=int, default=320)
    parser.add_argument("--settings", type=json.loads, default={}, help="settings of this engine")
    given = parser.parse_args()
    answers = Answers(given.answers, given.llm)
    settings = CondensePlusSettings(**{"rewrite": {"timeout_s": 0}, **given.settings})
    names = [given.only] if given.only else ["kdconv", "mtrag"]
    lines = [line for name in names for line in compare(name, questions(name, given.n), answers, settings)]
    columns = ("questions", "as typed", "stock engine", "this engine", "gain", "calls")
    table("Whole engines, each with its own prompt and the same model: nDCG@5 of MTRAG, R@5 of KdConv", columns, lines)


if __name__ == "__main__":
    main()
