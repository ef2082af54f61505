from __future__ import annotations

import pytest
from llama_index.core.llms import MockLLM

from llama_index_condense_plus.operations import Predict, Prediction
from llama_index_condense_plus.rewriting.llm_trigger import INSTRUCTION, LLMTrigger, NeedsContext
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


@pytest.mark.parametrize(("score", "calls"), [(0.3, 1), (0.8, 1), (0.29, 0), (0.81, 0)])
def test_llm_trigger_asks_about_the_whole_undecided_range(score: float, calls: int) -> None:
    assert run(LLMTrigger(Fixed(score=score)), "false")[1] == calls


def test_llm_trigger_asks_about_the_range_it_is_given() -> None:
    trigger = LLMTrigger(Fixed(score=0.9), undecided=(0.9, 1.0))
    assert run(trigger, "false")[1] == 1
    assert run(LLMTrigger(Fixed(score=0.5), undecided=(0.9, 1.0)), "false")[1] == 0


@pytest.mark.parametrize("timeout_s", [None, 9.0])
def test_llm_trigger_asks_one_short_structured_question(timeout_s: float | None) -> None:
    model = MockLLM()
    trigger = LLMTrigger(Fixed(score=0.5), model, **({} if timeout_s is None else {"timeout_s": timeout_s}))
    asked = next(trigger.decide("what about it", WINDOW))
    assert [(m.role.value, m.content) for m in asked.messages] == [
        ("system", INSTRUCTION),
        ("user", "Conversation:\nuser: a\n\nLast message:\nwhat about it"),
    ]
    assert asked.options == {"temperature": 0.0, "max_tokens": 16}
    assert (asked.output_cls, asked.timeout_s, asked.llm) == (NeedsContext, timeout_s or 3.0, model)


@pytest.mark.parametrize(
    ("before", "answer", "after"),
    [
        (False, "Yes", TriggerReason.LEARNED),
        (False, "TRUE", TriggerReason.LEARNED),
        (True, "no", TriggerReason.SELF_CONTAINED),
        (True, "yes", TriggerReason.ELLIPSIS),  # the gate's reason stands where the model agrees
        (False, "false", TriggerReason.ELLIPSIS),
        (True, "nothing", TriggerReason.ELLIPSIS),  # not a "no"
    ],
)
def test_llm_trigger_gives_its_own_reason_only_for_what_it_changed(
    before: bool, answer: str, after: TriggerReason
) -> None:
    inner = Fixed(score=0.5)
    inner.decision = TriggerDecision(before, TriggerReason.ELLIPSIS, "en", score=0.5)
    decision, _ = run(LLMTrigger(inner), answer)
    assert (decision.reason, decision.score, decision.language) == (after, 0.5, "en")
