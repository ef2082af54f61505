from __future__ import annotations

import pytest

from llama_index_condense_plus import CondensePlusSettings
from llama_index_condense_plus.rewriting.guards import build_guards
from llama_index_condense_plus.rewriting.history import build_window
from llama_index_condense_plus.types import HistoryWindow

ZH = [
    ("user", "推荐一款折叠屏手机"),
    ("assistant", "可以看看GTE-3000，2023年发布，不支持快充。"),
    ("user", "GTE-3000的续航多久？"),
    ("assistant", "大约10小时。"),
]
EN = [
    ("user", "Which phone is good?"),
    ("assistant", "The Orion Gateway was released in 2023 and has two cameras. It does not support fast charging."),
    ("user", "How long does the battery of the Orion Gateway last?"),
    ("assistant", "About ten hours."),
]


def window(turns: list[tuple[str, str]]) -> HistoryWindow:
    return build_window(turns, CondensePlusSettings().history)


def failed(original: str, rewrite: str, profile: str = "faithful", **guards: object) -> set[str]:
    turns = ZH if any("\u4e00" <= char <= "\u9fff" for char in original) else EN
    built = build_guards(CondensePlusSettings(guards={"profile": profile, **guards}))
    verdicts = [verdict for guard in built for verdict in guard.check(original, rewrite, window(turns))]
    return {verdict.guard for verdict in verdicts if not verdict.passed and verdict.action == "reject"}


@pytest.mark.parametrize(
    ("original", "rewrite"),
    [
        ("那它多少钱？", "GTE-3000多少钱？"),
        ("那它多少钱？", "GTE-3000的价格是多少？"),
        ("岁数呢？", "GTE-3000的年龄？"),
        ("不能充电怎么办", "GTE-3000不能充电怎么办"),
        ("2年后还能用吗", "GTE-3000两年后还能用吗"),
        ("它支持5G和Wi-Fi吗", "GTE-3000支持5G和Wi-Fi吗"),
        ("那款手机有白色吗", "GTE-3000有白色吗"),
        ("它支援快充嗎", "GTE-3000支持快充吗"),
        ("第二个呢", "GTE-3000呢"),
        ("and the price?", "What is the price of the Orion Gateway?"),
        ("is it waterproof", "Is the Orion Gateway waterproof?"),
        ("Doesn't it support wireless charging?", "Doesn't the Orion Gateway support wireless charging?"),
        ("how much for 2 of them?", "How much do two Orion Gateways cost?"),
        ("what about that phone's treatability", "How treatable is the Orion Gateway?"),
        ("Tell me more about it.", "Tell me more about the Orion Gateway."),
        ("I want to buy it", "I want to buy the Orion Gateway"),
        ('why does it say "low power"?', 'Why does the Orion Gateway say "low power"?'),
        ("Thanks, bye", "Thank you, goodbye"),
    ],
)
def test_guards_let_good_rewrites_pass(original: str, rewrite: str) -> None:
    assert failed(original, rewrite) == set()


@pytest.mark.parametrize(
    ("original", "rewrite", "guard"),
    [
        ("它有哪些颜色？", "GTE-3000的续航多久", "diff_ratio.retention"),
        ("那它呢？", "海底捞火锅有哪些招牌菜？", "diff_ratio.novelty"),
        ("那它多少钱？", "Mate X多少钱？", "new_entity"),
        ("那它多少钱？", "牛奶咖啡多少钱？", "new_entity"),
        ("它多少钱？", "《恋恋笔记本》多少钱？", "new_entity"),
        ("3个人用够吗", "GTE-3000五个人用够吗", "preservation.numbers"),
        ("它为什么不能充电", "GTE-3000为什么能充电", "preservation.negation"),
        ("它提示“请重试”怎么办", "GTE-3000有提示怎么办", "preservation.quotes"),
        ("它兼容config.yaml吗", "GTE-3000兼容config.json吗", "preservation.identifiers"),
        ("它是谁设计的", "GTE-3000什么时候设计的", "preservation.question_type"),
        ("那它多少钱？", "GTE-3000的价格是3999元。", "answer.statement"),
        ("那它多少钱？", "GTE-3000的续航多久？", "answer.repetition"),
        ("那它多少钱？", "大约10小时。", "answer.repetition"),
        ("那它多少钱？", "How much is the GTE-3000 today?", "language"),
        ("那它多少钱？", "用户想知道GTE-3000多少钱？", "meta_text.task"),
        ("and the price?", "What is the weight of the Orion Gateway?", "diff_ratio.retention"),
        ("and the price?", "What is the price of the Nokia 3310?", "new_entity"),
        ("does it have 3 lenses?", "Does the Orion Gateway have 4 lenses?", "preservation.numbers"),
        ("why doesn't it start?", "Why does the Orion Gateway start?", "preservation.negation"),
        ("is it under 500 mg?", "Is the Orion Gateway under 500 g?", "preservation.numbers"),
        ("does it run node.js?", "Does the Orion Gateway run it?", "preservation.identifiers"),
        ("and the price?", "The price of the Orion Gateway is high.", "answer.statement"),
        ("and the price?", "Yes, the Orion Gateway is expensive.", "answer.statement"),
        ("and the price?", "About ten hours.", "answer.repetition"),
        ("and the price?", "How long does the battery of the Orion Gateway last?", "answer.repetition"),
        ("and the price?", "Quel est le prix de la Orion Gateway?", "language"),
        ("and the price?", "Rewrite the question: price of the Orion Gateway", "meta_text.task"),
        ("and the price?", "price " * 100, "length"),
    ],
)
def test_guards_reject_bad_rewrites(original: str, rewrite: str, guard: str) -> None:
    assert guard in failed(original, rewrite)


def test_minimal_profile_lets_only_references_change() -> None:
    assert failed("那它多少钱？", "GTE-3000多少钱？", "minimal") == set()
    assert failed("and how much does it weigh in grams?", "How much does the Orion Gateway weigh?", "minimal")
    assert failed("那它多少钱？", "Mate X多少钱？", "minimal")


def test_expansive_profile_lets_words_be_added_but_not_the_question_be_lost() -> None:
    expanded = "price of the Orion Gateway cost fee retail value budget smartphone"
    assert failed("and the price?", expanded)
    assert failed("and the price?", expanded, "expansive") == set()
    assert "diff_ratio.retention" in failed("and the price?", "weather in Rome", "expansive")


def test_off_profile_checks_nothing() -> None:
    assert build_guards(CondensePlusSettings(guards={"profile": "off"})) == ()


def test_a_guard_can_be_switched_off() -> None:
    assert "new_entity" in failed("那它多少钱？", "Mate X多少钱？")
    assert "new_entity" not in failed("那它多少钱？", "Mate X多少钱？", new_entity={"enabled": False})


def test_symmetric_metric_measures_the_literal_difference() -> None:
    symmetric = {"metric": "symmetric", "max_symmetric": 0.5}
    assert failed("价格呢", "GTE-3000这款折叠屏手机的价格是多少", diff_ratio=symmetric) == {"diff_ratio.symmetric"}
    assert failed("它的价格是多少", "GTE的价格是多少", diff_ratio=symmetric) == set()


def test_verdicts_carry_measure_and_limit() -> None:
    guards = build_guards(CondensePlusSettings())
    verdicts = {v.guard: v for guard in guards for v in guard.check("那它多少钱？", "Mate X多少钱？", window(ZH))}
    assert verdicts["new_entity"].measured == 2
    assert verdicts["new_entity"].limit == 0
    assert "Mate" in verdicts["new_entity"].detail
    assert verdicts["diff_ratio.retention"].measured == 1.0


def test_unresolved_reference_is_flagged() -> None:
    guards = build_guards(CondensePlusSettings())
    flagged = [
        v for guard in guards for v in guard.check("它和iPhone哪个好", "它和iPhone哪个好", window(ZH)) if not v.passed
    ]
    assert [(v.guard, v.action) for v in flagged] == [("unresolved_reference", "flag")]


def test_numbers_of_an_answered_first_clause_may_go() -> None:
    turns = [("user", "恋恋笔记本这部电影"), ("assistant", "是哪年上映的？")]
    guards = build_guards(CondensePlusSettings())
    rejected = [
        v for guard in guards for v in guard.check("2004年上映的，导演是谁？", "恋恋笔记本的导演是谁？", window(turns))
        if not v.passed and v.action == "reject"
    ]  # fmt: skip
    assert rejected == []
