"""Fragments: what a follow-up names, and how it is led to."""

from __future__ import annotations

import pytest

from llama_index_condense_plus.rewriting.fragments import fragment


@pytest.mark.parametrize(
    ("message", "found"),
    [
        ("上海呢？", ("上海", "", "", False)),
        ("那上海呢", ("上海", "", "", False)),
        ("换成临时的呢", ("临时", "", "", True)),
        ("对于学生呢？", ("学生", "", "", False)),
        ("不收费呢", None),
        ("上海怎么样呢", None),
        ("那北京的大学呢", ("北京的大学", "", "", False)),
        ("十天呢？", ("十天", "", "", False)),
        ("四驱版呢", ("四驱版", "", "", False)),
        ("宝马5系呢", ("宝马5系", "", "", False)),
        ("那么，女士们呢", ("女士们", "", "", False)),
        ("上海", None),
        ("上海？", ("上海", "", "", False)),
        ("and the Pro?", ("Pro", "", "the", False)),
        ("What about Rome?", ("Rome", "", "", False)),
        ("how about in the winter", ("winter", "in", "the", False)),
        ("and for my kids?", ("kids", "for", "my", False)),
        ("the red ones?", ("red", "", "the", True)),
        ("a yearly one?", ("yearly", "", "a", True)),
        ("same for Berlin", ("Berlin", "", "", False)),
        ("Rome", None),
        ("but what is it?", None),
        ("or with two big old red lamps here?", None),
        ("late payment?", ("late payment", "", "", False)),
        ("So, ok, the USB?", ("USB", "", "the", False)),
        ("and the second one?", None),
        ("In Rome?", ("Rome", "in", "", False)),
        ("a very yearly one", None),
        ("and Orsay museum?", ("Orsay museum", "", "", False)),
    ],
)
def test_fragment_is_the_words_their_lead_and_whether_they_only_qualify(message, found):
    made = fragment(message)
    assert (made and (made.new, made.preposition, made.article, made.modifier)) == found


@pytest.mark.parametrize(
    ("message", "opens", "asked", "named", "proper"),
    [
        ("and the Pro?", False, False, True, True),
        ("What about Rome?", False, True, True, True),
        ("how about in the winter", False, True, False, False),
        ("and for my kids?", False, False, False, False),
        ("the red ones?", False, False, False, False),
        ("a yearly one?", False, False, False, False),
        ("same for Berlin", False, True, True, True),
        ("late payment?", True, False, False, False),
        ("So, ok, the USB?", False, False, True, True),
        ("In Rome?", False, False, True, True),
        ("and Orsay museum?", False, False, False, True),
    ],
)
def test_fragment_tells_names_from_words(message, opens, asked, named, proper):
    made = fragment(message)
    assert made is not None
    assert (made.opens, made.asked, made.named, made.proper) == (opens, asked, named, proper)
