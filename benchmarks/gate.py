"""How well the gate tells which messages need a rewrite, what that saves in a search, and how fast it is.

    CONDENSE_PLUS_DATA=<folder> python -m benchmarks.gate

A message needs a rewrite if the human rewrite adds words with content (KdConv: if the passage's subject is not named).
Cross-validation keeps conversations whole; "left out" trains on the other sets only. One threshold for all sets.
"""

from __future__ import annotations

import math
import random
import re
import time
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from statistics import fmean, median
from typing import Any

from benchmarks._bm25 import bm25
from benchmarks._data import figure, history_of, load, ndcg_at, table
from benchmarks.train import fit, write
from llama_index_condense_plus.gate.features import FEATURES, features, read_history, read_message
from llama_index_condense_plus.gate.trigger import WEIGHTS, MessageTrigger, build_trigger, load_weights
from llama_index_condense_plus.languages import pack, pack_of
from llama_index_condense_plus.linear import LinearModel
from llama_index_condense_plus.settings import CondensePlusSettings
from llama_index_condense_plus.types import HistoryWindow, WindowMessage

FILES = {
    "kdconv": "kdconv_zh_dev",
    "gecor": "gecor_task",
    "cast19": "cast19",
    "alexa": "alexa_cqr",
    "cast20": "cast20",
    "cast21": "cast21",
    "qrecc": "qrecc",
}
OWN_LANGUAGES = ("zh",)
"""Languages with weights of their own beside the shared ones."""
NEEDLESS = 0.3
"""Share that turns which need no rewrite have in a set's weight, where it has so many."""
MOST_HEAVY = 4.0
"""Times that such a turn counts at most."""
GOLD, FIRST = 0.05, 0.5
"""What a human rewrite counts, and a conversation's first question in another conversation."""
RECALL = 0.95
"""Share of the turns needing a rewrite that the threshold is to fire on: the second lowest of the sets' has it."""
WEIGHT = 0.3
"""Weight of the original beside the rewrite."""
EXPANSIONS = ("expansion",)
FOLDS = 5


@dataclass(frozen=True)
class Turn:
    """A message in its conversation, and whether it needs a rewrite."""

    group: str
    conversation: str
    message: str
    window: HistoryWindow = field(repr=False)
    need: bool
    load: float = 1.0
    gains: tuple[float, ...] = ()
    """MTRAG: what each rewriter gains in nDCG@5."""
    is_real: bool = True

    @property
    def fold(self) -> int:
        """Which fold the conversation is in."""
        return zlib.crc32(self.conversation.encode()) % FOLDS


def labelled(name: str) -> list[Turn]:
    """Return a set's turns with a history and a label, and what is made of them: golds and first questions."""
    turns, firsts = [], []
    for row in load(FILES[name]):
        turn = Turn(name, _conversation(row["id"]), row["question"], _window(row), _needs(name, row) is True)
        if not row["history"]:
            firsts += [row["question"]] * row.get("entity_in_question", True)
        elif _needs(name, row) is not None:
            turns.append(turn)
            if turn.need and row.get("gold") and name != "alexa":
                turns.append(replace(turn, message=row["gold"], need=False, load=GOLD, is_real=False))
    dice = random.Random(0)  # noqa: S311 - pairing, not secrecy
    places = [turn for turn in turns if turn.is_real]
    made = [replace(dice.choice(places), message=first, need=False, load=FIRST, is_real=False) for first in firsts]
    return turns + made


def _needs(name: str, row: dict[str, Any]) -> bool | None:
    if name == "kdconv":
        return False if row["entity_in_question"] else True if row["entity_recoverable"] else None
    english = pack("en")
    return name == "alexa" or bool(
        set(english.content_words(row["gold"])) - set(english.content_words(row["question"]))
    )


def _conversation(name: str) -> str:
    return re.split(r"(?<=\d)[-_](?=\d+(?:-\w+)?$)", name.split("<::>", maxsplit=1)[0])[0]


def _window(row: dict[str, Any]) -> HistoryWindow:
    return HistoryWindow(messages=tuple(WindowMessage(role, text, text) for role, text in history_of(row) if text))


@cache
def mtrag() -> tuple[Turn, ...]:
    """Return MTRAG's turns: one needs a rewrite where the rewriters gain in the mean."""
    turns = []
    for row in load("mtrag_dev"):
        if not row["history"] or not row["gold_docs"]:
            continue
        plain = ndcg_at(_search(row["domain"], row["question"]), row["gold_docs"], 5)
        gains = [
            ndcg_at(_both(row["domain"], text or row["question"], row["question"]), row["gold_docs"], 5) - plain
            for rewriter, text in sorted(row["machine"].items())
            if not any(word in rewriter for word in EXPANSIONS)
        ]
        gain = fmean(gains) if gains else 0.0
        turns.append(
            Turn(
                "mtrag",
                _conversation(row["id"]),
                row["question"],
                _window(row),
                gain > 0,
                load=abs(gain) + 0.02,
                gains=tuple(gains),
            )
        )
    return tuple(turns)


def _search(domain: str, query: str) -> list[str]:
    return [found.node.node_id for found in bm25("mtrag_corpus", domain).retrieve(query)]


def _both(domain: str, rewrite: str, original: str) -> list[str]:
    """Return the fused list of a rewrite and the original: scores relative to the best of each list."""
    scores: dict[str, float] = {}
    for query, weight in ((rewrite, 1.0), (original, WEIGHT)):
        found = bm25("mtrag_corpus", domain).retrieve(query)
        for node in found:
            best = found[0].score or 1.0
            scores[node.node.node_id] = scores.get(node.node.node_id, 0.0) + weight * (node.score or 0.0) / best
    return sorted(scores, key=lambda name: -scores[name])


@dataclass(frozen=True)
class Read:
    """A turn with its features, or with what a rule decides."""

    turn: Turn
    found: dict[str, float]
    ruled: bool | None


@cache
def _trigger() -> MessageTrigger:
    return MessageTrigger(CondensePlusSettings(trigger={"mode": "learned"}))


def read(turns: Iterable[Turn]) -> Iterator[Read]:
    """Yield turns as the gate sees them."""
    for turn in turns:
        decision = _trigger().decide(turn.message, turn.window)
        if decision.score is None:
            yield Read(turn, {}, decision.rewrite)
            continue
        said, known = read_history(turn.window), pack_of(turn.message)
        found = features(read_message(turn.message, known, said))
        if known.code in OWN_LANGUAGES:
            found |= {f"{name}_{known.code}": value for name, value in found.items()} | {f"language_{known.code}": 1.0}
        yield Read(turn, found, None)


def trained(cases: Sequence[Read]) -> LinearModel:
    """Return a model without a threshold; every set weighs the square root of its size."""
    live = [case for case in cases if case.ruled is None]
    loads = []
    for group in {case.turn.group for case in live}:
        need = sum(case.turn.load for case in live if case.turn.group == group and case.turn.need)
        none = sum(c.turn.load for c in live if c.turn.group == group and not c.turn.need and c.turn.is_real)
        heavy = min(MOST_HEAVY, max(1.0, NEEDLESS / (1 - NEEDLESS) * need / none)) if none else 1.0
        total = need + none * heavy
        loads += [
            (case, case.turn.load * (heavy if not case.turn.need and case.turn.is_real else 1.0) / math.sqrt(total))
            for case in live
            if case.turn.group == group
        ]
    return fit([case.found for case, _ in loads], [case.turn.need for case, _ in loads], [load for _, load in loads])


def score(model: LinearModel, case: Read) -> float:
    """Return the probability for a case; a rule's is 0 or 1."""
    return model.probability(case.found) if case.ruled is None else float(case.ruled)


def crossed(cases: Sequence[Read], *, leave_out: bool = False) -> list[float]:
    """Return for each case the probability under a model that has not seen its conversation, or its set."""
    parts = [case.turn.group if leave_out else case.turn.fold for case in cases]
    scores = [0.0] * len(cases)
    for part in set(parts):
        model = trained([case for case, of in zip(cases, parts, strict=True) if of != part])
        for index, of in enumerate(parts):
            if of == part:
                scores[index] = score(model, cases[index])
    return scores


def cut(cases: Sequence[Read], scores: Sequence[float]) -> float:
    """Return the threshold at which all sets but one fire on ``RECALL`` of the turns that need a rewrite."""
    cuts = []
    for name in FILES:
        need = sorted(s for case, s in zip(cases, scores, strict=True) if case.turn.group == name and case.turn.need)
        cuts += [need[int((1 - RECALL) * len(need))]] if need else []
    return sorted(cuts)[1]


def everything(without: Iterable[str] = ()) -> list[Read]:
    """Return all that is trained on."""
    turns = [turn for name in FILES if name not in without for turn in labelled(name)]
    return list(read([*turns, *(() if "mtrag" in without else mtrag())]))


def train(without: tuple[str, ...]) -> Path:
    """Train the gate on every set, and write its weights."""
    cases = everything(without)
    names = [name for name in (*FILES, "mtrag") if name not in without]
    model = replace(trained(cases), threshold=cut(cases, crossed(cases)), trained_on=tuple(names))
    meanings = FEATURES | {"language": "added in that language"}
    write(WEIGHTS, model, meanings, "Weights of the gate: the larger the sum, the more a message needs a rewrite.")
    load_weights.cache_clear()
    return WEIGHTS


def main() -> None:
    """Print every table."""
    cases, rows = everything(), []
    by_fold, by_set = crossed(cases), crossed(cases, leave_out=True)
    threshold, left_out = cut(cases, by_fold), cut(cases, by_set)
    for name in FILES:
        for way, scores, limit in (
            ("cross-validated", by_fold, threshold), ("set left out", by_set, threshold),
            ("set left out, its own threshold", by_set, left_out),
        ):  # fmt: skip
            own = [(c.turn, s >= limit) for c, s in zip(cases, scores, strict=True) if _is_of(c, name)]
            rows.append((name, way, *_shares(own)))
        for mode in ("heuristic", "pronoun"):
            trigger = build_trigger(CondensePlusSettings(trigger={"mode": mode}))
            own = [(c.turn, trigger.decide(c.turn.message, c.turn.window).rewrite) for c in cases if _is_of(c, name)]
            rows.append((name, mode, *_shares(own)))
    table(f"One threshold, {threshold:.3f}", ("set", "gate", "fires on need", "skips the rest"), rows)
    frontier([(case.turn, s) for case, s in zip(cases, by_set, strict=True) if case.turn.gains], threshold)
    speed()


def _is_of(case: Read, name: str) -> bool:
    return case.turn.group == name and case.turn.is_real


def _shares(decided: Sequence[tuple[Turn, bool]]) -> tuple[str, str]:
    return (
        figure([float(fires) for turn, fires in decided if turn.need]),
        figure([float(not fires) for turn, fires in decided if not turn.need]),
    )


def frontier(scored: Sequence[tuple[Turn, float]], threshold: float) -> None:
    """Print what is gained over the words as typed, by the share of turns that are rewritten."""
    rows, order = [], sorted(score for _, score in scored)
    for share in (1.0, 0.95, 0.9, 0.86, 0.82, 0.78, 0.7, 0.6, None):
        limit = threshold if share is None else order[int((1 - share) * len(order))]
        calls = fmean(float(score >= limit) for _, score in scored)
        gains = [fmean(turn.gains) if score >= limit else 0.0 for turn, score in scored]
        rows.append((f"{limit:.3f}" + " (shipped)" * (share is None), f"{calls:.2f}", figure(gains, 4)))
    best = fmean(max(0.0, fmean(turn.gains)) for turn, _ in scored)
    title = f"MTRAG, left out of training: nDCG@5 over the words as typed, 7 rewriters; with hindsight {best:+.4f}"
    table(title, ("threshold", "calls", "gain"), rows)


def speed() -> None:
    """Print the time of a decision on a message that was never seen, and on long ones."""
    rows, turns = [], [turn for turn in (*labelled("gecor"), *labelled("cast21"), *labelled("kdconv")) if turn.is_real]
    for language in ("en", "zh"):
        times, spoken = [], [turn for turn in turns if pack_of(turn.message).code == language]
        for number, turn in enumerate(spoken[:: len(spoken) // 300]):
            _trigger().decide("warm", turn.window)
            start = time.process_time_ns()
            _trigger().decide(f"{turn.message} {number}", turn.window)
            times.append((time.process_time_ns() - start) / 1000)
        rows.append((f"first sight, {language}", f"{median(times):.0f} µs"))
    for length in (1_000, 10_000, 100_000, 1_000_000):
        text = ("What is the fee for the second plan? " * (length // 30))[:length]
        start = time.process_time_ns()
        _trigger().decide(text, turns[0].window)
        rows.append((f"{length:,} characters", f"{(time.process_time_ns() - start) / 1e6:.2f} ms"))
    table("CPU time of a decision", ("message", "time"), rows)


if __name__ == "__main__":
    main()
