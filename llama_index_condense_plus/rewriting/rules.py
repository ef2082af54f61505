"""Rewriting without a model: the salient entity for a pronoun, the topic for an ellipsis."""

from __future__ import annotations

import re

from llama_index_condense_plus.languages.text import fold, has_han
from llama_index_condense_plus.operations import Flow, Rewritten, RuleOutcome
from llama_index_condense_plus.protocols import EntityExtractor
from llama_index_condense_plus.rewriting.entities import DefaultEntityExtractor
from llama_index_condense_plus.rewriting.salience import rank_entities
from llama_index_condense_plus.types import Entity, HistoryWindow, RewriteRequest

CLEAR_LEAD = 1.5
"""An entity this many times as salient as the next stands alone; else both are searched."""
_CLAUSE = re.compile(r"[，,。.!！;；\n]+(?!\d)")
_ASKS = re.compile(r"什么|谁|哪|几|多少|多大|多久|多长|多高|怎|如何|为何|吗|呢|么|吧|？|\?")


def asking_clause(text: str) -> str:
    """Return the clause that asks, for people often answer first; the whole text if it is one clause."""
    clauses = [c.strip() for c in _CLAUSE.split(text) if c.strip()]
    asking = [c for c in clauses if _ASKS.search(c)]
    return (asking or clauses or [text])[-1]


def topic_query(window: HistoryWindow, message: str, extractor: EntityExtractor | None = None) -> str | None:
    """Return the most salient entity with the clause that asks; None without an entity that is not in the message."""
    folded = fold(message)
    for entity, _ in rank_entities(window, extractor or DefaultEntityExtractor()):
        if entity.kind not in ("term", "number") and fold(entity.text) not in folded:
            return f"{entity.text} {asking_clause(message)}"
    return None


class RuleRewriter:
    """Rewrites with rules alone.

    Args:
        extractor: finds the entities; default ``DefaultEntityExtractor``.
    """

    name = "rules"

    def __init__(self, extractor: EntityExtractor | None = None) -> None:
        self._extractor = extractor or DefaultEntityExtractor()

    def outcome(self, request: RewriteRequest) -> RuleOutcome:
        """Return the rewrite, or why there is none."""
        folded = fold(request.message)
        ranked = [(e, s) for e, s in rank_entities(request.window, self._extractor) if fold(e.text) not in folded]
        named: list[tuple[Entity, float]] = [p for p in ranked if p[0].kind not in ("term", "number")] or ranked
        if not named:
            return RuleOutcome(None)
        clause = asking_clause(request.message)
        top = [named[0][0].text]
        if len(named) > 1 and named[0][1] <= CLEAR_LEAD * named[1][1]:
            top.append(named[1][0].text)
        glue = " " if has_han(request.message) else ": "
        return RuleOutcome(" ".join(top) + glue + clause)

    def rewrite(self, request: RewriteRequest) -> Flow[Rewritten]:
        """Return the outcome; asks for nothing."""
        yield from ()
        return self.outcome(request)
