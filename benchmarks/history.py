"""Sweeps how much of the conversation the rewriting model is shown: rounds, cuts and order.

    python benchmarks/history.py                      what each window still shows, and its size; no model
    python benchmarks/history.py --llm URL --n 60     R@5 with a model: few and many rounds, newest first

A rewrite can only add what the model is shown. The first table counts the words that a good rewrite adds to the
question (the human rewrites of GECOR, CAsT-19 and Alexa CQR, Claude's targeted rewrites of MTRAG, the entity of
KdConv) and prints the share that the window still holds, in its text or in the line of names. The row of the
defaults is marked with ``*``.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Sequence
from statistics import fmean
from typing import Any

from _data import figure, history_of, load, recorded_kdconv, table
from rewriting import Chain, KeptModel, found

from llama_index_condense_plus.lexicons.text import content_tokens, fold
from llama_index_condense_plus.rewriting.history import build_window
from llama_index_condense_plus.rewriting.prompts import shown_names
from llama_index_condense_plus.settings.sections import HistorySettings
from llama_index_condense_plus.types import HistoryWindow

DEFAULTS = HistorySettings()
ROUNDS = (1, 2, 3, 4, 6, 10)
ANSWER_TOKENS = (40, 80, 160, 320)


def needed_words(row: dict[str, Any]) -> frozenset[str]:
    """Return the words that a good rewrite adds to a question; empty where none is needed or known."""
    if "gold_entity_base" in row:
        needs = not row["entity_in_question"] and row["entity_recoverable"]
        return frozenset(fold(name) for name in row["gold_entity_base"]) if needs else frozenset()
    machine = row.get("machine", {})
    gold = row.get("gold") or next((text for name, text in machine.items() if "targeted" in name), "")
    said = set(content_tokens(" ".join(text for _, text in history_of(row))))
    return frozenset(content_tokens(gold)) & said - set(content_tokens(row["question"]))


def shown_share(words: frozenset[str], message: str, window: HistoryWindow) -> float:
    """Return the share of words that the model is shown in a window's text or names."""
    text = fold(f"{window.text} {' '.join(shown_names(message, window))}")
    return fmean(word in text for word in words)


def sets(limit: int) -> dict[str, list[tuple[dict[str, Any], frozenset[str]]]]:
    """Return the questions of each set that need words of their history, and these words."""
    names = {
        "KdConv": "kdconv_zh_dev",
        "MTRAG": "mtrag_dev",
        "GECOR": "gecor_task",
        "CAsT-19": "cast19",
        "Alexa": "alexa_cqr",
    }
    chosen = {}
    for title, name in names.items():
        needing = [(row, words) for row in load(name) if row["history"] and (words := needed_words(row))]
        random.Random(0).shuffle(needing)  # noqa: S311 - a sample, not secrecy
        chosen[title] = needing[:limit]
    return chosen


def sweep(limit: int) -> None:
    """Print what windows of several sizes show."""
    questions = sets(limit)
    variants = {f"{n} rounds": DEFAULTS.model_copy(update={"max_rounds": n}) for n in ROUNDS}
    variants |= {
        f"answers cut to {n} tokens": DEFAULTS.model_copy(update={"answer_max_tokens": n}) for n in ANSWER_TOKENS
    }
    rows = []
    for title, settings in variants.items():
        mark = " *" if settings == DEFAULTS else ""
        cells: list[str] = []
        for needing in questions.values():
            windows = [build_window(history_of(row), settings) for row, _ in needing]
            shares = [
                shown_share(words, row["question"], window)
                for (row, words), window in zip(needing, windows, strict=True)
            ]
            cells.append(f"{figure(shares)} / {fmean(window.n_tokens for window in windows):.0f}")
        rows.append([title + mark, *cells])
    columns = [f"{name} ({len(needing)})" for name, needing in questions.items()]
    table("Share of the needed words that is shown / tokens of the shown history", ["window", *columns], rows)


def with_model(url: str | None, n: int, rounds: Sequence[int]) -> None:
    """Print R@5 of the default chain on KdConv for several windows."""
    questions = recorded_kdconv()
    random.Random(0).shuffle(questions)  # noqa: S311 - a sample, not secrecy
    model = KeptModel(url)
    variants = {f"{count} rounds": DEFAULTS.model_copy(update={"max_rounds": count}) for count in rounds}
    variants["newest first"] = DEFAULTS.model_copy(update={"order": "newest_first"})
    rows = []
    for title, settings in variants.items():
        chain = Chain(model, settings)
        scores: dict[bool, list[float]] = {True: [], False: []}
        for row in questions[:n]:
            request = chain.request(row)
            raw = chain.model(request) if request.decision.rewrite else row["question"]
            if raw is None:
                continue
            query = chain.reviewed(request, raw) if request.decision.rewrite else row["question"]
            scores[row["need"]].append(found(query, row))
        mark = " *" if settings == DEFAULTS else ""
        rows.append([title + mark, *(f"{figure(scores[need])} ({len(scores[need])})" for need in (True, False))])
    table("KdConv dev, R@5 with the model", ["window", "cannot be searched alone", "can"], rows)


def main() -> None:
    """Parse the arguments and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", type=int, default=400, help="questions of each set")
    parser.add_argument("--llm", help="base URL of an OpenAI-compatible server")
    parser.add_argument("--cached", action="store_true", help="ask nothing, use the kept answers")
    parser.add_argument("--n", type=int, default=60, help="questions put to the model for each window")
    parser.add_argument("--rounds", type=int, nargs="+", default=[1, 2, 4, 8], help="windows tried with the model")
    arguments = parser.parse_args()
    sweep(arguments.limit)
    if arguments.llm or arguments.cached:
        with_model(None if arguments.cached else arguments.llm, arguments.n, arguments.rounds)


if __name__ == "__main__":
    main()
