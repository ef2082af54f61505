"""Attributing each failure to the one stage that caused it."""

from __future__ import annotations

from enum import Enum

from llama_index_condense_plus.evaluation.cases import Case
from llama_index_condense_plus.evaluation.matching import is_correct
from llama_index_condense_plus.evaluation.metrics.ranking import hit
from llama_index_condense_plus.evaluation.outcome import Outcome


class Stage(str, Enum):
    """Where a case went wrong, in the order of a turn."""

    RIGHT = "right"
    ENGINE_FAILED = "engine failed"
    GATE_MISSED = "gate missed"
    GUARD_REJECTED = "guard rejected a good rewrite"
    REWRITE_WRONG = "rewrite wrong"
    NOT_FOUND = "query right, passage not found"
    NOT_FINDABLE = "passage not found by the accepted rewrite either"
    LOST = "found, lost in fusion or reranking"


def stage_of(case: Case, outcome: Outcome, k: int) -> Stage:
    """Return the first stage that went wrong, or ``RIGHT``.

    Args:
        case: what was asked for.
        outcome: what the engine did.
        k: depth at which a passage counts as found.
    """
    if outcome.error or not outcome.query:
        return Stage.ENGINE_FAILED
    if is_labelled(case) and not is_correct(case, outcome.query):
        return _rewriting_stage(case, outcome)
    if not case.gold or not outcome.lists or hit(outcome.nodes, case.gold, k):
        return Stage.RIGHT
    if any(hit(ids, case.gold, k) for _, ids in outcome.lists):
        return Stage.LOST
    return Stage.NOT_FOUND if hit(outcome.ideal, case.gold, k) else Stage.NOT_FINDABLE


def _rewriting_stage(case: Case, outcome: Outcome) -> Stage:
    if case.needs_rewrite and not outcome.rewrite_asked:
        return Stage.GATE_MISSED
    if any(not accepted and is_correct(case, query) for query, accepted in outcome.attempts):
        return Stage.GUARD_REJECTED
    return Stage.REWRITE_WRONG


def is_labelled(case: Case) -> bool:
    """Return True if it is known what a right query looks like."""
    return bool(case.accepted_rewrites or case.must_contain)
