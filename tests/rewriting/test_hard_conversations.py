from __future__ import annotations

import pytest

from tests.rewriting.hard_cases import hard_cases, rejected_by_guards, right_by_kind

FLOORS = {
    "substitution": 2,
    "person": 3,
    "contentless": 0,
    "topic": 2,
    "list": 1,
    "superlative": 1,
    "reversal": 0,
    "back_reference": 0,
    "names": 1,
    "injection": 2,
    "join": 2,
}
"""Right rewrites of each kind that were reached; a change that loses one is no improvement of that kind."""


@pytest.mark.parametrize("kind", FLOORS)
def test_rules_keep_what_they_reach(kind: str) -> None:
    right, _ = right_by_kind(hard_cases("hard_conversations"))[kind]
    assert right >= FLOORS[kind]


def test_guards_accept_what_the_rules_make() -> None:
    assert len(rejected_by_guards(hard_cases("hard_conversations"))) <= 1
