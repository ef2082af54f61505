"""Folding and tokenising: the quick ways say what the plain ones say."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llama_index_condense_plus.lexicons.text import fold, simplify, tokenize

MIXED = st.text(
    st.sampled_from("它的門票價錢多少，？！（ＡＢ１）～…·《》 \n\tab1.-'’éßﬁ①가は\ud800\u0301𠁞"), max_size=40
)


@given(MIXED | st.text(max_size=40))
@settings(deadline=None)
def test_fold_is_compatibility_form_simplified_and_without_case(text: str) -> None:
    assert fold(text) == simplify(unicodedata.normalize("NFKC", text)).casefold()


@given(MIXED | st.text(max_size=40))
@settings(deadline=None)
def test_tokens_are_all_that_is_written_in_order(text: str) -> None:
    tokens = tokenize(text)
    assert [text[token.start : token.start + len(token.text)] for token in tokens] == [token.text for token in tokens]
    assert "".join(token.text for token in tokens) == "".join(text.split())


@pytest.mark.parametrize(
    ("first", "second"), [("我去过北京", "天安门在哪"), ("這家", "飯店多少錢"), ("谢谢", "还有别的吗")]
)
@pytest.mark.parametrize("between", ["，", " ", "API v2", "\n"])
def test_stretches_of_chinese_are_cut_each_by_itself(first: str, second: str, between: str) -> None:
    shift = len(first + between)
    alone = [(token.text, token.start, token.pos) for token in tokenize(first)]
    alone += [(token.text, token.start + len(first), token.pos) for token in tokenize(between)]
    alone += [(token.text, token.start + shift, token.pos) for token in tokenize(second)]
    assert [tuple(token) for token in tokenize(first + between + second)] == alone


@pytest.mark.parametrize(
    ("piece", "tag"), [("price", "eng"), ("2024", "m"), ("GTE-3000", "eng"), ("3D", "eng"), ("?", "x"), ("Ж", "x")]
)
def test_pieces_that_are_not_chinese_are_tagged_by_their_characters(piece: str, tag: str) -> None:
    assert [token.pos for token in tokenize(piece)] == [tag]


def test_simplify_keeps_what_is_simplified_already() -> None:
    assert simplify("價格 price 价格") == "价格 price 价格"
