from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llama_index_condense_plus import CondensePlusSettings
from llama_index_condense_plus.cleanup import Cleaner, clean_query, fit_query, safe_line

CLEANED_ZH = [
    ("刚才提到的GTE-3000多少钱？", "GTE-3000多少钱？"),
    ("刚才GTE-3000的价格是多少", "GTE-3000的价格是多少"),
    ("你之前介绍的套餐包含什么", "套餐包含什么"),
    ("上面说的安装步骤", "安装步骤"),
    ("上文提到的年假规定", "年假规定"),
    ("此前提到的公司总部在哪里", "公司总部在哪里"),
    ("您刚才推荐的酒店有停车场吗", "酒店有停车场吗"),
    ("GTE-3000和刚才提到的Orion哪个好", "GTE-3000和Orion哪个好"),
    ("如上所述，报销流程是什么", "报销流程是什么"),
    ("请问GTE-3000多少钱？", "GTE-3000多少钱？"),
    ("你好，打印机怎么联网", "打印机怎么联网"),
    ("能不能告诉我打印机的价格", "打印机的价格"),
    ("我想知道年假有几天", "年假有几天"),
    ("打印机的价格，谢谢", "打印机的价格"),
    ("打印机的价格是多少？谢谢！", "打印机的价格是多少？"),
    ("请问刚才提到的GTE-3000多少钱，谢谢！", "GTE-3000多少钱！"),
    ("刚刚A方案的价格是多少", "A方案的价格是多少"),
    ("提到的A方案多少钱", "A方案多少钱"),
    ("之前A方案的价格", "A方案的价格"),
    ("ＧＴＥ－３０００多少钱？", "GTE-3000多少钱？"),
    ("GTE-3000　多少钱", "GTE-3000 多少钱"),
    ("GTE-3000\t多少钱\r\n", "GTE-3000 多少钱"),
    ("GTE\u200b-3000多少钱", "GTE-3000多少钱"),
    ("GTE-3000多少钱\x00\x07", "GTE-3000多少钱"),
    ("剛才提到的GTE-3000多少錢", "GTE-3000多少錢"),
]

TRAPS_ZH = [
    "2023年之前发布的手机有哪些",
    "刚刚好够用的套餐",
    "手术前面要空腹多久",
    "上面有几个接口",
    "三年以上工作经验怎么算",
    "开始之前怎么备份",
    "先前的规定还有效吗",
    "《刚才》是谁唱的",
    "“刚才提到的”是什么意思",
    "「之前说的」怎么翻译",
    "`请问`这个变量在哪里定义",
    "《请问》这首歌的作词是谁",
    "提到价格的条款在哪里",
    "官方推荐的安装方式",
    "介绍信怎么开",
    "谢谢用英语怎么说",
    "告诉我们的政策在哪里",
    "2020年以前的发票能报销吗",
    "前文件夹怎么恢复",
    "医生说的饮食禁忌有哪些",
    "放假之前交的作业怎么查",
    "以上海为起点的航班",
    "刚性需求是什么",
    "刚才那场比赛的比分是多少",
    "你刚刚说的士多少钱",
]

CLEANED_EN = [
    ("What does the router you just mentioned cost?", "What does the router cost?"),
    ("How heavy is the phone that you just described?", "How heavy is the phone?"),
    ("What is the aforementioned fee?", "What is the fee?"),
    ("What does the previously mentioned Plan B cost?", "What does Plan B cost?"),
    ("How heavy is the GTE-3000 you just mentioned?", "How heavy is the GTE-3000?"),
    ("Is the lamp, which you mentioned, heavy?", "Is the lamp heavy?"),
    ("As mentioned above, what is the fee?", "what is the fee?"),
    ("Who wrote the book you recommended earlier?", "Who wrote the book?"),
    ("Could you please tell me what the fee is?", "what the fee is?"),
    ("What is the fee, please?", "What is the fee?"),
    ("What is the fee? Thanks!", "What is the fee?"),
    ("Hi, what is the fee?", "what is the fee?"),
    ("I was wondering what the fee is", "what the fee is"),
    ("What  is\tthe\nfee?", "What is the fee?"),
    ("What is the ＧＴＥ－３０００？", "What is the GTE-3000?"),
    ("What is the fee?\u200b\x1b", "What is the fee?"),
]

TRAPS_EN = [
    "earlier versions of Python",
    "Which fees apply previously to 2019?",
    "Have you mentioned the fee?",
    "How is the fee described in the contract?",
    "what does `just mentioned` do in this script",
    "What is a recommended dose?",
    "above 18 years old requirements",
    "How do I please my boss?",
    "Thanksgiving opening hours",
    "hello world in Rust",
    "What happened just before the crash?",
    "What is the fee I have to pay?",
    "who said 'I have a dream'",
]
PASTE = "The lease runs for a year and may be ended with notice. " * 400


@pytest.mark.parametrize(("query", "expected"), [*CLEANED_ZH, *CLEANED_EN])
def test_clean_query_takes_out_what_only_the_conversation_needed(query: str, expected: str) -> None:
    assert clean_query(query) == expected


@pytest.mark.parametrize("query", [*TRAPS_ZH, *TRAPS_EN])
def test_clean_query_leaves_what_carries_meaning(query: str) -> None:
    assert clean_query(query) == query


@pytest.mark.parametrize("query", ["谢谢", "请问", "刚才提到的", "thanks!", "please"])
def test_clean_query_leaves_a_query_that_would_vanish(query: str) -> None:
    assert clean_query(query) == query


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("I want to know if it rains", "I want to know if it rains"),
        ("do you know whether it rains", "do you know whether it rains"),
        ("please, the price", "the price"),
        ("the price, please?", "the price?"),
        ("hello, the price?", "the price?"),
        ("谢谢的意思是什么", "谢谢的意思是什么"),
        ("谢谢，价格呢？", "价格呢？"),
        ("which phone you mentioned is best", "which phone is best"),
        ("you mentioned the phone", "you mentioned the phone"),  # a sentence, not an aside
        ("the phone, you mentioned", "the phone, you mentioned"),
        ("the TV we discussed or the lamp you mentioned", "the TV or the lamp"),
        ("刚才提到的人民币", "人民币"),
        ("刚才提到的确良衬衫", "刚才提到的确良衬衫"),  # 的确良 is a word
        ("https://a.example/please 打不开", "https://a.example/please 打不开"),
        ("https://x.y/刚才提到的 刚才提到的价格", "https://x.y/刚才提到的 价格"),
        ("mail please@a.com please", "mail please@a.com"),
        ("hi, thanks", "thanks"),
    ],
)
def test_clean_query_takes_padding_only_where_it_pads(query: str, expected: str) -> None:
    assert clean_query(query) == expected


def test_cleaner_lists_what_it_took_out() -> None:
    text, edits = Cleaner(CondensePlusSettings()).clean("请问刚才提到的GTE-3000多少钱，谢谢")
    assert text == "GTE-3000多少钱"
    assert sorted((edit.kind, edit.before, edit.after) for edit in edits) == [
        ("cleanup", "刚才提到的", ""),
        ("cleanup", "请问", ""),
        ("cleanup", "谢谢", ""),
    ]


def test_cleaner_follows_the_users_words() -> None:
    own = {"zh": {"connectives_add": ["话分两头"], "connectives_remove": ["刚才"]}}
    cleaner = Cleaner(CondensePlusSettings(languages=own))
    assert cleaner.clean("话分两头价格是多少")[0] == "价格是多少"
    assert cleaner.clean("刚才价格是多少")[0] == "刚才价格是多少"


def test_cleaner_disabled_only_makes_safe() -> None:
    cleaner = Cleaner(CondensePlusSettings(cleanup={"enabled": False, "width": "keep"}))
    assert cleaner.clean("请问\nＧＴＥ多少钱\x00") == ("请问 ＧＴＥ多少钱", ())


def test_cleaner_folds_width_but_leaves_chinese_marks() -> None:
    cleaner = Cleaner(CondensePlusSettings())
    assert cleaner.clean("ＧＴＥ－３０００，多少钱？")[0] == "GTE-3000，多少钱？"
    assert cleaner.clean("ＧＴＥ－３０００，ｐｒｉｃｅ？")[0] == "GTE-3000,price?"
    assert Cleaner(CondensePlusSettings(cleanup={"width": "keep"})).clean("ＧＴＥ多少钱")[0] == "ＧＴＥ多少钱"


def test_cleaner_takes_the_words_of_the_language_it_is_told() -> None:
    cleaner = Cleaner(CondensePlusSettings())
    assert cleaner.clean("请问 price", "en")[0] == "请问 price"
    assert cleaner.clean("请问 price", "zh")[0] == cleaner.clean("请问 price")[0] == "price"


@given(st.text())
def test_safe_line_is_one_printable_line(text: str) -> None:
    line = safe_line(text)
    assert line == line.strip()
    assert not any(not char.isprintable() for char in line)


@given(st.text(alphabet="刚才提到的之前请问谢你我们说，。？ abyoumentioned"))
def test_clean_query_is_never_longer_and_never_empty(text: str) -> None:
    once = clean_query(text)
    assert len(once) <= len(text)
    assert once or not safe_line(text)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a\u00a0\u3000b", "a b"),
        ("a\tb\r\nc", "a b c"),
        ("a\u200bb\u202ec\ufeff", "abc"),
        ("\ud800a\ue000", "a"),
        ("a\u2028b", "a b"),
        ("é\x07", "é"),
    ],
)
def test_safe_line_makes_spaces_one_and_takes_the_invisible_out(text: str, line: str) -> None:
    assert safe_line(text) == line


@pytest.mark.parametrize(
    ("message", "asked"),
    [
        (f"{PASTE}\n\nHow long is the warranty of the GTE-3000?", "How long is the warranty of the GTE-3000?"),
        (f"What is the notice period in this contract?\n\n{PASTE}", "What is the notice period in this contract?"),
        ("The lease runs and runs " * 4000 + "until when does it run in all?", None),
        ("这是合同全文的一段。" * 2000 + "\n违约金最高是多少？", "违约金最高是多少？"),
    ],
)
def test_fit_query_keeps_the_part_of_a_paste_that_asks_from_either_end(message: str, asked: str) -> None:
    query = fit_query(message, 512)
    assert query == asked if asked else query.endswith("until when does it run in all?")


def test_fit_query_adds_the_beginning_of_the_text_to_a_question_that_says_little() -> None:
    query = fit_query(f"Can you summarise this?\n{PASTE}", 120)
    assert query.startswith("Can you summarise this? The lease runs for a year")
    assert len(query) <= 120


def test_fit_query_cuts_a_text_that_asks_nothing_between_words() -> None:
    assert fit_query(PASTE, 40) == "The lease runs for a year and may be"
    assert fit_query("short", 40) == "short"
