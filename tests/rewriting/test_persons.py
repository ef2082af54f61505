from __future__ import annotations

import pytest

from llama_index_condense_plus.rewriting.persons import looks_like_person, names_a_person, person_fit
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


@pytest.mark.parametrize(
    ("text", "person"),
    [
        ("我女儿能去吗", True),
        ("咱们的老师呢", True),
        ("我的价格", False),
        ("他女儿", False),
        ("my boss is here", True),
        ("our old teacher", True),
        ("a doctor said", True),
        ("the doctor", False),
        ("her boss", False),
        ("我們的老師", True),
    ],
)
def test_a_text_brings_in_a_person_of_its_own(text, person):
    assert names_a_person(text) is person


@pytest.mark.parametrize(
    ("name", "person"),
    [
        ("周杰伦", True),
        ("银行卡", False),
        ("李白", True),
        ("莎士比亚", True),
        ("J·K", True),
        ("Tom", True),
        ("桌子", False),
    ],
)
def test_names_that_look_like_persons(name, person):
    assert looks_like_person(name) is person


def test_a_name_with_a_number_is_no_person():
    assert person_fit(Entity("张三", "person", 0), [Standing("张三是谁？", "")]) > 0
    assert person_fit(Entity("张3", "person", 0), [Standing("张3是谁？", "")]) == 0
