"""Searching plans on recorded rewrites: what the retrieval benchmarks share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from _data import history_of, load, ndcg_at, recall_at, recorded_kdconv
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.llms.mock import MockLLM
from llama_index.core.schema import NodeWithScore

from llama_index_condense_plus.retrieval.fusion import depth, fuse
from llama_index_condense_plus.retrieval.plan import DefaultQueryPlanner, same_query
from llama_index_condense_plus.retrieval.variants import expand
from llama_index_condense_plus.rewriting.history import build_window
from llama_index_condense_plus.settings import CondensePlusSettings
from llama_index_condense_plus.turn.conversation import TurnOptions
from llama_index_condense_plus.turn.drivers import drive
from llama_index_condense_plus.turn.pipeline import Components, build_pipeline
from llama_index_condense_plus.turn.query import Finder
from llama_index_condense_plus.types import (
    HistoryWindow,
    PlannedQuery,
    QueryPlan,
    QueryRole,
    RankedList,
    RewriteResult,
    RewriteStatus,
)

Search = Callable[[str, str, int], Sequence[NodeWithScore]]
"""Searches words in a domain for so many nodes."""
TOP_K = {"kdconv": 5, "mtrag": 10}
"""``similarity_top_k`` of the retriever: R@5 needs five, nDCG@5 is customarily taken from ten."""


class Question(NamedTuple):
    """A question of a set with what is known about it."""

    row: dict[str, Any]
    window: HistoryWindow

    @property
    def text(self) -> str:
        """The user's words."""
        return str(self.row["question"])


@cache
def kdconv(*, need: bool) -> list[Question]:
    """Return the KdConv questions with a recorded rewrite that cannot, or can, be searched alone."""
    return [_question(row) for row in recorded_kdconv() if row["need"] is need]


@cache
def mtrag() -> list[Question]:
    """Return the MTRAG questions with history: the others are never rewritten."""
    return [_question(row) for row in load("mtrag_dev") if row["history"]]


def _question(row: dict[str, Any]) -> Question:
    return Question(row, build_window(history_of(row), CondensePlusSettings().history))


def alone(text: str) -> QueryPlan:
    """Return a plan of one query."""
    return QueryPlan((PlannedQuery(text, QueryRole.ORIGINAL),))


def both(rewrite: str, original: str, weight: float) -> QueryPlan:
    """Return the rewrite with the original at a fixed weight."""
    if same_query(rewrite, original):
        return alone(original)
    return QueryPlan(
        (PlannedQuery(rewrite, QueryRole.REWRITTEN), PlannedQuery(original, QueryRole.ORIGINAL, weight)),
    )


def planned(question: Question, rewrite: str, settings: CondensePlusSettings) -> QueryPlan:
    """Return what the planner and the variants make of a rewrite, gate and guards apart."""
    is_same = same_query(rewrite, question.text)
    status = RewriteStatus.UNCHANGED if is_same else RewriteStatus.REWRITTEN
    result = RewriteResult(question.text, rewrite, status, "recorded")
    plan = DefaultQueryPlanner(settings.retrieval).plan(result, question.window)
    return drive(expand(plan, result, question.window, settings))


class Engine:
    """The first half of the engine's turn, its model replaced by recorded rewrites."""

    def __init__(self, **overrides: Any) -> None:
        settings = CondensePlusSettings(**{"rewrite": {"chain": ["recorded", "rules", "original"]}, **overrides})
        self._recorded = ""
        components = Components(rewriters={"recorded": lambda _: self._recorded})
        self._pipeline = build_pipeline(settings, components, MockLLM)

    def plan(self, question: Question, rewrite: str) -> QueryPlan:
        """Return the plan of a turn in which the model wrote ``rewrite``."""
        self._recorded = rewrite
        history = [ChatMessage(content=text, role=role) for role, text in history_of(question.row)]
        finder = Finder(self._pipeline, "benchmark", TurnOptions(), None, keep=False)
        return drive(finder.run(question.text, history)).plan


def found(plan: QueryPlan, search: Search, domain: str, top_k: int, settings: CondensePlusSettings) -> list[str]:
    """Return the ids that a plan finds, best first."""
    wanted = depth(top_k, len(plan.queries))
    lists = [RankedList(query, tuple(search(query.text, domain, wanted))) for query in plan.queries]
    return [node.node_id for node in fuse(lists, settings.fusion, top_k)]


def scores(
    questions: Sequence[Question],
    plan: Callable[[Question], QueryPlan],
    search: Search,
    settings: CondensePlusSettings | None = None,
    top_k: int | None = None,
) -> list[float]:
    """Return each question's score: R@5 in Chinese, nDCG@5 in English."""
    settings = settings or CondensePlusSettings()
    measured = []
    for question in questions:
        row = question.row
        is_chinese = row["lang"] == "zh"
        size = top_k or TOP_K["kdconv" if is_chinese else "mtrag"]
        ids = found(plan(question), search, row["domain"], size, settings)
        measured.append((recall_at if is_chinese else ndcg_at)(ids, row["gold_docs"], 5))
    return measured


def rewriters() -> list[str]:
    """Return the names of MTRAG's recorded rewriters."""
    machine: Mapping[str, str] = mtrag()[0].row["machine"]
    return list(machine)
