from __future__ import annotations

import pytest

from llama_index_condense_plus.operations import Predict, Prediction
from llama_index_condense_plus.rewriting.llm_trigger import LLMTrigger
from llama_index_condense_plus.types import HistoryWindow, TriggerDecision, TriggerReason, WindowMessage

WINDOW = HistoryWindow(messages=(WindowMessage("user", "a", "a"),), text="user: a")


class Fixed:
    def __init__(self, *, score: float | None, rewrite: bool = True) -> None:
        self.decision = TriggerDecision(rewrite, TriggerReason.LEARNED, "en", score=score)

    def decide(self, message: str, window: HistoryWindow) -> TriggerDecision:
        return self.decision


def run(trigger: LLMTrigger, answer: str | Exception) -> tuple[TriggerDecision, int]:
    flow = trigger.decide("what about it", WINDOW)
    calls = 0
    try:
        operation = next(flow)
        while True:
            assert isinstance(operation, Predict)
            calls += 1
            operation = flow.throw(answer) if isinstance(answer, Exception) else flow.send(Prediction(answer))
    except StopIteration as stop:
        return stop.value, calls


@pytest.mark.parametrize("score", [None, 0.05, 0.95])
def test_llm_trigger_asks_nothing_where_the_gate_is_sure(score: float | None) -> None:
    assert run(LLMTrigger(Fixed(score=score)), "false") == (Fixed(score=score).decision, 0)


@pytest.mark.parametrize(
    ("answer", "rewrite"), [('{"needs_context": false}', False), ('{"needs_context": true}', True), ("No.", False)]
)
def test_llm_trigger_follows_the_model_where_undecided(answer: str, rewrite: bool) -> None:
    decision, calls = run(LLMTrigger(Fixed(score=0.5)), answer)
    assert (decision.rewrite, calls) == (rewrite, 1)


@pytest.mark.parametrize("answer", ["", "maybe", TimeoutError("late")])
def test_llm_trigger_keeps_the_gates_word_when_the_model_gives_none(answer: str | Exception) -> None:
    decision, _ = run(LLMTrigger(Fixed(score=0.5, rewrite=False)), answer)
    assert not decision.rewrite
