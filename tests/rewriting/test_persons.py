from __future__ import annotations

import pytest

from llama_index_condense_plus.rewriting.persons import person_fit
from llama_index_condense_plus.rewriting.standing import Standing
from llama_index_condense_plus.types import Entity


@pytest.mark.parametrize(
    ("name", "kind", "question", "answer"),
    [
        ("Ingrid Vale", "name", "Who directed Silent Harbor?", "Ingrid Vale."),
        ("Dr. Lee", "name", "Is Dr. Lee in?", "Yes."),
        ("Anna", "name", "Where is Anna?", "In Denver."),
        ("金宇澄", "person", "作者是谁？", "金宇澄。"),
    ],
)
def test_person_fit_is_sure_of_persons(name: str, kind: str, question: str, answer: str) -> None:
    assert person_fit(Entity(name, kind), [Standing(question, answer)]) == 1.0


@pytest.mark.parametrize(
    ("name", "kind", "question"),
    [
        ("Orbit", "name", "How heavy is the Orbit tent?"),
        ("Silent Harbor", "name", "Who directed the film Silent Harbor?"),
        ("Cobalt Gym", "name", "What is the refund policy of Cobalt Gym?"),
        ("Brightleaf Dairy", "name", "Who founded Brightleaf Dairy?"),
        ("GTE-3000", "code", "How heavy is the GTE-3000?"),
        ("繁花", "title", "看过《繁花》吗？"),
        ("桂林", "place", "桂林好玩吗？"),
    ],
)
def test_person_fit_knows_things(name: str, kind: str, question: str) -> None:
    assert person_fit(Entity(name, kind), [Standing(question, "Yes.")]) == 0.0
