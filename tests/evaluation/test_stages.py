from __future__ import annotations

from typing import Any

import pytest

from llama_index_condense_plus.evaluation.stages import Stage, stage_of
from tests.evaluation.data import case, complete, outcome

WRONG = "What is the weight?"
RIGHT = "What is the price of the GTE-3000?"


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, Stage.RIGHT),
        ({"error": "ValueError: x", "query": ""}, Stage.ENGINE_FAILED),
        ({"query": "And the price?", "rewrite_asked": False, "attempts": ()}, Stage.GATE_MISSED),
        ({"query": WRONG, "attempts": ((WRONG, True),)}, Stage.REWRITE_WRONG),
        ({"query": "And the price?", "attempts": ((RIGHT, False),)}, Stage.GUARD_REJECTED),
        ({"lists": ((RIGHT, ("other",)),), "nodes": ("other",)}, Stage.NOT_FOUND),
        ({"lists": ((RIGHT, ("other",)),), "nodes": ("other",), "ideal": ("other",)}, Stage.NOT_FINDABLE),
        ({"nodes": ("other",)}, Stage.LOST),
        ({"nodes": ("a", "b", "c", "price")}, Stage.LOST),
        ({"lists": (), "nodes": ()}, Stage.RIGHT),
    ],
)
def test_stage_of_names_the_first_stage_that_went_wrong(changes: dict[str, Any], expected: Stage) -> None:
    assert stage_of(case(), outcome(**changes), 3) is expected


def test_stage_of_a_spoiled_complete_question_is_the_rewrite() -> None:
    spoiled = outcome(case_id="c2", query="What is the price of the GTE-3000 and the GTE-2000?")
    assert stage_of(complete(), spoiled, 3) is Stage.REWRITE_WRONG


def test_stage_of_an_unlabelled_case_looks_at_retrieval_only() -> None:
    bare = case(accepted_rewrites=(), must_contain=())
    assert stage_of(bare, outcome(query="anything"), 3) is Stage.RIGHT
    assert stage_of(bare, outcome(query="anything", nodes=("other",)), 3) is Stage.LOST
