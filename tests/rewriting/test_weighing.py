"""Weighing what may be meant: parts of names, kinds that fit, and what is equally likely."""

from __future__ import annotations

import pytest

from llama_index_condense_plus.rewriting.standing import Standing
from llama_index_condense_plus.rewriting.weighing import ambiguous, fitting, is_part, picked, tied
from llama_index_condense_plus.types import Entity


def ranked(*candidates: tuple[str, str, float]) -> list[tuple[Entity, float]]:
    return [(Entity(name, kind, 0), score) for name, kind, score in candidates]


@pytest.mark.parametrize(
    ("name", "whole", "part"),
    [
        ("宁德", "宁德时代", True),
        ("北京", "北京站", True),
        ("北京", "北京大学图书馆", False),  # much longer
        ("活着", "活着的", False),
        ("Basic", "Home Basic", True),
        ("Apple", "Apple Watch", True),
        ("Basic", "Basics", False),
        ("Basic", "The very big Home Basic plan of all", False),
        ("GTE", "GTE", False),
    ],
)
def test_is_part_of_a_little_longer_phrase(name, whole, part):
    assert is_part(Entity(name, "name", 0), whole) is part
    assert is_part(Entity(name, "title", 0), whole) is False


def test_picked_is_the_first_and_the_second_if_it_is_close():
    assert picked(ranked(("a", "name", 1.0), ("b", "name", 0.9))) == ["a", "b"]
    assert picked(ranked(("a", "name", 1.0), ("b", "name", 0.2))) == ["a"]
    assert picked(ranked(("a", "name", 1.0))) == ["a"]
    assert picked(ranked(("a", "name", 1.0), ("a", "code", 1.0))) == ["a"]


def test_tied_are_two_different_names_of_one_weight():
    assert tied(ranked(("a", "name", 1.0), ("b", "name", 1.0)))
    assert not tied(ranked(("a", "name", 1.0), ("b", "name", 0.5)))
    assert not tied(ranked(("a", "name", 1.0), ("a", "name", 1.0)))
    assert not tied(ranked(("a", "name", 1.0)))


def test_ambiguous_names_those_that_are_equally_likely():
    outcome = ambiguous(ranked(("a", "name", 1.0), ("b", "name", 1.0), ("c", "name", 0.1)))
    assert (outcome.text, outcome.ambiguous, outcome.candidates) == (None, True, ("a", "b"))


def test_fitting_weighs_each_kind_for_what_is_pointed_at():
    candidates = ranked(
        ("a", "term", 1.0), ("Berlin", "place", 0.9), ("Acme", "organisation", 0.8), ("Bo", "person", 0.7),
        ("T", "title", 0.6), ("c1", "code", 0.5),
    )  # fmt: skip
    found = [(one.text, round(score, 3)) for one, score in fitting(candidates, "place", [Standing("x?", "")])]
    assert found == [("a", 1.0), ("Berlin", 0.9), ("Acme", 0.8), ("T", 0.24), ("Bo", 0.21), ("c1", 0.1)]
    things = [(one.text, round(score, 3)) for one, score in fitting(candidates[:2], "thing", [Standing("x?", "")])]
    assert things == [("a", 1.0), ("Berlin", 0.63)]


def test_fitting_leaves_out_what_cannot_be_a_person():
    candidates = ranked(("手机", "term", 1.0), ("张三", "person", 0.9))
    assert [one.text for one, _ in fitting(candidates, "person", [Standing("张三是谁？", "")])] == ["张三"]
