"""What the gate takes for a follow-up, by kind; nothing here says by how much."""

from __future__ import annotations

from pathlib import Path

import pytest

from llama_index_condense_plus.errors import ConfigurationError
from llama_index_condense_plus.gate.trigger import build_trigger
from llama_index_condense_plus.settings import CondensePlusSettings
from llama_index_condense_plus.types import HistoryWindow, TriggerDecision, TriggerReason, WindowMessage

WARRANTY = ("What is the warranty of the Kestrel X5?", "The Kestrel X5 has a warranty of two years.")
OFFER = ("How do I reach Graz?", "By train from Vienna. Would you like details about hiking near Graz?")
PLANS = ("Which plans do you have?", "There are two:\n1. Basic plan\n2. Family plan")
WARRANTY_ZH = ("红隼X5的保修期是多久？", "红隼X5的保修期是两年。")
OFFER_ZH = ("怎么退货？", "七天内可以退货。需要我介绍退货政策吗？")
PLANS_ZH = ("有哪些方案？", "有两个：\n1. 基础方案\n2. 家庭方案")
JUDGING = ("heuristic", "learned")


def window(messages: tuple[str, ...]) -> HistoryWindow:
    roles = ("user", "assistant")
    return HistoryWindow(
        messages=tuple(WindowMessage(roles[i % 2], text, text) for i, text in enumerate(messages)),
    )


def decide(message: str, history: tuple[str, ...], mode: str = "learned", **trigger: object) -> TriggerDecision:
    settings = CondensePlusSettings(trigger={"mode": mode, **trigger})
    return build_trigger(settings).decide(message, window(history))


@pytest.mark.parametrize("mode", JUDGING)
@pytest.mark.parametrize(
    ("message", "history"),
    [
        pytest.param("How long does it last?", WARRANTY, id="pronoun-en"),
        pytest.param("它的电池呢？", WARRANTY_ZH, id="pronoun-zh"),
        pytest.param("Thanks! And how much does it cost?", WARRANTY, id="remark-en"),
        pytest.param("知道了，谢谢。它多少钱？", WARRANTY_ZH, id="remark-zh"),
        pytest.param("And the price?", WARRANTY, id="fragment-en"),
        pytest.param("那价格呢？", WARRANTY_ZH, id="fragment-zh"),
        pytest.param("那审批呢", WARRANTY_ZH, id="fragment-zh-unmarked"),
        pytest.param("The second one, please", PLANS, id="ordinal-en"),
        pytest.param("第二个怎么样？", PLANS_ZH, id="ordinal-zh"),
        pytest.param("option 2", PLANS, id="pick-en"),
        pytest.param("选2", PLANS_ZH, id="pick-zh"),
        pytest.param("2", PLANS, id="pick-number"),
        pytest.param("Sure", OFFER, id="acceptance-en"),
        pytest.param("yes please", OFFER, id="acceptance-en-polite"),
        pytest.param("ok", OFFER, id="acceptance-ok"),
        pytest.param("好的", OFFER_ZH, id="acceptance-zh"),
        pytest.param("要", OFFER_ZH, id="acceptance-zh-short"),
        pytest.param("可以", OFFER_ZH, id="acceptance-zh-may"),
        pytest.param("No, I mean just for new members", WARRANTY, id="correction-en"),
        pytest.param("不是，我是说电池", WARRANTY_ZH, id="correction-zh"),
        pytest.param("What did you mention about it?", WARRANTY, id="back-reference-en"),
        pytest.param("你刚才提到的保修怎么申请？", WARRANTY_ZH, id="back-reference-zh"),
    ],
)
def test_fires_on_follow_ups(message: str, history: tuple[str, ...], mode: str) -> None:
    decision = decide(message, history, mode)
    assert decision.rewrite, decision


@pytest.mark.parametrize("mode", JUDGING)
@pytest.mark.parametrize(
    ("message", "history"),
    [
        pytest.param("How is the Parental Leave Act applied in Norway?", WARRANTY, id="complete-en"),
        pytest.param("挪威的《育儿假法》是怎么规定的？", WARRANTY_ZH, id="complete-zh"),
        pytest.param("Is it possible to visit Versailles and Fontainebleau by bicycle?", WARRANTY, id="expletive-it"),
        pytest.param("What did I ask before?", WARRANTY, id="talk-en"),
        pytest.param("我之前提过哪些问题？", WARRANTY_ZH, id="talk-zh"),
        pytest.param("shorter, please", WARRANTY, id="talk-form-en"),
        pytest.param("用英文再说一遍", WARRANTY_ZH, id="talk-form-zh"),
    ],
)
def test_skips_what_is_complete(message: str, history: tuple[str, ...], mode: str) -> None:
    decision = decide(message, history, mode)
    assert not decision.rewrite, decision
    assert decision.reason in (TriggerReason.SELF_CONTAINED, TriggerReason.NEW_TOPIC)


@pytest.mark.parametrize("mode", ["pronoun", *JUDGING])
@pytest.mark.parametrize("history", [(), WARRANTY, WARRANTY_ZH], ids=["first", "en", "zh"])
@pytest.mark.parametrize(
    "message", ["👍", "???", "。。。", "haha", "great job!", "牛", "谢谢", "Thank you so much!", "你好"]
)
def test_small_talk_is_never_rewritten(message: str, history: tuple[str, ...], mode: str) -> None:
    decision = decide(message, history, mode)
    assert (decision.rewrite, decision.reason) == (False, TriggerReason.SMALL_TALK)


@pytest.mark.parametrize(
    ("message", "history"), [("ok", WARRANTY), ("Sure", WARRANTY), ("好的", WARRANTY_ZH), ("可以", WARRANTY_ZH)]
)
def test_acceptance_without_an_offer_is_small_talk(message: str, history: tuple[str, ...]) -> None:
    assert decide(message, history).reason is TriggerReason.SMALL_TALK


@pytest.mark.parametrize(
    ("message", "language"), [("それの保証は？", "ja"), ("그건 얼마예요?", "ko"), ("Сколько это стоит?", "und")]
)
def test_a_language_that_is_not_modelled_fires(message: str, language: str) -> None:
    decision = decide(message, WARRANTY)
    assert (decision.rewrite, decision.reason) == (True, TriggerReason.UNKNOWN_LANGUAGE)
    assert decision.language == language


@pytest.mark.parametrize("message", ["那审批呢", "那价格呢？", "它多少钱？", "And what does it cost?"])
def test_pronoun_mode_knows_the_words_that_point(message: str) -> None:
    decision = decide(message, WARRANTY_ZH, "pronoun")
    assert (decision.rewrite, decision.reason) == (True, TriggerReason.PRONOUN)


@pytest.mark.parametrize("message", ["其实我想了解退货政策", "其他国家的退货政策是什么？", "What about the fee?"])
def test_pronoun_mode_is_not_fooled_by_parts_of_words(message: str) -> None:
    assert not any(cue.name == "pronoun" for cue in decide(message, WARRANTY_ZH, "pronoun").cues)


@pytest.mark.parametrize("mode", ["pronoun", "heuristic", "learned", "always", "never"])
def test_nothing_is_rewritten_without_words_or_history(mode: str) -> None:
    assert decide(" \n", WARRANTY, mode).reason is TriggerReason.BLANK
    first = decide("How long does it last?", (), mode)
    assert (first.rewrite, first.reason) == (False, TriggerReason.NO_HISTORY)


@pytest.mark.parametrize(
    ("mode", "expected"), [("always", (True, TriggerReason.FORCED)), ("never", (False, TriggerReason.DISABLED))]
)
def test_constant_modes(mode: str, expected: tuple[bool, TriggerReason]) -> None:
    decision = decide("How is the Parental Leave Act applied in Norway?", WARRANTY, mode)
    assert (decision.rewrite, decision.reason) == expected


@pytest.mark.parametrize(
    ("message", "history", "reason", "cue"),
    [
        ("How long does it last?", WARRANTY, TriggerReason.PRONOUN, "it"),
        ("第二个怎么样？", PLANS_ZH, TriggerReason.ORDINAL, "第二个"),
        ("And the price?", WARRANTY, TriggerReason.OPENER, "And"),
        ("Sure", OFFER, TriggerReason.SLOT_FILLING, "Sure"),
    ],
)
def test_a_reason_comes_with_its_words_and_their_place(
    message: str, history: tuple[str, ...], reason: TriggerReason, cue: str
) -> None:
    decision = decide(message, history)
    assert decision.reason is reason
    assert any(found.text == cue and message[found.start :].startswith(cue) for found in decision.cues)


def test_recall_bias_moves_the_threshold_both_ways() -> None:
    messages = ["What are the delivery fees?", "How is ocean crust formed?", "配送费是多少？", "Do members pay fees?"]
    fires = [sum(decide(m, WARRANTY, recall_bias=bias).rewrite for m in messages) for bias in (-1.0, 0.0, 1.0)]
    assert fires == sorted(fires)
    assert (fires[0], fires[-1]) == (0, len(messages))


def test_a_hint_of_the_users_fires() -> None:
    complete = "How is the Parental Leave Act applied in Norway, follow-up?"
    decision = decide(complete, WARRANTY, follow_up_hints=["Follow-Up"])
    assert (decision.rewrite, decision.reason) == (True, TriggerReason.OPENER)


def test_words_of_the_users_are_pronouns() -> None:
    settings = CondensePlusSettings(trigger={"mode": "pronoun"}, languages={"en": {"pronouns_add": ["said unit"]}})
    assert build_trigger(settings).decide("How heavy is said unit?", window(WARRANTY)).rewrite


def test_own_weights_are_used(tmp_path: Path) -> None:
    weights = tmp_path / "weights.toml"
    weights.write_text("intercept = 9.0\nthreshold = 0.5\n[weights]\nnew_names = 0.0\n", encoding="utf-8")
    complete = "How is the Parental Leave Act applied in Norway?"
    assert decide(complete, WARRANTY, weights_file=weights).rewrite
    weights.write_text("nothing here", encoding="utf-8")
    with pytest.raises(ConfigurationError):
        decide(complete, WARRANTY, weights_file=tmp_path / "weights2.toml")


def test_a_pasted_text_is_decided_by_its_ends() -> None:
    paste = "The device has many parts. " * 40_000
    assert decide(paste + "How long does it last?", WARRANTY).rewrite
