from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llama_index_condense_plus import CondensePlusSettings
from llama_index_condense_plus.rewriting.cleanup import Cleaner, clean_query, safe_line
from tests.rewriting.cleanup_cases import CLEANED_EN, CLEANED_ZH, TRAPS_EN, TRAPS_ZH


@pytest.mark.parametrize(("query", "expected"), [*CLEANED_ZH, *CLEANED_EN])
def test_clean_query_takes_out_what_only_the_conversation_needed(query: str, expected: str) -> None:
    assert clean_query(query) == expected


@pytest.mark.parametrize("query", [*TRAPS_ZH, *TRAPS_EN])
def test_clean_query_leaves_what_carries_meaning(query: str) -> None:
    assert clean_query(query) == query


@pytest.mark.parametrize("query", ["谢谢", "请问", "刚才提到的", "thanks!", "please"])
def test_clean_query_leaves_a_query_that_would_vanish(query: str) -> None:
    assert clean_query(query) == query


def test_cleaner_lists_what_it_took_out() -> None:
    text, edits = Cleaner(CondensePlusSettings()).clean("请问刚才提到的GTE-3000多少钱，谢谢")
    assert text == "GTE-3000多少钱"
    assert [(edit.kind, edit.before, edit.after) for edit in edits] == [
        ("cleanup", "刚才提到的", ""),
        ("cleanup", "请问", ""),
        ("cleanup", "谢谢", ""),
    ]


def test_cleaner_follows_the_users_words() -> None:
    own = {"zh": {"connectives_add": ["话分两头"], "connectives_remove": ["刚才提到的", "刚才"]}}
    cleaner = Cleaner(CondensePlusSettings(languages=own))
    assert cleaner.clean("话分两头价格是多少")[0] == "价格是多少"
    assert cleaner.clean("刚才提到的价格是多少")[0] == "刚才提到的价格是多少"


def test_cleaner_disabled_only_makes_safe() -> None:
    cleaner = Cleaner(CondensePlusSettings(cleanup={"enabled": False, "width": "keep"}))
    assert cleaner.clean("请问\nＧＴＥ多少钱\x00") == ("请问 ＧＴＥ多少钱", ())


@given(st.text())
def test_safe_line_is_one_printable_line(text: str) -> None:
    line = safe_line(text)
    assert line == line.strip()
    assert not any(not char.isprintable() for char in line)


@given(st.text(alphabet="刚才提到的之前请问谢你我们说，。？ abyoumentioned"))
def test_clean_query_is_stable_and_never_longer(text: str) -> None:
    once = clean_query(text)
    assert len(once) <= len(text)
    assert once or not safe_line(text)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("I want to know if it rains", "I want to know if it rains"),
        ("do you know whether it rains", "do you know whether it rains"),
        ("please, the price", "the price"),
        ("the price, please?", "the price?"),
        ("the price? thanks!", "the price?"),
        ("hello world", "hello world"),
        ("hello, the price?", "the price?"),
        ("谢谢的意思是什么", "谢谢的意思是什么"),
        ("谢谢，价格呢？", "价格呢？"),
        ("which phone you mentioned is best", "which phone is best"),
        ("have you mentioned the price", "have you mentioned the price"),
        ("“刚才提到的”是什么意思", "“刚才提到的”是什么意思"),
        ("《刚才》是谁唱的", "《刚才》是谁唱的"),
        ("https://a.example/please 打不开", "https://a.example/please 打不开"),
    ],
)
def test_clean_query_takes_padding_only_where_it_pads(query: str, expected: str) -> None:
    assert clean_query(query) == expected


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


def test_cleaner_folds_width_but_leaves_chinese_marks() -> None:
    cleaner = Cleaner(CondensePlusSettings())
    assert cleaner.clean("ＧＴＥ－３０００，多少钱？")[0] == "GTE-3000，多少钱？"
    assert cleaner.clean("ＧＴＥ－３０００，ｐｒｉｃｅ？")[0] == "GTE-3000,price?"
    assert Cleaner(CondensePlusSettings(cleanup={"width": "keep"})).clean("ＧＴＥ多少钱")[0] == "ＧＴＥ多少钱"


def test_cleaner_only_makes_safe_what_is_too_long_to_clean() -> None:
    long = "请问" + "好" * 4_000
    assert Cleaner(CondensePlusSettings()).clean(long) == (long, ())
    assert Cleaner(CondensePlusSettings()).clean("请问" + "好" * 3_998)[0] == "好" * 3_998


@pytest.mark.parametrize(
    ("query", "expected", "gone"),
    [
        ("hello there, the price", "the price", ["hello there"]),
        ("the price? thanks", "the price?", ["thanks"]),
        ("the price?? thanks", "the price??", ["thanks"]),
        ("价格?谢谢?", "价格?", ["谢谢"]),
        ("价格，谢谢？", "价格？", ["谢谢"]),
        ("hi, thanks", "thanks", ["hi"]),
        ("the price, please, thanks", "the price", ["thanks", "please"]),
        ("the price,please", "the price", ["please"]),
        ("if possible, the price", "the price", ["if possible"]),
        ("if possible the price", "if possible the price", []),
        ("麻烦你 价格", "价格", ["麻烦你"]),
        ("你好价格", "你好价格", []),
        ("you mentioned the phone", "you mentioned the phone", []),  # a sentence, not an aside
        ("the phone, you mentioned", "the phone, you mentioned", []),
        ("the TV we discussed or the lamp you mentioned", "the TV or the lamp", ["we discussed", "you mentioned"]),
        ("As I said, the phone", "the phone", ["As I said"]),
        ("刚才提到的人民币", "人民币", ["刚才提到的"]),
        ("刚才提到的确良衬衫", "刚才提到的确良衬衫", []),  # 的确良 is a word
        ("你刚才提到的和刚才说的手机", "和手机", ["你刚才提到的", "刚才说的"]),
        ("https://x.y/刚才提到的 刚才提到的价格", "https://x.y/刚才提到的 价格", ["刚才提到的"]),
        ("mail please@a.com please", "mail please@a.com", ["please"]),
    ],
)  # fmt: skip
def test_cleaner_names_what_it_took_out_in_order(query: str, expected: str, gone: list[str]) -> None:
    cleaned, edits = Cleaner(CondensePlusSettings()).clean(query)
    assert (cleaned, [edit.before for edit in edits]) == (expected, gone)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("a , b ?", "a, b?"),
        ("a,，b", "a,b"),
        ("价格，，颜色；？", "价格，颜色？"),
        ("a,?", "a?"),
        ("...a", "...a"),
        ("-a", "-a"),
        ("~a", "a"),
        (" ，a", "a"),
    ],
)
def test_clean_query_tidies_marks(query: str, expected: str) -> None:
    assert clean_query(query) == expected


def test_cleaner_takes_the_words_of_the_language_it_is_told() -> None:
    cleaner = Cleaner(CondensePlusSettings())
    assert cleaner.clean("请问 price", "en")[0] == "请问 price"
    assert cleaner.clean("请问 price", "zh")[0] == cleaner.clean("请问 price")[0] == "price"
    assert clean_query("the price please", "zh") == "the price please"
