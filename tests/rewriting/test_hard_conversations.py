from __future__ import annotations

import pytest

from tests.rewriting.hard_cases import hard_cases, rejected_by_guards, right_by_kind

FLOORS = {
    "hard_conversations": {
        "substitution": 13,
        "person": 8,
        "contentless": 8,
        "topic": 6,
        "list": 8,
        "superlative": 6,
        "reversal": 6,
        "back_reference": 6,
        "names": 7,
        "injection": 4,
        "join": 3,
    },
    "held_out_conversations": {
        "substitution": 7,
        "person": 4,
        "contentless": 5,
        "topic": 3,
        "list": 3,
        "superlative": 2,
        "reversal": 2,
        "back_reference": 2,
        "names": 4,
        "injection": 1,
        "join": 1,
    },
    "further_conversations": {
        "substitution": 19,
        "time": 3,
        "list": 2,
        "topic": 6,
        "preposition": 2,
        "join": 4,
        "condition": 4,
        "courtesy": 2,
        "names": 4,
    },
    "later_conversations": {
        "substitution": 45,
        "time": 9,
        "list": 6,
        "topic": 14,
        "preposition": 7,
        "join": 7,
        "condition": 10,
        "courtesy": 6,
        "names": 8,
    },
}
"""Right rewrites of each kind that were reached; a change that loses one is no improvement of that kind.

The held-out floors are what the rules reached when those cases were first asked. The further conversations were written
before the kinds of place in the last question were told apart (16 of 47 right then), the later ones after most of that
(45 of 113 before, 91 when they were first asked).
"""
VARIED = ("reversal", "contentless", "substitution", "time", "preposition", "condition", "courtesy")
"""Kinds that repeat the last question but for a word: as a model's output the guards take that for a repetition."""


@pytest.mark.parametrize(("name", "kind"), [(name, kind) for name, kinds in FLOORS.items() for kind in kinds])
def test_rules_keep_what_they_reach(name: str, kind: str) -> None:
    right, _ = right_by_kind(hard_cases(name))[kind]
    assert right >= FLOORS[name][kind]


def test_guards_accept_what_the_rules_make() -> None:
    cases = [case for name in FLOORS for case in hard_cases(name) if case.kind not in VARIED]
    assert len(rejected_by_guards(cases)) <= 4
