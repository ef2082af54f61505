"""Small cases and outcomes for the tests of the evaluation."""

from __future__ import annotations

from typing import Any

from llama_index_condense_plus.evaluation.cases import Case, Dataset, Message, Outcome, Passage

HISTORY = (Message("user", "How long is the warranty of the GTE-3000?"), Message("assistant", "Two years."))
PASSAGES = (
    Passage("price", "The GTE-3000 costs 399 dollars.", "GTE-3000 price"),
    Passage("other", "The GTE-2000 costs 199 dollars.", "GTE-2000 price"),
    Passage("warranty", "The GTE-3000 has a warranty of two years.", "GTE-3000 warranty"),
)


def case(**changes: Any) -> Case:
    values: dict[str, Any] = {
        "id": "c1",
        "lang": "en",
        "category": "ellipsis",
        "history": HISTORY,
        "question": "And the price?",
        "accepted_rewrites": ("What is the price of the GTE-3000?",),
        "must_contain": ("GTE-3000", "price|cost"),
        "must_not_contain": ("GTE-2000",),
        "needs_rewrite": True,
        "gold": ("price",),
    }
    return Case(**(values | changes))


def complete(**changes: Any) -> Case:
    values: dict[str, Any] = {
        "id": "c2",
        "category": "complete",
        "question": "What is the price of the GTE-2000?",
        "accepted_rewrites": ("What is the price of the GTE-2000?",),
        "must_contain": ("GTE-2000", "price"),
        "must_not_contain": ("GTE-3000",),
        "needs_rewrite": False,
        "gold": ("other",),
    }
    return case(**(values | changes))


def outcome(**changes: Any) -> Outcome:
    values: dict[str, Any] = {
        "case_id": "c1",
        "query": "What is the price of the GTE-3000?",
        "rewrite_asked": True,
        "rewriter": "rules",
        "attempts": (("What is the price of the GTE-3000?", "trusted"),),
        "lists": (("What is the price of the GTE-3000?", ("price", "other")),),
        "nodes": ("price", "other"),
        "latency_s": 0.01,
    }
    return Outcome(**(values | changes))


DATASET = Dataset("small", (case(), complete()), PASSAGES)
