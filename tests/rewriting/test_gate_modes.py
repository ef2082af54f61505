"""What the gate says before it reads a message: no history, a fixed answer, the user's hints."""

from __future__ import annotations

import pytest

from llama_index_condense_plus import CondensePlusSettings
from llama_index_condense_plus.rewriting.history import build_window
from llama_index_condense_plus.rewriting.trigger import build_trigger
from llama_index_condense_plus.types import Cue, HistoryWindow, TriggerDecision, TriggerReason

SAID = build_window([("user", "GTE-3000多少钱？"), ("assistant", "2999元。")], CondensePlusSettings().history)


def decide(message: str, window: HistoryWindow = SAID, **trigger: object) -> TriggerDecision:
    return build_trigger(CondensePlusSettings(trigger=trigger)).decide(message, window)


@pytest.mark.parametrize(("mode", "rewrite", "reason"), [("always", True, "forced"), ("never", False, "disabled")])
def test_fixed_gate_answers_for_whatever_has_words_and_a_history(mode, rewrite, reason):
    assert decide("多少钱", mode=mode) == TriggerDecision(rewrite, TriggerReason(reason), "zh")
    assert decide("price", HistoryWindow(), mode=mode) == TriggerDecision(False, TriggerReason.NO_HISTORY, "en")
    assert decide(" ", mode=mode).reason is TriggerReason.BLANK


def test_gate_without_history_or_words_decides_nothing():
    assert decide("price", HistoryWindow()) == TriggerDecision(False, TriggerReason.NO_HISTORY, "en")
    assert decide(" \n").reason is TriggerReason.BLANK


def test_hint_of_the_users_is_a_cue_where_it_first_stands():
    decision = decide("话说 GTE-4000 话说多少钱", follow_up_hints=["无关", " ", "话说"])
    assert decision == TriggerDecision(True, TriggerReason.OPENER, "zh", (Cue("follow_up_hint", "话说", 0),))
    assert decide("GTE-4000 的价格是多少", follow_up_hints=["话说"]).reason is not TriggerReason.OPENER


@pytest.mark.parametrize(("message", "reason"), [("谢谢", "small_talk"), ("好的", "small_talk")])
def test_small_talk_is_its_own_cue(message, reason):
    decision = decide(message)
    assert decision == TriggerDecision(False, TriggerReason(reason), "zh", (Cue(reason, message, 0),))


def test_an_answer_to_the_assistants_question_fills_its_slot():
    asked = build_window([("user", "查社保"), ("assistant", "要查今年的吗？")], CondensePlusSettings().history)
    decision = decide("是的", asked)
    assert decision == TriggerDecision(True, TriggerReason.SLOT_FILLING, "zh", (Cue("slot_filling", "是的", 0),))
