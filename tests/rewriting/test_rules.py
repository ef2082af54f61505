from __future__ import annotations

from dataclasses import replace

import pytest

from llama_index_condense_plus.operations import RuleOutcome
from llama_index_condense_plus.rewriting.history import build_window
from llama_index_condense_plus.rewriting.rules import RuleRewriter, topic_query
from llama_index_condense_plus.settings.sections import HistorySettings
from llama_index_condense_plus.types import RewriteRequest, TriggerDecision, TriggerReason


def outcome(
    history: list[str], message: str, reason: TriggerReason = TriggerReason.PRONOUN, summary: str = ""
) -> RuleOutcome:
    pairs = [(("user", "assistant")[n % 2], text) for n, text in enumerate(history)]
    decision = TriggerDecision(True, reason, "zh")
    window = replace(build_window(pairs, HistorySettings()), summary=summary)
    return RuleRewriter().outcome(RewriteRequest(message, window, decision))


GTE = ["GTE-3000多少钱？", "GTE-3000售价2999元。"]
DEPOSIT = ["怎么退押金？", "有三种办法：\n1. 原路退回：三天\n2. 转到钱包余额\n3. 抵扣租金"]
PLANS = ["A方案和B方案哪个便宜？", "A方案便宜。"]


@pytest.mark.parametrize(
    ("history", "message", "expected"),
    [
        (GTE, "那它的保修期多长？", "GTE-3000的保修期多长？"),
        (GTE, "嗯，挺贵的，保修期多长？", "GTE-3000的保修期多长？"),
        (["宇智波佐助是谁？", "佐助是火影忍者的角色。"], "他哥哥是谁？", "宇智波佐助哥哥是谁？"),
        (DEPOSIT, "第二种多久到账？", "转到钱包余额多久到账？"),
        (DEPOSIT, "最后一种划算吗？", "抵扣租金划算吗？"),
        (["折叠屏手机有哪些推荐？", "Mate X5和Find N3都不错。"], "它们的价格？", "Mate X5和Find N3的价格？"),
        (["北京的公积金怎么提取？", "在北京公积金中心办理。"], "上海呢？", "上海的公积金怎么提取？"),
        (["北京的公积金怎么提取？", "线上。", "上海呢？", "线上。"], "广州呢？", "广州的公积金怎么提取？"),
        (["标准版怎么申请？", "在系统里。"], "那旗舰版呢？", "旗舰版怎么申请？"),
        (["Who founded Tesla Motors?", "Two engineers."], "When was it founded?", "When was Tesla Motors founded?"),
        (["Tell me about Marie Curie.", "A physicist."], "What was her work?", "What was Marie Curie's work?"),
        (["Tell me about the Beatles.", "A band."], "Who was their manager?", "Who was Beatles' manager?"),
        (["What is throat cancer?", "A kind of cancer."], "Is it treatable?", "Is throat cancer treatable?"),
        (
            ["公积金提取需要什么材料？", "身份证和银行卡。", "多久到账？", "三个工作日。"],
            "可以异地办吗？",
            "公积金可以异地办吗？",
        ),
        (
            ["园林有哪些？", "1. 拙政园 2. 留园 3. 狮子林"],
            "第二个门票多少钱？",
            "留园门票多少钱？",
        ),
        (
            ["What is a Roth IRA?", "A retirement account.", "Who can open one?", "Anyone."],
            "what's the contribution limit?",
            "What's the contribution limit of the Roth IRA?",
        ),
        (
            ["Does the Pixel Watch 3 work with iPhone?", "No."],
            "how heavy is it?",
            "How heavy is the Pixel Watch 3?",
        ),
        (
            ["Is the Samsung Galaxy S24 waterproof?", "Yes, IP68."],
            "How heavy is it?",
            "How heavy is the Samsung Galaxy S24?",
        ),
        (
            ["How do I reset the Nest thermostat?", "Hold the ring."],
            "Does it need wifi?",
            "Does the Nest thermostat need wifi?",
        ),
        (
            ["How does photosynthesis work in C4 plants?", "They concentrate CO2."],
            "why is that better in hot climates",
            "Why is photosynthesis in C4 plants better in hot climates",
        ),
        (
            ["How long does shipping to Canada take?", "5 days."],
            "and customs fees?",
            "What are the customs fees of shipping to Canada?",
        ),
        (
            ["How long does delivery take?", "5 days."],
            "and gift cards?",
            "How long does delivery take, and gift cards?",
        ),
        (["推荐几本书？", "1、万历十五年；2、人类简史。"], "第一本作者是谁？", "万历十五年作者是谁？"),
        (
            ["Does Kubernetes restart pods?", "Yes."],
            "how often does it do that?",
            "How often does Kubernetes do that?",
        ),
        (
            ["What is the GTE-3000?", "A router."],
            "Does it work when its light blinks?",
            "Does the GTE-3000 work when the GTE-3000's light blinks?",
        ),
        (
            ["Is there a train from Vienna to Graz?", "Yes, hourly."],
            "how long does it take?",
            "How long does the train from Vienna to Graz take?",
        ),
        (["Who needs the flu vaccine?", "All."], "Is this vaccine free?", "Is the flu vaccine free?"),
    ],
)
def test_outcome_resolves(history: list[str], message: str, expected: str) -> None:
    assert outcome(history, message).text == expected


def test_outcome_fills_a_slot_into_the_request() -> None:
    text = outcome(["查一下值班表", "请问要查哪个月的？"], "五月", TriggerReason.SLOT_FILLING).text
    assert text == "查一下值班表 五月"


def test_outcome_agrees_with_the_pronoun() -> None:
    history = ["看过《霸王别姬》吗？", "看过，《霸王别姬》里有张国荣。"]
    assert outcome(history, "他多大了？").text == "张国荣多大了？"
    assert outcome(history, "它是哪年的？").text == "霸王别姬是哪年的？"


def test_outcome_takes_what_the_user_just_said_as_newest() -> None:
    history = ["看过《活着》吗？", "看过。"]
    assert "葛优" in (outcome(history, "我很喜欢葛优，他多大了？").text or "")


def test_outcome_leaves_a_question_that_names_its_topic() -> None:
    assert outcome(GTE, "《活着》的作者是谁？").text == "《活着》的作者是谁？"


@pytest.mark.parametrize(
    ("history", "message"),
    [(PLANS, "那个方案比这个好吗？"), (DEPOSIT, "第五种呢？"), (["你好", "你好"], "它多少钱？"), ([], "它多少钱？")],
)
def test_outcome_declines(history: list[str], message: str) -> None:
    declined = outcome(history, message)
    assert declined.text is None
    assert not declined.ambiguous


def test_outcome_names_tied_candidates() -> None:
    tied = outcome(["你好", "你好，请说。", "想买书", "《活着》和《兄弟》都有货。"], "它多少钱？")
    assert tied.text is None
    assert tied.ambiguous
    assert set(tied.candidates) == {"活着", "兄弟"}


@pytest.mark.parametrize(
    ("history", "message", "expected"),
    [
        (
            ["How much does the Kestrel drone cost?", "449 euros.", "红隼无人机多少钱？", "3499 元。"],
            "那它的保修期呢？",
            "红隼无人机",
        ),
        (["Does the Aster lamp dim?", "Yes.", "雏菊台灯能调光吗？", "可以。"], "它多重？", "雏菊台灯"),
        (["雏菊台灯能调光吗？", "可以。", "Does the Aster lamp dim?", "Yes."], "How heavy is it?", "the Aster"),
    ],
)
def test_outcome_follows_a_talk_that_changes_its_language(history: list[str], message: str, expected: str) -> None:
    assert expected in (outcome(history, message).text or "")


@pytest.mark.parametrize(
    ("summary", "message", "searched"),
    [
        (
            "Mentioned, in this order: Kestrel K7, Heron H2\nHeron H2 and Kestrel K7 were compared.",
            "And how heavy is that first model you mentioned?",
            "Kestrel K7",
        ),
        ("依次提到：海豹X1、海豹X2\n用户比较了几款无人机。", "最早说的那一款有多重？", "海豹X1"),
        ("Mentioned, in this order: Kestrel K7, Alder cabin", "Is the first cabin you mentioned warm?", "Alder cabin"),
    ],
)
def test_outcome_goes_back_to_the_first_name_of_what_is_summarised(summary: str, message: str, searched: str) -> None:
    newest = ["How loud is the Plover L3?", "The Plover L3 is 116 decibels loud."]
    assert searched in (outcome(newest, message, summary=summary).text or "")


def test_rewrite_is_a_flow_that_asks_for_nothing() -> None:
    window = build_window([("user", GTE[0])], HistorySettings())
    flow = RuleRewriter().rewrite(
        RewriteRequest("它多重？", window, TriggerDecision(True, TriggerReason.PRONOUN, "zh"))
    )
    with pytest.raises(StopIteration) as stop:
        next(flow)
    assert stop.value.value == RuleOutcome("GTE-3000多重？")


@pytest.mark.parametrize(
    ("question", "message", "topic"),
    [
        ("宁德时代的营收是多少？", "毛利率多高？", "宁德时代"),
        ("How do I reset the Nest thermostat?", "does it need wifi?", "Nest thermostat"),
    ],
)
def test_topic_query_names_things_whole(question: str, message: str, topic: str) -> None:
    assert topic_query(build_window([("user", question)], HistorySettings()), message) == f"{topic} {message}"


def test_topic_query_names_the_topic_before_the_asking_clause() -> None:
    window = build_window([("user", GTE[0])], HistorySettings())
    assert topic_query(window, "嗯，知道了。保修期多长？") == "GTE-3000 保修期多长？"
    assert topic_query(window, "GTE-3000多重？") is None
    assert topic_query(build_window([], HistorySettings()), "多重？") is None
