"""Additional queries of a plan."""

from __future__ import annotations

from llama_index_condense_plus.operations import Flow
from llama_index_condense_plus.settings import CondensePlusSettings
from llama_index_condense_plus.types import HistoryWindow, QueryPlan, RewriteResult


def expand(
    plan: QueryPlan, result: RewriteResult, window: HistoryWindow, settings: CondensePlusSettings
) -> Flow[QueryPlan]:
    """Return the plan with its variants."""
    yield from ()
    return plan
