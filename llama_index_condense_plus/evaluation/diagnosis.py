"""The four questions to ask of a follow-up that finds nothing, answered from its trace."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from llama_index.core.schema import NodeWithScore

from llama_index_condense_plus.languages import pack_of
from llama_index_condense_plus.observability.trace import CondenseTrace

QUESTIONS = ("self_contained", "pronoun_left", "subject_missing", "by_hand_finds_more")
"""The questions in the order to ask them: the first three of the words searched, the last of a person's."""
AS_TYPED = "original"
"""The rewriter's name where a rewrite was wanted, and nobody gave one."""


@dataclass(frozen=True, slots=True)
class Answer:
    """One question, answered."""

    question: str
    """One of ``QUESTIONS``."""
    answer: bool | None
    """Yes, no, or None: nobody tried it."""
    evidence: tuple[str, ...] = ()
    """The words that decide: pronouns left, names carried, passages that only the question by hand finds."""

    @property
    def good(self) -> bool | None:
        """Whether the answer is the one to hope for; None if it is open."""
        return None if self.answer is None else self.answer is (self.question == "self_contained")


def diagnose(trace: CondenseTrace, by_hand: Sequence[NodeWithScore] | None = None) -> tuple[Answer, ...]:
    """Return whether what was searched was good enough to find something, and what a person's question changes.

    Args:
        trace: the turn, from ``engine.explain`` or ``engine.last_trace``.
        by_hand: what the question completed by hand finds; None: it was not searched.
    """
    query = trace.search_query
    words = pack_of(query).content_words(query)
    known = set(pack_of(trace.message).content_words(trace.message))
    left = tuple(reference.text for reference in pack_of(query).references(query)) if trace.window else ()
    about = tuple(dict.fromkeys(word for word in words if word not in known)) or _names(query)
    asked = trace.decision.rewrite
    unhelped = asked and trace.rewrite.rewriter == AS_TYPED
    missing = bool(trace.window) and not about and (unhelped or left != () or not words)
    whole = not left and not missing
    found = {node.node.node_id for node in trace.nodes}
    more = None if by_hand is None else tuple(n.node.node_id for n in by_hand if n.node.node_id not in found)
    return (
        Answer("self_contained", whole, () if whole else (trace.decision.reason.value,)),
        Answer("pronoun_left", bool(left), left),
        Answer("subject_missing", missing, about),
        Answer("by_hand_finds_more", None if more is None else bool(more), more or ()),
    )


def _names(query: str) -> tuple[str, ...]:
    kinds = ("person", "place", "organisation", "name", "code")
    return tuple(token.text for token in pack_of(query).tokenize(query) if token.kind in kinds)
