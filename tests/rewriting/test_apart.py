from __future__ import annotations

import pytest

from llama_index_condense_plus.rewriting.apart import compares_two, is_addressed, is_sibling
from tests.rewriting.test_rules import outcome

DESK = ["Do you ship the oak desk to Ireland?", "Yes, in 5 to 7 days."]
DEPOSIT = ["定期存款提前支取怎么算利息？", "按活期利率算。"]


@pytest.mark.parametrize(
    ("clause", "topic", "expected"),
    [
        ("Are you a human?", "oak desk", True),
        ("So who are you?", "oak desk", True),
        ("how are you today?", "oak desk", True),
        ("Are you open on Sundays?", "oak desk", True),
        ("Are you open on Sundays?", "the Oslo branch", False),
        ("Are you sure?", "oak desk", False),
        ("Are you able to deliver?", "oak desk", False),
        ("Do you stock light bulbs?", "oak desk", True),
        ("Do you deliver?", "oak desk", False),
        ("What do you recommend?", "oak desk", False),
        ("你是真人吗？", "存款", True),
        ("那你叫什么名字？", "存款", True),
        ("今天心情怎么样？", "存款", True),
        ("你们春节放假吗？", "存款", True),
        ("你们有实体店吗？", "羽绒服", True),
        ("你们春节放假吗？", "城北支行", False),
        ("你们多久发货？", "羽绒服", False),
        ("你知道导演是谁吗？", "活着", False),
        ("你觉得怎么样？", "活着", False),
    ],
)
def test_is_addressed_knows_questions_about_the_one_who_answers(clause: str, topic: str, expected: bool) -> None:
    assert is_addressed(clause, topic) is expected


@pytest.mark.parametrize(
    ("clause", "expected"),
    [
        ("Is brown rice better than white rice?", True),
        ("Are trains cheaper than buses?", True),
        ("Is it better than white rice?", False),
        ("Is the price lower than last year?", False),
        ("Is the case dearer than a screen?", False),
        ("Is that rare?", False),
        ("债券和股票哪个风险大？", True),
        ("绿茶跟红茶的区别是什么？", True),
        ("绿茶和红茶好喝吗？", False),
        ("价格和重量哪个重要？", False),
    ],
)
def test_compares_two_wants_both_sides(clause: str, expected: bool) -> None:
    assert compares_two(clause) is expected


@pytest.mark.parametrize(
    ("topic", "clause", "expected"),
    [
        ("婚假", "产假怎么申请？", True),
        ("公司", "子公司在哪？", False),
        ("空气炸锅", "锅能洗吗？", False),
        ("婚假", "几天？", False),
        ("房价", "油价高吗？", True),
        ("leave", "how long?", False),
    ],
)
def test_is_sibling_is_a_thing_of_one_kind(topic: str, clause: str, expected: bool) -> None:
    assert is_sibling(topic, clause) is expected


@pytest.mark.parametrize(
    ("history", "message"),
    [
        (DESK, "Are you a robot?"),
        (DESK, "Do you sell carpets?"),
        (DESK, "Is walnut harder than pine?"),
        (DEPOSIT, "你们周末上班吗？"),
        (DEPOSIT, "你是机器人吗？"),
        (["婚假有几天？", "三天。"], "病假怎么算工资？"),
        (["Svelte怎么监听路由？", "用onMount。"], "React里怎么做？"),
    ],
)
def test_rules_add_no_topic_to_what_stands_apart(history: list[str], message: str) -> None:
    assert outcome(history, message).text is None


def test_rules_add_a_house_to_a_question_to_it() -> None:
    assert outcome(["城北支行在哪？", "中山路8号。"], "你们周末上班吗？").text == "城北支行你们周末上班吗？"


@pytest.mark.parametrize(
    ("history", "message", "expected"),
    [
        (["从昆明到大理怎么走？", "坐高铁。"], "大概要多久？", "昆明到大理大概要多久？"),
        (
            ["How do I get from Leeds to York?", "By train."],
            "How long does it take?",
            "How long does Leeds to York take?",
        ),
        (["Where do I leave from Leeds?", "At noon."], "How big is it?", "How big is Leeds?"),
        (["Is lunch served at Kew Gardens?", "No."], "How much is it?", "How much is lunch at Kew Gardens?"),
        (["What colours does the wool rug come in?", "Two."], "Is it washable?", "Is the wool rug washable?"),
        (["Which forms do I need for the study loan?", "Two."], "Is it taxed?", "Is the study loan taxed?"),
    ],
)
def test_rules_name_the_whole_of_what_was_asked_about(history: list[str], message: str, expected: str) -> None:
    assert outcome(history, message).text == expected


@pytest.mark.parametrize(
    ("history", "message", "expected"),
    [
        (["ThinkPad Neo多重？", "一公斤。"], "ThinkPad Max呢？", "ThinkPad Max多重？"),
        (["颐和园几点关门？", "六点。"], "玉渊潭公园呢？", "玉渊潭公园几点关门？"),
        (["承德避暑山庄门票贵吗？", "不贵。"], "五台山呢？", "五台山门票贵吗？"),
        (["凤凰古城要门票吗？", "不要。"], "梵净山呢？", "梵净山要门票吗？"),
        (["比亚迪Model 3保险贵吗？", "不贵。"], "Model 5呢？", "比亚迪Model 5保险贵吗？"),
        (["混动车型要摇号吗？", "要。"], "电动车型呢？", "电动车型要摇号吗？"),
        (["新能源车要年检吗？", "要。"], "柴油车呢？", "柴油车要年检吗？"),
        (["上海海鲜贵吗？", "贵。"], "珠海呢？", "珠海海鲜贵吗？"),
        (["住宿费能报销吗？", "能。"], "节假日呢？", "节假日住宿费能报销吗？"),
        (["打车费能报销吗？", "能。"], "周末呢？", "周末打车费能报销吗？"),
        (["咳嗽能打疫苗吗？", "不能。"], "发烧呢？", "发烧能打疫苗吗？"),
        (["Does the 2021 Fiesta have CarPlay?", "Yes."], "What about the Focus?", "Does the Focus have CarPlay?"),
    ],
)
def test_rules_cut_no_name_and_part_no_words(history: list[str], message: str, expected: str) -> None:
    assert outcome(history, message).text == expected


@pytest.mark.parametrize(
    ("history", "message", "expected"),
    [
        (["王老师的办公室在哪？", "三楼。"], "他的电话是多少？", "王老师的电话是多少？"),
        (["宾馆收押金吗？", "收。"], "能带行李吗？", "宾馆能带行李吗？"),
        (["信用卡逾期会怎样？", "有罚息。"], "手续费怎么算？", "信用卡逾期的手续费怎么算？"),
        (["社保卡丢了怎么办？", "挂失。"], "补办要多少钱？", "社保卡补办要多少钱？"),
        (
            ["Is lake water safe in Bern?", "Yes."],
            "Is it safe to wash with it?",
            "Is it safe to wash with lake water in Bern?",
        ),
        (["When is the book fair?", "March 3."], "Is there a fee?", "Is there a fee for the book fair?"),
        (["What shots does a kitten need?", "Two."], "How much do they cost?", "How much do shots cost?"),
        (["What time for trout?", "Ten minutes."], "How long?", "How long for trout?"),
        (
            ["How many guests does the garden plan allow?", "Two."],
            "Is parking extra?",
            "Is parking extra for the garden plan?",
        ),
        (
            ["Why is my bill higher this month?", "A promotion ended."],
            "Is there a discount?",
            "Is there a discount for the bill?",
        ),
        (
            ["When are test results available?", "In 48 hours."],
            "Can I see them online?",
            "Can I see test results online?",
        ),
    ],
)
def test_rules_take_up_what_a_question_was_about(history: list[str], message: str, expected: str) -> None:
    assert outcome(history, message).text == expected
