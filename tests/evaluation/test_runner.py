from __future__ import annotations

from statistics import fmean
from typing import Any

import pytest
from llama_index.core.llms import MockLLM

from llama_index_condense_plus.errors import ConfigurationError
from llama_index_condense_plus.evaluation.cases import Dataset
from llama_index_condense_plus.evaluation.engines import ENGINES, EngineContext, Observed, as_typed, load_factory
from llama_index_condense_plus.evaluation.retriever import LexicalRetriever
from llama_index_condense_plus.evaluation.runner import run_engine
from llama_index_condense_plus.evaluation.scoring import Stage, score
from tests.evaluation.data import DATASET, PASSAGES, case, complete, outcome
from tests.fakes import ScriptedLLM

REWRITE = "What is the price of the GTE-3000?"


def context(llm: Any = None, **settings: Any) -> EngineContext:
    return EngineContext(LexicalRetriever(PASSAGES), llm, {}, settings)


class Counting:
    """A factory whose engines note the questions they are asked, and fail on some."""

    def __init__(self, fails_on: str = "nothing") -> None:
        self.asked: list[str] = []
        self.fails_on = fails_on

    def __call__(self, context: EngineContext) -> Any:
        engine = as_typed(context)
        explain = engine.explain

        def noted(message: str, chat_history: Any = None) -> Any:
            self.asked.append(message)
            if self.fails_on in message:
                raise ConnectionError("the store is away")
            return explain(message, chat_history)

        engine.explain = noted  # type: ignore[method-assign]
        return engine


@pytest.mark.parametrize("name", sorted(ENGINES))
def test_every_engine_runs_a_follow_up(name: str) -> None:
    found = Observed(load_factory(name), context(ScriptedLLM(rewrite=REWRITE))).run(case())
    assert found.case_id == "c1"
    assert found.query == ("And the price?" if name == "as-typed" else REWRITE)
    assert found.nodes[0] in {"price", "other"}


@pytest.mark.parametrize("name", ["stock", "nothing", "json:nothing", "json:__name__"])
def test_engines_that_cannot_be_made_are_refused(name: str) -> None:
    with pytest.raises(ConfigurationError, match="--engine"):
        load_factory(name)(context())


def test_plus_takes_settings_and_needs_no_model() -> None:
    assert Observed(load_factory("plus"), context()).run(case()).rewriter != "llm"
    assert not Observed(load_factory("plus"), context(trigger={"mode": "never"})).run(case()).rewrite_asked


def test_outcomes_come_in_the_data_set_s_order() -> None:
    cases = tuple(case(id=f"c{i}", question=f"And the price of number {i}?") for i in range(12))
    done: list[None] = []
    found = run_engine(
        as_typed, Dataset("x", cases, PASSAGES), context(), workers=4, progress=lambda: done.append(None)
    )
    assert [o.case_id for o in found] == [c.id for c in cases]
    assert [o.query for o in found] == [c.question for c in cases]
    assert len(done) == 12


def test_a_case_that_fails_stays_in_and_counts_zero() -> None:
    found = run_engine(Counting(fails_on="GTE-2000"), DATASET, context())
    assert [bool(o.error) for o in found] == [False, True]
    assert "the store is away" in found[1].error
    assert score("x", DATASET, found).values["hit@3"] == {"c1": 1.0, "c2": 0.0}


def test_calls_are_counted_for_the_case_that_made_them() -> None:
    found = run_engine(load_factory("stock"), DATASET, context(MockLLM()), workers=2)
    assert [o.llm_calls for o in found] == [1, 1]
    first = run_engine(load_factory("stock"), Dataset("x", (case(history=()),), PASSAGES), context(MockLLM()))
    assert first[0].llm_calls == 0


@pytest.mark.parametrize(
    ("changes", "stage"),
    [
        ({}, Stage.RIGHT),
        ({"error": "X: y", "query": ""}, Stage.ENGINE_FAILED),
        ({"query": "And the price?", "rewrite_asked": False}, Stage.NOT_ASKED),
        ({"query": "And the price?", "attempts": ((REWRITE, "refused"),)}, Stage.REFUSED),
        ({"query": "price of the GTE-2000"}, Stage.REWRITE_WRONG),
        ({"nodes": ("other",), "lists": ((REWRITE, ("other",)),)}, Stage.NOT_FOUND),
        ({"nodes": ("other",)}, Stage.LOST),
    ],
)
def test_each_failure_has_one_stage(changes: dict[str, Any], stage: Stage) -> None:
    scores = score("x", Dataset("d", (case(),), PASSAGES), [outcome(**changes)])
    assert scores.stages == {"c1": stage}


def test_figures_are_means_over_the_cases_they_apply_to() -> None:
    asked = outcome(case_id="c2", query=complete().question, nodes=("price", "other"))
    scores = score("x", DATASET, [outcome(), asked])
    means = {name: fmean(values.values()) for name, values in scores.values.items()}
    assert means["rewrite_accuracy"] == 1.0
    assert (means["gate_recall"], means["gate_skip"]) == (1.0, 0.0)
    assert (means["hit@1"], means["hit@3"], means["mrr@3"]) == (0.5, 1.0, 0.75)


def test_what_was_not_measured_is_no_figure() -> None:
    unlabelled = case(accepted_rewrites=(), must_contain=(), must_not_contain=(), needs_rewrite=None, gold=())
    scores = score("x", Dataset("d", (unlabelled,)), [outcome(lists=(), nodes=())])
    assert set(scores.values) == {"failed_rate", "dangling_rate"}
    off = score("x", DATASET, [outcome(reason="disabled"), outcome(case_id="c2", reason="disabled")])
    assert not {"gate_recall", "gate_skip", "llm_calls"} & set(off.values)
