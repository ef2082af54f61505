"""What the guards see of a text: its content words, what they point at, abbreviations, and related forms."""

from __future__ import annotations

import pytest

from llama_index_condense_plus.rewriting.guards.features import (
    Word,
    features,
    grounding,
    han_pairs,
    is_common,
    is_rare,
    mistyped,
    retained,
    shares_root,
)
from tests.rewriting.guards.test_single_guards import NOTHING, talk


def word(text: str) -> Word:
    return features(text).words[0]


@pytest.mark.parametrize(
    ("text", "raw", "starts"),
    [
        ("那它的保修期呢？", ["保修期"], [3]),
        ("最大的公司", ["最大", "公司"], [0, 3]),
        ("他姓王", ["姓", "王"], [1, 2]),
        ("它叫什么", [], []),
        ("How much is the GTE-3000?", ["GTE-3000"], [16]),
        ("那--", [], []),
    ],
)
def test_features_are_the_content_words_as_written(text, raw, starts):
    found = features(text).words
    assert [one.raw for one in found] == raw
    assert [one.start for one in found] == starts


@pytest.mark.parametrize(
    ("text", "referred"),
    [
        ("这电影", [True]),
        ("那电影", [False]),  # 那 opens the turn
        ("它的电影", [False]),
        ("that red car", [True, False]),
        ("such cars", [True]),
        ("that, red car", [False, False]),
        ("its car", [False]),
    ],
)
def test_features_know_what_a_demonstrative_points_at(text, referred):
    assert [one.referred for one in features(text).words] == referred


def test_features_hold_stems_roots_and_parts_of_latin_words():
    found = features("The batteries of a wi-fi car")
    assert {"the", "of", "a", "wi-fi", "wi", "fi", "car"} < found.stems
    assert found.roots == {"batt"}
    assert word("wi-fi").parts == ("wi", "fi")
    assert word("car").parts == ()


def test_features_hold_initials_and_acronyms():
    found = features("U.S.A. and WHO of the World Health A")
    assert found.initials == "u.w..wha"
    assert found.acronyms == {"usa", "who"}


@pytest.mark.parametrize(
    ("text", "other", "slip"),
    [
        ("battery", "batery", True),
        ("battery", "battrey", True),
        ("batery", "battrey", True),
        ("batteries", "batteris", True),
        ("battery", "xattery", False),  # slips begin alike
        ("battery", "batt", False),
        ("numbers", "nunbers", True),
        ("abcdefg", "abcdxfg", True),  # one wrong letter of seven
        ("abcdef", "abcdxf", False),  # of six
        ("form", "from", False),
        ("gte3000", "gte300", False),
    ],
)
def test_mistyped_is_one_slip_in_a_long_word(text, other, slip):
    assert mistyped(word(text)._replace(text=text), ["other", other]) is slip


def test_shares_root_is_four_letters_of_a_longer_word():
    assert shares_root(word("treatable"), features("treatment").roots)
    assert shares_root(word("treatable"), features("treat").roots)
    assert not shares_root(word("form"), features("forms").roots)
    assert not shares_root(word("gtex3000"), frozenset({"gtex"}))


@pytest.mark.parametrize(
    ("text", "common", "rare"),
    [
        ("weather", True, False),
        ("weather-forecast", True, False),
        ("xylotril", False, True),
        ("weather-xylotril", False, True),
        ("weather-3000", False, False),
    ],
)
def test_common_and_rare_words(text, common, rare):
    assert (is_common(word(text)), is_rare(word(text))) == (common, rare)


def test_han_pairs_are_neighbours_across_the_dots_of_names():
    assert han_pairs("abc") == frozenset()
    assert han_pairs("a中国b人民") == {"中国", "人民"}
    for dot in "·・•":
        assert han_pairs(f"让{dot}雷诺") == {"让雷", "雷诺"}


@pytest.mark.parametrize(
    ("text", "rewrite", "is_kept"),
    [
        ("演员表", "演员", True),
        ("演员表", "员表", True),
        ("演员表", "演出表格", False),
        ("泡水", "泡在水里", True),
        ("保修期", "保持期修", False),
        ("岁数", "年龄", True),
        ("price", "cost", True),
        ("price", "weight", False),
        ("wi-fi", "wi fi", True),
    ],
)
def test_retained_knows_related_words(text, rewrite, is_kept):
    assert retained(word(text), features(rewrite)) is is_kept


def test_grounding_holds_messages_entities_and_what_is_given():
    said = grounding(talk("Which phone?", "The Orion of WHO. 中国"), ("Acme Corp",))
    assert all(said.has(word(text)) for text in ("phone", "Orion", "Acme", "中国"))
    assert not said.has(word("Nokia"))
    assert not said.has(word("电影"))
    assert said.acronyms == {"who"}
    assert "中国" in said.pairs
    assert "orio" in said.roots
    assert not grounding(NOTHING).texts
