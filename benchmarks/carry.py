"""The whole engine without a model, its ranker trained without the set in question.

    CONDENSE_PLUS_DATA=<folder> python -m benchmarks.carry [--vectors]
    CONDENSE_PLUS_DATA=<folder> python -m benchmarks.carry --draw 100 --seed 7

The first table is what is searched: retrieval as typed and by the engine. The second is what is shown: how much of what
was put in a person put in too, by the confidence from which it is shown; a model call is saved for each such question
where ``rewrite.cascade`` has that value. ``--draw`` prints questions with their history and what became of them.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from typing import Any
from unittest.mock import patch

from llama_index.core.retrievers import BaseRetriever

from benchmarks._bm25 import bm25
from benchmarks._data import figure, history_of, load, ndcg_at, recall_at, recorded_kdconv, table
from benchmarks._engines import Kept, ask
from benchmarks._ranker import train_ranker
from benchmarks._vectors import vectors
from llama_index_condense_plus import CondensePlusChatEngine, CondensePlusSettings
from llama_index_condense_plus.gate.trigger import decide_rewrite
from llama_index_condense_plus.languages import pack_of
from llama_index_condense_plus.languages.text import fold
from llama_index_condense_plus.linear import LinearModel
from llama_index_condense_plus.operations import RuleOutcome
from llama_index_condense_plus.rewriting import carry as carrying
from llama_index_condense_plus.rewriting.history import build_window
from llama_index_condense_plus.settings.sections import HistorySettings

STEP = 3
"""Every so many of KdConv's questions that need a rewrite."""
SHOWN = ("mtrag_dev", "cast19", "cast20", "cast21", "qrecc", "kdconv_zh_dev")
CONFIDENCES = (0.2, 0.3, 0.4, 0.45, 0.5, 0.6, 0.7)
GROUNDED = 0.67
"""What was put in is right if a person put in so much of it."""
CONCAT = CondensePlusSettings.from_defaults(rewrite={"chain": ["concat"]}, retrieval={"variants": []})
NO_MODEL = CondensePlusSettings.from_defaults(rewrite={"chain": ["rules", "original"]})
Row = dict[str, Any]


def groups(*, recorded: bool) -> dict[str, tuple[str, list[Row]]]:
    """Return name → data set and questions; vectors hold passages for the recorded questions of KdConv alone."""
    zh = [row for row in (recorded_kdconv() if recorded else load("kdconv_zh_dev")) if row["history"]]
    need = [row for row in zh if not row["entity_in_question"] and row["entity_recoverable"]]
    named = {
        "KdConv, needs a rewrite": ("kdconv_zh_dev", need[:: 1 if recorded else STEP]),
        "KdConv, needs none": ("kdconv_zh_dev", [row for row in zh if row["entity_in_question"]]),
    }
    en = [row for row in load("mtrag_dev") if row["history"] and row["gold_docs"]]
    for domain in ("cloud", "fiqa"):
        named[f"MTRAG {domain}"] = ("mtrag_dev", [row for row in en if row["domain"] == domain])
    return named


@cache
def ranker(left_out: str) -> LinearModel:
    """Return the ranker, trained without a set."""
    return train_ranker((left_out,))


@contextmanager
def shipping(model: LinearModel) -> Iterator[None]:
    """Let every engine that is made meanwhile rank with a model."""
    with patch.object(carrying, "shipped_ranker", lambda: model):
        yield


def searched(row: Row, retriever: BaseRetriever, settings: CondensePlusSettings) -> float:
    """Return R@5 in Chinese, nDCG@5 in English, of what the engine finds."""
    found = ask(CondensePlusChatEngine, row, retriever, Kept(always=""), settings=settings).source_nodes
    measure = recall_at if row["lang"] == "zh" else ndcg_at
    return measure([node.node.node_id for node in found], row["gold_docs"], 5)


def shown(row: Row, model: LinearModel) -> RuleOutcome:
    """Return what the carry makes of a question, whatever its confidence; a decline where the gate lets it pass."""
    history = [(role, text) for role, text in history_of(row) if text]
    if not decide_rewrite(row["question"], history).rewrite:
        return RuleOutcome(None)
    carry = carrying.CarryRewriter(model=replace(model, threshold=0.0))
    return carry.outcome(row["question"], build_window(history, HistorySettings()))


def needs(row: Row) -> bool:
    """Return True if a person added something to the question."""
    if "entity_in_question" in row:
        return bool(row["entity_recoverable"]) and not row["entity_in_question"]
    words = pack_of(row["question"]).content_words
    return bool(set(words(_gold(row))) - set(words(row["question"])))


def is_right(row: Row, text: str) -> bool:
    """Return True if a person put into the question what was put into it here."""
    if "gold_entity_base" in row:
        return any(fold(name) in fold(text) for name in row["gold_entity_base"])
    words = pack_of(row["question"]).content_words
    new = set(words(text)) - set(words(row["question"]))
    return bool(new) and len(new & set(words(_gold(row)))) >= GROUNDED * len(new)


def _gold(row: Row) -> str:
    return str(row.get("gold") or row["machine"]["claude-sonnet-4/full-history"])


def draw(number: int, seed: int) -> None:
    """Print questions of every set, half of them Chinese, with what the carry that ships shows for them."""
    chinese = [row for row in load("kdconv_zh_dev") if row["history"] and (needs(row) or row["entity_in_question"])]
    english = [row for name in SHOWN[:-1] for row in load(name) if row["history"]]
    for rows in (english, chinese):
        for row in random.Random(seed).sample(rows, number):  # noqa: S311 - a sample, not secrecy
            found, model = shown(row, carrying.shipped_ranker()), carrying.shipped_ranker()
            text = found.text if found.confidence >= model.threshold else None
            told = " | ".join(f"{role[0]}: {' '.join(words.split())[:160]}" for role, words in history_of(row)[-6:])
            print(f"{row['id']}\t{told}\t{row['question']}\t{text or '-'}")


def main() -> None:
    """Print what is found, and what is shown by confidence."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vectors", action="store_true")
    parser.add_argument("--draw", type=int, default=0)
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args()
    if options.draw:
        draw(options.draw, options.seed)
        return
    search: Callable[[str, str], BaseRetriever] = vectors if options.vectors else bm25
    rows = []
    for title, (name, questions) in groups(recorded=options.vectors).items():
        corpus = name.replace("_dev", "_corpus")
        cells = []
        for settings in (CondensePlusSettings(enabled=False), CONCAT, NO_MODEL):
            with shipping(ranker(name)):
                cells.append([searched(row, search(corpus, row["domain"]), settings) for row in questions])
        gain = [ours - typed for typed, ours in zip(cells[0], cells[-1], strict=True)]
        rows.append((f"{title} ({len(questions)})", *map(figure, cells), figure(gain)))
    table(f"Without a model, {search.__name__}", ("questions", "as typed", "concat", "engine", "gain"), rows)
    if not options.vectors:
        print_shown()


def print_shown() -> None:
    """Print how much is shown from each confidence, how much of it is wrong, and how much of the need is met."""
    rows = []
    for name in SHOWN:
        questions = [row for row in load(name) if row["history"] and ("gold" in row or needs(row) or "machine" in row)]
        needed = sum(map(needs, questions))
        for trained, model in (("without it", ranker(name)), ("on all", carrying.shipped_ranker())):
            outcomes = [(row, shown(row, model)) for row in questions[:: 3 if name.startswith("kdconv") else 1]]
            share = len(outcomes) / len(questions)
            for least in CONFIDENCES:
                kept = [(row, found) for row, found in outcomes if found.text and found.confidence >= least]
                right = [row for row, found in kept if is_right(row, found.text or "")]
                wrong = f"{1 - len(right) / len(kept):.0%}" if kept else "-"
                met = sum(map(needs, right)) / (needed * share)
                rows.append((name, trained, least, f"{len(kept) / len(outcomes):.0%}", wrong, f"{met:.0%}"))
    columns = ("set", "trained", "from", "shown", "a person put in something else", "need met")
    table("By confidence", columns, rows)


if __name__ == "__main__":
    main()
