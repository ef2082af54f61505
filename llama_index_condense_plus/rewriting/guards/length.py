"""Guard: a rewrite that is too long to be a question."""

from __future__ import annotations

from llama_index_condense_plus.rewriting.guards.limits import Limits
from llama_index_condense_plus.types import GuardVerdict, HistoryWindow


class LengthGuard:
    """Length in characters, absolute and against the question's.

    Args:
        limits: the profile's figures.
    """

    name = "length"

    def __init__(self, limits: Limits) -> None:
        self._limits = limits

    def check(self, original: str, rewrite: str, window: HistoryWindow) -> list[GuardVerdict]:  # noqa: ARG002
        """Return one verdict."""
        limits = self._limits
        grown = max(limits.growth_free_chars, limits.max_growth * len(original))
        limit = min(float(limits.max_chars), grown)
        return [GuardVerdict(self.name, len(rewrite) <= limit, "reject", float(len(rewrite)), limit)]
