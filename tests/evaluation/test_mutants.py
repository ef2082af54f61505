"""An engine that is broken on purpose is caught by the shipped cases: each fault lowers a named figure."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from typing import Any

import pytest
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.schema import NodeWithScore

from llama_index_condense_plus.evaluation.cases import Case, Dataset, shipped_dataset
from llama_index_condense_plus.evaluation.engines import EngineContext, condense_plus
from llama_index_condense_plus.evaluation.retriever import LexicalRetriever
from llama_index_condense_plus.evaluation.runner import run_engine
from llama_index_condense_plus.evaluation.scoring import Scores, score
from llama_index_condense_plus.retrieval import fusion
from llama_index_condense_plus.types import RankedList
from tests.fakes import ScriptedLLM

DATASET = shipped_dataset()
RETRIEVER = LexicalRetriever(DATASET.passages)


class FlawedModel:
    """Knows the accepted rewrites, and gives every third one of another conversation, with polite padding."""

    def __init__(self, cases: Sequence[Case]) -> None:
        needing = [case for case in cases if case.needs_rewrite]
        shifted = needing[len(needing) // 2 :] + needing[: len(needing) // 2]
        self.answers: dict[str, list[str]] = {}
        for number, (case, other) in enumerate(zip(needing, shifted, strict=True)):
            right = f"{'请问' if case.lang == 'zh' else 'Could you tell me '}{case.accepted_rewrites[0]}"
            self.answers[case.question] = [other.accepted_rewrites[0] if number % 3 == 0 else right]
        self.longest_first = sorted(self.answers, key=len, reverse=True)

    def __call__(self, messages: Sequence[ChatMessage]) -> str:
        prompt = str(messages[-1].content)
        places = [(prompt.rfind(question), question) for question in self.longest_first]
        _, question = max(places, key=lambda place: (place[0] + len(place[1]) if place[0] >= 0 else -1, len(place[1])))
        return self.answers[question][0]


@functools.cache
def scores_of(mutant: str, *, model: bool = False) -> Scores:
    settings: dict[str, dict[str, Any]] = {
        "none": {},
        "guards off": {"guards": {"profile": "off"}},
        "cleanup off": {"cleanup": {"enabled": False}},
        "gate off": {"trigger": {"mode": "never"}},
        "fusion reversed": {"fusion": {"method": "reversed"}},
    }[mutant]
    llm = ScriptedLLM(rewrite=FlawedModel(DATASET.cases)) if model else None
    context = EngineContext(RETRIEVER, llm, DATASET.aliases, settings)
    return score(mutant, DATASET, run_engine(condense_plus, DATASET, context, workers=2))


def reversed_fusion(lists: Sequence[RankedList], top_k: int) -> list[NodeWithScore]:
    return list(itertools.islice(reversed(fusion.relative_score(lists, 100)), top_k))


def test_mutant_with_guards_off_lowers_rewrite_accuracy() -> None:
    assert scores_of("guards off", model=True).figure("rewrite_accuracy") < (
        scores_of("none", model=True).figure("rewrite_accuracy") - 0.05
    )


def test_mutant_with_cleanup_off_lowers_exact_match() -> None:
    assert scores_of("cleanup off", model=True).figure("exact_match") < (
        scores_of("none", model=True).figure("exact_match") - 0.05
    )


def test_mutant_with_cleanup_off_lowers_accuracy_on_connectives() -> None:
    cases = tuple(case for case in DATASET.cases if case.category == "connective")
    connectives = Dataset("connectives", cases, DATASET.passages)
    said = {
        c.question: f"{'刚才说的' if c.lang == 'zh' else 'As mentioned before, '}{c.accepted_rewrites[0]}"
        for c in cases
    }

    def answer(messages: Sequence[ChatMessage]) -> str:
        return next(text for question, text in said.items() if question in str(messages[-1].content))

    def accuracy(*, enabled: bool) -> float:
        settings = {"cleanup": {"enabled": enabled}}
        context = EngineContext(RETRIEVER, ScriptedLLM(rewrite=answer), DATASET.aliases, settings)
        outcomes = run_engine(condense_plus, connectives, context, workers=1)
        return score("x", connectives, outcomes).figure("rewrite_accuracy")

    assert accuracy(enabled=False) < accuracy(enabled=True)


def test_mutant_with_gate_off_lowers_gate_recall() -> None:
    assert scores_of("gate off").figure("gate_recall") == 0.0
    assert scores_of("none").figure("gate_recall") > 0.5


def test_mutant_with_fusion_reversed_lowers_mrr(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ir_measures")
    monkeypatch.setitem(fusion.FUSION_METHODS, "reversed", reversed_fusion)
    assert scores_of("fusion reversed").figure("mrr@3") < scores_of("none").figure("mrr@3")


def test_unbroken_engine_makes_no_failures() -> None:
    assert scores_of("none", model=True).figure("failed_rate") == 0.0
