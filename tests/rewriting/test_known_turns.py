"""Known turns keep their decision, their weight and their rewrite, to the word: whoever changes one is to mean it."""

from __future__ import annotations

import pytest

from tests.rewriting.known_turns import Turn, known, made

TURNS = tuple(known())


@pytest.mark.parametrize("turn", TURNS, ids=[turn.message for turn in TURNS])
def test_known_turn_stays_as_it_is(turn: Turn) -> None:
    today = made(turn.history, turn.message)
    assert today.reason == turn.reason
    assert today.logit == pytest.approx(turn.logit, abs=0.01)  # the weights fit features that are found exactly so
    assert today.cues == turn.cues
    assert turn.names is None or today.names == turn.names
    assert turn.query is None or today.query == turn.query
