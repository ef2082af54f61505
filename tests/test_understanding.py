"""What a message means in its conversation, where a model has understood it: by kind, in both languages."""

from __future__ import annotations

from typing import Any

import pytest
from llama_index.core.base.llms.types import ChatMessage

from llama_index_condense_plus import CondensePlusChatEngine, CondensePlusSettings, Trust
from llama_index_condense_plus.retrieval.plan import same_query
from tests.fakes import ScriptedLLM, WordRetriever, query_engine
from tests.modes import Mode

WARRANTY = ("What is the warranty of the Kestrel X5?", "The Kestrel X5 has a warranty of two years.")
WARRANTY_ZH = ("红隼X5的保修期是多久？", "红隼X5的保修期是两年。")
OFFER = ("Can I return shoes?", "Within 30 days. Should I explain the return procedure for worn shoes?")
OFFER_IF = ("How do I renew a passport?", "Online. Let me know if you would like a list of the documents.")
OFFER_ZH = ("会员怎么续费？", "在账户页面续费。要不要我说明一下自动续费的规则？")
OFFER_IF_ZH = ("年假有几天？", "五天。如果需要，我可以介绍年假的申请步骤。")
NO_OFFER = (*WARRANTY, "And its price?", "499 euros. Is there anything else I can help you with?")
NO_OFFER_ZH = (*WARRANTY_ZH, "价格呢？", "3999元。还有什么可以帮您？")
TICKET = ("How much is the ticket for adults?", "A ticket for adults costs 12 euros.")
TRAIN = ("Which train goes to Porto Alegre?", "There is no train to Porto Alegre.")
LUGGAGE_ZH = ("经济舱能带多少行李？", "经济舱可以带23公斤。")
FRANCE = ("What is the capital of France?", "Paris is the capital of France.")
FRANCE_ZH = ("法国的人口是多少？", "法国人口约6800万。")
COURSES = ("Which courses do you offer?", "We offer:\n1. Pottery for beginners\n2. Watercolour\n3. Bookbinding")
PLANS_ZH = ("有哪些套餐？", "有三种：\n1. 流量王套餐\n2. 亲情套餐\n3. 校园套餐")
HOTELS = ("Which hotels are near the harbour?", "Hotel Astoria and Hotel Mirador.")
HOTELS_ZH = ("港口附近有哪些酒店？", "港口附近有海景酒店和星河酒店。")
LEAGUE_ZH = ("2016年的冠军是谁？", "莱斯特城是2016年的冠军。")
RETURNS_ZH = ("怎么退货？", "七天内可退货，超过七天需付运费。")

LEADS = {
    "acceptance": [
        (OFFER, "Yes, go ahead", "What is the return procedure for worn shoes?"),
        (OFFER, "That would be helpful", "Explain the return procedure for worn shoes"),
        (OFFER, "sure, thanks", "What is the return procedure for worn shoes?"),
        (OFFER_IF, "sounds good", "List of the documents to renew a passport"),
        (OFFER_ZH, "要的，谢谢", "自动续费的规则是什么？"),
        (OFFER_ZH, "嗯嗯", "自动续费的规则"),
        (OFFER_ZH, "好呀，讲讲", "自动续费的规则"),
        (OFFER_ZH, "想了解", "说明自动续费的规则"),
        (OFFER_IF_ZH, "麻烦了", "年假的申请步骤是什么？"),
    ],
    "correction": [
        (TRAIN, "Sorry, I meant Porto", "Which train goes to Porto?"),
        (TICKET, "No, not adults, children", "How much is the ticket for children?"),
        (TICKET, "My mistake, for seniors", "How much is the ticket for seniors?"),
        (TICKET, "That's not what I asked, I meant the annual pass", "How much is the annual pass for adults?"),
        (TICKET, "No, I meant without breakfast", "How much is the ticket for adults without breakfast?"),
        (TICKET, "Nope. For groups.", "How much is the ticket for groups?"),
        (LUGGAGE_ZH, "不是经济舱，是商务舱", "商务舱能带多少行李？"),
        (LUGGAGE_ZH, "抱歉，头等舱", "头等舱能带多少行李？"),
        (LUGGAGE_ZH, "说错了，是商务舱", "商务舱能带多少行李？"),
        (LUGGAGE_ZH, "抱歉，我是说手提行李", "经济舱能带多少手提行李？"),
        (LUGGAGE_ZH, "应该是头等舱", "头等舱能带多少行李？"),
    ],
    "more of it": [
        (WARRANTY, "go on", "Tell me more about the warranty of the Kestrel X5"),
        (HOTELS_ZH, "换一家", "港口附近除海景酒店和星河酒店以外有什么酒店？"),
    ],
    "named in the message": [
        (FRANCE, "My sister lives in Oslo. How cold does it get?", "How cold does Oslo get?"),
        (FRANCE, "And Spain, how many people live there?", "How many people live in Spain?"),
        (FRANCE_ZH, "我刚搬到成都，那里的气候怎么样？", "成都的气候怎么样？"),
        (FRANCE_ZH, "西班牙呢？它的首都在哪？", "西班牙的首都在哪？"),
    ],
    "pick": [
        (COURSES, "2", "Watercolour course"),
        (COURSES, "#3", "What is the Bookbinding course about?"),
        (COURSES, "I'd take option 1, please", "Tell me about the course Pottery for beginners"),
        (COURSES, "the 2nd", "Watercolour course"),
        (COURSES, "How long does course 3 take?", "How long does the Bookbinding course take?"),
        (COURSES, "second course", "Tell me about the Watercolour course"),
        (COURSES, "third teacher", "Who teaches Bookbinding?"),
        (PLANS_ZH, "3", "校园套餐的内容是什么？"),
        (PLANS_ZH, "就要2吧", "亲情套餐的内容"),
        (PLANS_ZH, "最后那个", "校园套餐"),
        (PLANS_ZH, "套餐2的价格", "亲情套餐的价格"),
    ],
    "others": [
        (HOTELS, "any others?", "Which hotels are near the harbour other than Hotel Astoria and Hotel Mirador?"),
        (HOTELS, "other options?", "Which hotels near the harbour are there besides Hotel Astoria and Hotel Mirador?"),
        (HOTELS_ZH, "还有别的吗？", "除海景酒店和星河酒店之外，港口附近还有什么酒店？"),
    ],
    "letters of a negation": [
        (("无锡有什么好吃的？", "小笼包。"), "那边的酒店呢", "无锡的酒店有哪些"),
        (("不可抗力条款是什么？", "指自然灾害。"), "它适用于疫情吗", "不可抗力条款适用于疫情吗"),
        (("莫言的代表作？", "《红高粱》。"), "他哪年获奖", "莫言哪年获奖"),
    ],
    "date that follows": [
        (("Who won in 2016?", "Leicester won in 2016."), "And two years earlier?", "Who won in 2014?"),
        (LEAGUE_ZH, "第二年呢？", "2017年的冠军是谁？"),
        (LEAGUE_ZH, "前一年呢", "2015年的冠军是谁"),
        (LEAGUE_ZH, "两年前呢", "2014年的冠军是谁"),
    ],
    "other languages": [
        (("ケストレルX5の価格は？", "499ユーロです。"), "それの重さは？", "ケストレルX5の重さはどのくらいですか？"),
        (("케스트렐 X5 가격은?", "499유로입니다."), "그건 방수예요?", "케스트렐 X5는 방수예요?"),
        (
            ("Was kostet der Kestrel X5?", "499 Euro."),
            "Und die Garantie?",
            "Wie lange ist die Garantie des Kestrel X5?",
        ),
        (("Combien coûte le Kestrel X5 ?", "499 euros."), "Et la garantie ?", "Quelle est la garantie du Kestrel X5?"),
        (("케스트렐 X5 가격은?", "499유로입니다."), "무게는?", "케스트렐 X5의 무게는 얼마인가요?"),
        (WARRANTY_ZH, "TA多重", "红隼X5多重"),
    ],
}
NEVER_LEADS = {
    "varied thanks": [
        ((*WARRANTY, "thanks!", "You are welcome."), "And the Falcon?", "Thanks for the Falcon"),
        ((*WARRANTY_ZH, "好的，谢谢", "不客气。"), "那价格呢", "谢谢的价格呢"),
    ],
    "question after a remark": [(WARRANTY, "gotcha, kiddo", "What is the price of the Kestrel X5?")],
    "copied statement": [(RETURNS_ZH, "超过七天呢", "超过七天需付运费")],
    "other language": [(WARRANTY_ZH, "它的价格", "What is the price of the Kestrel X5?")],
}
SMALL_TALK = {
    WARRANTY: (
        "🎉",
        "cool 😎",
        "haha ok",
        ":-D",
        "<3",
        "Thanks, that was very helpful!",
        "mhm",
        "you've been very kind",
    ),
    WARRANTY_ZH: (
        "666",
        "[强]",
        "太牛了",
        "真不错",
        "回答得很好",
        "哇塞",
        "在吗？",
        "我回头看看",
        "不错不错",
        "好吧，辛苦啦",
    ),
    NO_OFFER: ("okay", "yes", "sounds good"),
    NO_OFFER_ZH: ("好的", "嗯", "行"),
}
TALK = {
    WARRANTY: (
        "Make that shorter",
        "in two sentences",
        "Translate that into Spanish",
        "What was your previous answer?",
    ),
    WARRANTY_ZH: ("我们刚才聊了什么？", "再解释一遍", "概括成三点", "把上面的内容翻译成英文", "我的第一个问题是什么？"),
}
SPEAKS = (
    (WARRANTY, "I will need two rooms in Graz"),
    (WARRANTY, "ok, and the price?"),
    (WARRANTY_ZH, "我们先去天坛"),
    (WARRANTY_ZH, "好用吗？"),
)


def turn(
    history: tuple[str, ...], message: str, rewritten: str, mode: str = "chat", **sections: Any
) -> tuple[Any, ScriptedLLM]:
    llm, settings = ScriptedLLM(rewrite=rewritten), CondensePlusSettings(**sections)
    searching = query_engine(llm=llm, retriever=WordRetriever(["a", "b"]))
    engine = CondensePlusChatEngine.from_defaults(searching, llm=llm, settings=settings)
    said = [ChatMessage(role=("user", "assistant")[i % 2], content=text) for i, text in enumerate(history)]
    caller = Mode(mode)
    trace = engine.trace_of(caller.ask(engine, message, said).response)
    caller.close()
    return trace, llm


def rows(table: dict[str, list[Any]]) -> list[Any]:
    return [pytest.param(*case, id=f"{kind}-{case[1]}") for kind, cases in table.items() for case in cases]


@pytest.mark.parametrize(("history", "message", "rewrite"), rows(LEADS))
def test_right_rewrite_leads(history: tuple[str, ...], message: str, rewrite: str) -> None:
    trace, llm = turn(history, message, rewrite)
    assert llm.count("rewrite") == 1
    assert same_query(trace.plan.search_query, rewrite), trace.rewrite.attempts


@pytest.mark.parametrize("mode", ["achat", "stream_chat", "astream_chat"])
@pytest.mark.parametrize(("history", "message", "rewrite"), [LEADS["acceptance"][0], LEADS["pick"][6]])
def test_right_rewrite_leads_in_every_mode(history: tuple[str, ...], message: str, rewrite: str, mode: str) -> None:
    assert same_query(turn(history, message, rewrite, mode)[0].plan.search_query, rewrite)


@pytest.mark.parametrize(("history", "message", "rewrite"), rows(NEVER_LEADS))
def test_wrong_rewrite_never_leads(history: tuple[str, ...], message: str, rewrite: str) -> None:
    assert not same_query(turn(history, message, rewrite)[0].plan.search_query, rewrite)


@pytest.mark.parametrize(("history", "message"), [(h, m) for h, messages in SMALL_TALK.items() for m in messages])
def test_small_talk_costs_no_call_and_is_searched_as_it_is(history: tuple[str, ...], message: str) -> None:
    trace, llm = turn(history, message, "What is the price of the Kestrel X5?")
    assert (llm.count("rewrite"), trace.decision.reason.value) == (0, "small_talk")
    assert [query.text for query in trace.plan.queries] == [message]


@pytest.mark.parametrize(("history", "message"), SPEAKS)
def test_what_only_looks_like_small_talk_is_understood(history: tuple[str, ...], message: str) -> None:
    assert turn(history, message, message)[0].decision.reason.value != "small_talk"


@pytest.mark.parametrize(("history", "message"), [(h, m) for h, messages in TALK.items() for m in messages])
def test_talk_about_the_talk_gets_no_topic(history: tuple[str, ...], message: str) -> None:
    trace, llm = turn(history, message, "not asked for")
    assert llm.count("rewrite") == 0
    assert [query.text for query in trace.plan.queries] == [message]


@pytest.mark.parametrize(
    ("history", "message", "rewrite"),
    [
        (WARRANTY_ZH, "它的电池可以换吗", "它的电池可以更换吗，在保修期内"),
        (WARRANTY, "Can I extend it?", "Can I extend it for a fee?"),
    ],
)
def test_rewrite_that_still_points_beside_other_changes_is_not_trusted(
    history: tuple[str, ...], message: str, rewrite: str
) -> None:
    assert turn(history, message, rewrite)[0].rewrite.trust is not Trust.TRUSTED


@pytest.mark.parametrize(
    ("history", "message", "rewrite"),
    [(WARRANTY, "phew kiddo", "What is the price of the Kestrel X5?"), (WARRANTY_ZH, "妥妥滴", "红隼X5的价格是多少？")],
)
def test_nothing_is_carried_over_to_a_remark(history: tuple[str, ...], message: str, rewrite: str) -> None:
    trace, _ = turn(history, message, rewrite)
    assert [query.text for query in trace.plan.queries] == [message]


@pytest.mark.parametrize(
    ("history", "message", "asks"),
    [
        (("Who are Maria Lopez and Anna Berg?", "Maria Lopez and Anna Berg are nurses."), "When does she work?", True),
        (("Compare the Kestrel X5 and the Falcon Z3", "The Kestrel X5 and the Falcon Z3 fly."), "Is it heavy?", True),
        (("客户A和客户B的账期？", "客户A是30天，客户B是60天。"), "该客户的折扣是多少？", True),
        (("方案A和方案B有什么区别？", "方案A便宜，方案B快。"), "它的价格是多少？", True),
        (("王芳和刘洋谁负责报销？", "王芳和刘洋都负责报销。"), "她的邮箱是什么？", True),
        (WARRANTY, "Is it heavy?", False),
        (WARRANTY_ZH, "它多少钱？", False),
        (("Who is Maria Lopez?", "Maria Lopez is a nurse."), "When does she work?", False),
    ],
)
def test_asks_which_of_two_is_meant(history: tuple[str, ...], message: str, asks: bool) -> None:
    trace, llm = turn(history, message, "a question", rewrite={"on_ambiguous": "ask"})
    assert (trace.rewrite.ambiguous, llm.count("rewrite")) == (asks, int(not asks))


@pytest.mark.parametrize(
    ("history", "message", "item"),
    [
        (COURSES, "2", "Watercolour"),
        (COURSES, "I'd take the third one", "Bookbinding"),
        (COURSES, "the last one, please", "Bookbinding"),
        (COURSES, "option b", "Watercolour"),
        (PLANS_ZH, "我要第二个", "亲情套餐"),
        (PLANS_ZH, "最后那个吧", "校园套餐"),
        (PLANS_ZH, "9", "9"),
    ],
)
def test_pick_finds_its_item_without_a_model(history: tuple[str, ...], message: str, item: str) -> None:
    assert turn(history, message, "", rewrite={"chain": ["rules", "original"]})[0].plan.search_query == item
