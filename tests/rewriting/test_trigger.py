from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llama_index_condense_plus.lexicons.base import Lexicon
from llama_index_condense_plus.protocols import Trigger
from llama_index_condense_plus.rewriting.small_talk import SmallTalk
from llama_index_condense_plus.rewriting.trigger import build_trigger
from llama_index_condense_plus.settings import CondensePlusSettings
from llama_index_condense_plus.types import HistoryWindow, TriggerDecision, TriggerReason, WindowMessage
from tests.rewriting.trigger_traps import HISTORIES, NEEDS, NEEDS_NONE

MODES = ("pronoun", "heuristic", "learned", "always", "never")
ANY_TEXT = st.text(st.characters(), max_size=200) | st.text("它那第二种 it the ?？，,“《\ud800\u200b\x00", max_size=60)


def window(*messages: str) -> HistoryWindow:
    roles = ("user", "assistant")
    return HistoryWindow(messages=tuple(WindowMessage(roles[i % 2], text, text) for i, text in enumerate(messages)))


def build(**trigger: object) -> Trigger:
    return build_trigger(CondensePlusSettings(trigger=trigger))


DEFAULT = build()


@pytest.mark.parametrize(("name", "message"), [(name, m) for name, found in NEEDS.items() for m in found])
def test_trigger_fires_on_a_follow_up(name: str, message: str) -> None:
    decision = DEFAULT.decide(message, window(*HISTORIES[name]))
    assert decision.rewrite, decision


@pytest.mark.parametrize(("name", "message"), [(name, m) for name, found in NEEDS_NONE.items() for m in found])
def test_trigger_skips_what_stands_alone(name: str, message: str) -> None:
    decision = DEFAULT.decide(message, window(*HISTORIES[name]))
    assert not decision.rewrite, decision


def test_traps_are_many() -> None:
    assert sum(map(len, NEEDS.values())) + sum(map(len, NEEDS_NONE.values())) >= 150


@pytest.mark.parametrize("mode", MODES)
@given(message=ANY_TEXT, said=ANY_TEXT)
@settings(max_examples=60, deadline=None)
def test_trigger_never_raises(mode: str, message: str, said: str) -> None:
    decision = build(mode=mode).decide(message, window(said, said))
    assert isinstance(decision, TriggerDecision)
    assert decision.score is None or 0.0 <= decision.score <= 1.0
    assert all(0 <= cue.start <= len(message) for cue in decision.cues)


@given(message=ANY_TEXT)
@settings(max_examples=60, deadline=None)
def test_trigger_never_fires_without_history(message: str) -> None:
    assert not DEFAULT.decide(message, HistoryWindow()).rewrite


@pytest.mark.parametrize("message", ["", "  ", "\n\t", "\u3000"])
def test_blank_message_is_blank(message: str) -> None:
    assert DEFAULT.decide(message, window("a", "b")).reason is TriggerReason.BLANK


@pytest.mark.parametrize(
    ("history", "message", "reason"),
    [
        ("phone", "它多少钱？", TriggerReason.PRONOUN),
        ("product", "Does it support duplex?", TriggerReason.PRONOUN),
        ("phone", "你刚才提到的尊享版有什么不同？", TriggerReason.BACK_REFERENCE),
        ("phone", "第二种多少钱？", TriggerReason.ORDINAL),
        ("month", "五月", TriggerReason.SLOT_FILLING),
        ("which", "Yes, B1", TriggerReason.SLOT_FILLING),
        ("plan", "升级套餐多少钱", TriggerReason.CONTINUATION),
        ("product", "more expensive?", TriggerReason.COMPARISON),
        ("product", "And the price?", TriggerReason.OPENER),
        ("phone", "谢谢", TriggerReason.SMALL_TALK),
        ("person", "王家卫的《花样年华》是哪年上映的？", TriggerReason.NEW_TOPIC),
        ("history", "Did Marie Curie win the Nobel Prize in Chemistry?", TriggerReason.SELF_CONTAINED),
    ],
)
def test_decision_names_its_reason(history: str, message: str, reason: TriggerReason) -> None:
    assert DEFAULT.decide(message, window(*HISTORIES[history])).reason is reason


def test_cues_say_which_words_fired() -> None:
    decision = DEFAULT.decide("嗯，听起来不错。它是哪年上市的？", window(*HISTORIES["phone"]))
    pronoun = next(cue for cue in decision.cues if cue.name == "pronoun")
    assert (pronoun.text, pronoun.start) == ("它", 8)


@pytest.mark.parametrize(
    "message", ["Сколько это стоит?", "値段はいくらですか", "¿Cuánto cuesta el billete?", "Wie viel kostet das?"]
)
def test_language_without_ellipsis_model_is_rewritten(message: str) -> None:
    decision = DEFAULT.decide(message, window("a", "b"))
    assert decision.rewrite
    assert decision.reason is TriggerReason.UNKNOWN_LANGUAGE


@pytest.mark.parametrize("message", ["Danke!", "gracias", "Merci beaucoup", "ありがとう", "감사합니다"])
def test_small_talk_of_other_languages_is_skipped(message: str) -> None:
    assert DEFAULT.decide(message, window("a", "b")).reason in (TriggerReason.SMALL_TALK, TriggerReason.SELF_CONTAINED)


def test_yes_answers_a_question_and_is_small_talk_otherwise() -> None:
    assert DEFAULT.decide("yes", window("hi", "Shall I book it?")).reason is TriggerReason.SLOT_FILLING
    assert DEFAULT.decide("yes", window("hi", "It is booked.")).reason is TriggerReason.SMALL_TALK


def test_always_and_never_keep_to_their_word() -> None:
    said = window(*HISTORIES["phone"])
    assert build(mode="always").decide("GTE-5000 的保修期呢", said).reason is TriggerReason.FORCED
    assert not build(mode="never").decide("它多少钱？", said).rewrite


def test_pronoun_mode_goes_by_the_list_alone() -> None:
    gate = build(mode="pronoun")
    assert gate.decide("它多少钱？", window(*HISTORIES["phone"])).rewrite
    assert not gate.decide("多少钱？", window(*HISTORIES["phone"])).rewrite


def test_recall_bias_moves_the_threshold_both_ways() -> None:
    said = window(*HISTORIES["phone"])
    assert build(recall_bias=1.0).decide("GTE-5000 的保修期呢", said).rewrite
    assert not build(recall_bias=-1.0).decide("怎么申请退货？", said).rewrite


def test_follow_up_hints_fire() -> None:
    said = window(*HISTORIES["phone"])
    question = "珠穆朗玛峰有多高？"
    assert not DEFAULT.decide(question, said).rewrite
    decision = build(follow_up_hints=["有多高"]).decide(question, said)
    assert decision.rewrite
    assert decision.cues[0].name == "follow_up_hint"


def test_words_of_the_user_change_the_lexicon() -> None:
    said = window(*HISTORIES["phone"])
    own = build_trigger(CondensePlusSettings(languages={"zh": {"pronouns_add": ["本品"], "small_talk_add": ["得嘞"]}}))
    assert own.decide("《指南》里本品怎么用", window("a", "b")).cues
    assert own.decide("得嘞", said).reason is TriggerReason.SMALL_TALK
    assert DEFAULT.decide("得嘞", said).reason is not TriggerReason.SMALL_TALK


def test_long_message_is_read_at_both_ends() -> None:
    assert DEFAULT.decide("x" * 1_000_000, window("a", "b")) is not None


def test_small_talk_takes_a_lexicon_with_thanks_and_no_remarks() -> None:
    talk = SmallTalk(Lexicon(code="xx", small_talk=frozenset({"ahoj"}), thanks=r"dik\b.*"))
    assert talk.of("ahoj", asked=False) == (True, False)
    assert talk.of("ahoj, dik moc", asked=False) == (True, False)
    assert talk.of("dik, and now?", asked=False) is None
    assert talk.of("dik, kde je hrad", asked=False) is None


def test_small_talk_of_a_lexicon_without_thanks_is_its_phrases() -> None:
    talk = SmallTalk(Lexicon(code="xx", small_talk=frozenset({"ahoj", " "})))
    assert talk.of("Ahoj!", asked=True) == (True, False)
    assert talk.of("ahoj, thanks", asked=False) is None
