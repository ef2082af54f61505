"""The rules' score: in steps, by the strength of the cues and whether the message is complete."""

from __future__ import annotations

import pytest

from llama_index_condense_plus.rewriting.heuristic import rule_score
from llama_index_condense_plus.types import Cue


@pytest.mark.parametrize(
    ("cues", "complete", "score"),
    [
        ((), True, 0.1),
        ((), False, 0.6),
        (("opener",), True, 0.3),
        (("opener",), False, 0.8),
        (("pronoun",), True, 0.1),
        (("slot_filling",), True, 0.9),
        (("opener", "back_reference"), False, 0.9),
    ],
)
def test_rule_score_rises_with_the_strength_of_the_cues(cues, complete, score):
    assert rule_score([Cue(name, "x", 0) for name in cues], complete=complete) == score
