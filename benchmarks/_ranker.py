"""Trains the ranker of the carry: which of the things mentioned did a person put into the question?"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks._data import history_of, load
from benchmarks.train import write
from llama_index_condense_plus.languages import pack_of
from llama_index_condense_plus.languages.text import fold
from llama_index_condense_plus.linear import LinearModel
from llama_index_condense_plus.rewriting.carry import read_question
from llama_index_condense_plus.rewriting.entities import DefaultEntityExtractor
from llama_index_condense_plus.rewriting.ranking import WEIGHTS, Candidate, find_candidates
from llama_index_condense_plus.types import WindowMessage

SETS = ("kdconv_zh_dev", "mtrag_dev", "gecor_task", "alexa_cqr", "cast19", "cast20", "cast21", "qrecc")
MOST = 1500
"""Questions taken of a set."""
PRECISION, RECALL = 0.67, 0.5
"""A candidate is what was meant if so much of it was added, and F1 with what was added is so high."""
LENGTH = 0.6
"""A name is the one meant if it shares so much of its length with it, one holding the other."""

THRESHOLD = 0.55
"""Below it nothing is put into the question: on sets it was not trained on, about one in ten is then wrong."""
EXPLAINED = {
    "first_in_message": "1 for what its newest message mentions first, 1/2 for the second, and so on",
    "fits_pronoun": "1 for a person where the question says he, -1 for a thing; the other way round for it",
    "in_question": "the question says it already",
    "is_name": "a name, title or code, not a common noun",
    "is_object": "it was mentioned after of, about, on, for, with or between",
    "looks_like": "written like a person's name where the question says he, after in or at where it says there",
    "names_itself": "the question names something",
    "new_words_alone": "content words that were not said before, where the question points at nothing; 1 for four",
    "opening": "the user's first question names it; less, the longer ago",
    "organisation": "an organisation",
    "person": "a person",
    "place": "a place",
    "points_back": "the question has a pronoun",
    "question_words": "content words of the question, 1 for six or more",
    "rarest_new": "0 for the commonest words, 1 for one that no list holds: the rarest that was not said before",
    "rarest_new_alone": "the same where the question points at nothing",
    "rarity": "the rarest word of the candidate, likewise",
    "recent_unspaced": "its last mention, less with age, where words stand together",
    "salience": "every mention, worth less with age and among other names",
    "salience_unspaced": "the same where words stand together",
    "set_apart": "in title or quotation marks, or introduced (tell me about ...)",
    "several_words": "more than one word",
    "title": "a title",
    "unspaced": "the question's words stand together",
}
"""What each feature says; the weights file repeats it."""


class Case(NamedTuple):
    """A question with its candidates, and the places of those that a person carried over."""

    row: dict[str, Any]
    candidates: list[Candidate]
    meant: list[int]


@cache
def cases(name: str) -> list[Case]:
    """Return the questions of a set that have a history."""
    rows = [row for row in load(name) if row["history"]]
    if len(rows) > MOST:
        rows = random.Random(0).sample(rows, MOST)  # noqa: S311 - a sample, not secrecy
    made = []
    for row in rows:
        question = read_question(row["question"], pack_of(row["question"]))
        messages = [WindowMessage(role, text, text) for role, text in history_of(row) if text]
        found = find_candidates(
            question.pointing, question.references, messages, DefaultEntityExtractor(), question.before
        )
        made.append(Case(row, found, _meant(row, question.clause, found)))
    return made


def _meant(row: dict[str, Any], clause: str, found: Sequence[Candidate]) -> list[int]:
    if "gold_entity_base" in row:
        names = [name for name in row["gold_entity_base"] if fold(name) not in fold(clause)]
        return _named(names, found)
    gold = row.get("gold") or row["machine"]["claude-sonnet-4/full-history"]
    words = pack_of(clause).content_words
    added = set(words(gold)) - set(words(clause))
    scores = []
    for candidate in found:
        own = set(words(candidate.entity.text))
        shared = len(own & added)
        exact = bool(own) and shared >= PRECISION * len(own)
        scores.append(2 * shared / (len(own) + len(added)) if exact else 0.0)
    best = max(scores, default=0.0)
    return [i for i, score in enumerate(scores) if score >= RECALL and score >= best - 0.15]


def _named(names: Iterable[str], found: Sequence[Candidate]) -> list[int]:
    wanted = {fold(name) for name in names}
    keys = [fold(candidate.entity.text) for candidate in found]
    exact = [i for i, key in enumerate(keys) if key in wanted]
    return exact or [i for i, key in enumerate(keys) if any(_alike(key, name) for name in wanted)]


def _alike(first: str, second: str) -> bool:
    short, long = sorted((first, second), key=len)
    return short in long and len(short) >= LENGTH * len(long)


def train_ranker(without: tuple[str, ...] = (), l2: float = 1.0) -> LinearModel:
    """Return the ranker trained on all sets but those named.

    The choice is a conditional logit over the candidates and nothing at all: a probability is a candidate's share.

    Args:
        without: names of the sets that are left out.
        l2: strength of the ridge.
    """
    from scipy.optimize import minimize

    kept = [name for name in SETS if name not in without]
    used = [cases(name) for name in kept]
    names = sorted(EXPLAINED)
    rows, group_of, meant, weights = [], [], [], []
    for group in used:
        weight = (1000 / len(group)) ** 0.5
        for case in group:
            if case.candidates:
                for index, candidate in enumerate(case.candidates):
                    rows.append([candidate.features.get(name, 0.0) for name in names])
                    group_of.append(len(weights))
                    meant.append(float(index in case.meant))
                weights.append(weight)
    x, at, y, w = np.array(rows), np.array(group_of), np.array(meant), np.array(weights)

    def loss(beta: Any) -> tuple[float, Any]:
        odds = np.exp(np.clip(x @ beta[:-1] + beta[-1], -30, 30))
        total = 1 + np.bincount(at, odds, len(w))
        right = np.bincount(at, odds * y, len(w))
        known = np.bincount(at, y, len(w)) > 0
        right = np.where(known, right, 1.0)
        slope = w[at] * (odds / total[at] - np.where(known[at], odds * y / right[at], 0))
        value = -(w * (np.log(right) - np.log(total))).sum() + l2 * (beta[:-1] ** 2).sum() / 2
        return value, np.append(x.T @ slope + l2 * beta[:-1], slope.sum())

    found = minimize(loss, np.zeros(len(names) + 1), jac=True, method="L-BFGS-B", options={"maxiter": 200}).x
    trained = {name: round(float(value), 3) for name, value in zip(names, found, strict=False)}
    return LinearModel(trained, round(float(found[-1]), 3), THRESHOLD, trained_on=tuple(kept))


def train(without: Sequence[str]) -> Path:
    """Train on every set but some, and write the weights."""
    write(WEIGHTS, train_ranker(tuple(without)), EXPLAINED, "Which of the things mentioned a question means.")
    return WEIGHTS
