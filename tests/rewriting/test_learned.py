"""The linear gate: what it remembers changes no score."""

from __future__ import annotations

import math

import pytest

from llama_index_condense_plus.rewriting import feature_names
from llama_index_condense_plus.rewriting.feature_names import Found
from llama_index_condense_plus.rewriting.learned import LinearModel, Scorer

PART = (feature_names.before, "f", "", True, False)
MODEL = LinearModel({"en": {"": 0.5, "pe:fA": -2.0, "1:price": 0.25, "2:the price": 1.0}})


def logit(score: float) -> float:
    return math.log(score / (1 - score))


def test_score_is_the_model_s_sum() -> None:
    found = Found([PART], ["1:price", "2:the price", "5:a b c"])
    scorer = Scorer(MODEL)
    for _ in range(2):
        assert logit(scorer.score("en", found)) == pytest.approx(MODEL.sum("en", found.names())) == -0.25


def test_score_of_a_language_without_weights_is_undecided() -> None:
    assert Scorer(MODEL).score("zh", Found([PART], ["1:price"])) == 0.5


def test_score_of_nothing_is_the_language_s_own() -> None:
    assert logit(Scorer(MODEL).score("en", Found([], []))) == pytest.approx(0.5)


def test_wording_names_each_word_and_its_neighbours_once() -> None:
    found = feature_names.wording(["opener"], ["ok"], ["what", "C0", "C0"], ["what", "C", "C"])
    assert found == [
        "c:opener", "p:ok", "1:what", "1:C0", "1:>", "2:< what", "2:what C0", "2:C0 C0", "2:C0 >", "4:< what",
        "4:what C", "4:C C", "4:C >", "5:< what C", "5:what C C", "5:C C >", "6:< what C C", "7:C C >",
    ]  # fmt: skip


def test_content_of_both_is_named_for_both() -> None:
    both = feature_names.content((feature_names.MESSAGE, feature_names.CLAUSE), "c0", 2)
    assert both == ("m:c0", "m:c0+", "k:c0", "k:c0+")
