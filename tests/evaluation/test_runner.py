from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from llama_index.core.llms import MockLLM

from llama_index_condense_plus.evaluation.answers import Judge
from llama_index_condense_plus.evaluation.calls import counting_enabled, tallied
from llama_index_condense_plus.evaluation.cases import Dataset
from llama_index_condense_plus.evaluation.engines import EngineContext, as_typed
from llama_index_condense_plus.evaluation.outcome import Outcome
from llama_index_condense_plus.evaluation.retriever import LexicalRetriever
from llama_index_condense_plus.evaluation.runner import run_engine
from tests.evaluation.data import DATASET, PASSAGES, case, outcome
from tests.fakes import ScriptedLLM

CONTEXT = EngineContext(LexicalRetriever(PASSAGES))


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


def test_run_engine_gives_outcomes_in_the_data_set_s_order() -> None:
    cases = tuple(case(id=f"c{i}", question=f"And the price of number {i}?") for i in range(12))
    done: list[int] = []
    found = run_engine(as_typed, Dataset("x", cases, PASSAGES), CONTEXT, workers=4, progress=done.append)
    assert [o.case_id for o in found] == [c.id for c in cases]
    assert [o.query for o in found] == [c.question for c in cases]
    assert sum(done) == 12
    assert all(o.ideal and o.ideal[0] == "price" for o in found)


def test_run_engine_keeps_a_case_that_failed() -> None:
    found = run_engine(Counting("And"), DATASET, CONTEXT, workers=1)
    assert found[0].error == "ConnectionError: the store is away"
    assert (found[0].query, found[1].error) == ("", "")


def test_run_engine_goes_on_where_it_was_interrupted(tmp_path: Path) -> None:
    rows = tmp_path / "rows" / "x.jsonl"
    first = run_engine(Counting(), DATASET, CONTEXT, rows=rows, key="k")
    lines = rows.read_text("utf-8").splitlines()
    rows.write_text("\n".join(lines[:2]) + '\n{"case_id": "c2", "que', "utf-8")
    factory = Counting()
    again = run_engine(factory, DATASET, CONTEXT, rows=rows, key="k")
    assert len(factory.asked) == 1
    assert [o.query for o in again] == [o.query for o in first]
    assert len(rows.read_text("utf-8").splitlines()) == 3


def test_run_engine_runs_failed_cases_again(tmp_path: Path) -> None:
    rows = tmp_path / "x.jsonl"
    run_engine(Counting("And"), DATASET, CONTEXT, rows=rows)
    factory = Counting()
    assert not any(o.error for o in run_engine(factory, DATASET, CONTEXT, rows=rows))
    assert factory.asked == ["And the price?"]


@pytest.mark.parametrize("change", ["key", "data", "garbage"])
def test_run_engine_drops_rows_of_another_run(tmp_path: Path, change: str) -> None:
    rows = tmp_path / "x.jsonl"
    run_engine(Counting(), DATASET, CONTEXT, rows=rows, key="k")
    if change == "garbage":
        rows.write_bytes(b"\xff\xfe" + b"garbage\n" * 3)
    dataset = Dataset("x", (DATASET.cases[0],), PASSAGES) if change == "data" else DATASET
    factory = Counting()
    run_engine(factory, dataset, CONTEXT, rows=rows, key="other" if change == "key" else "k")
    assert len(factory.asked) == len(dataset.cases)


def test_run_engine_writes_nothing_if_the_engine_cannot_be_made(tmp_path: Path) -> None:
    def broken(_: EngineContext) -> Any:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        run_engine(broken, DATASET, CONTEXT, rows=tmp_path / "x.jsonl")
    assert list(tmp_path.iterdir()) == []


def test_outcome_survives_json() -> None:
    assert Outcome.from_dict(json.loads(json.dumps(outcome().to_dict()))) == outcome()


def test_outcome_refuses_unknown_fields() -> None:
    with pytest.raises(TypeError, match="unknown field x"):
        Outcome.from_dict({"case_id": "a", "x": 1})


def test_tallied_counts_the_calls_of_this_context() -> None:
    with counting_enabled(), tallied() as outer:
        MockLLM().complete("hello")
        with tallied() as inner:
            MockLLM().complete("hello")
            MockLLM().complete("hello")
    MockLLM().complete("hello")
    assert (outer.calls, inner.calls) == (1, 2)


def test_tally_adds_usage_where_the_server_said() -> None:
    with tallied() as tally:
        tally.add({"usage": {"prompt_tokens": 10, "completion_tokens": 3}})
        tally.add(None)
        tally.add({"usage": {"prompt_tokens": 5, "completion_tokens": 1}})
    assert (tally.calls, tally.prompt_tokens, tally.completion_tokens) == (3, 15, 4)


def test_judge_answers_and_judges_with_the_evaluator_of_llamaindex() -> None:
    judge = Judge(ScriptedLLM(answer="YES, 399 dollars"), {passage.id: passage for passage in PASSAGES})
    judged = judge.judged(case(), outcome())
    assert (judged.answer, judged.faithful) == ("YES, 399 dollars", True)
    assert judge.judged(case(gold=()), outcome()).faithful is None
    assert Judge(ScriptedLLM(answer="NO"), judge.passages).judged(case(), outcome()).faithful is False
