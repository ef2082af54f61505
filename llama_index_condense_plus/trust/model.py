"""The trust model: named features of a comparison, weighed by a linear model that a person can read."""

from __future__ import annotations

import math
from functools import cache
from pathlib import Path

from llama_index_condense_plus.linear import LinearModel
from llama_index_condense_plus.trust.compare import Comparison, _rarity

WEIGHTS = Path(__file__).parent / "data" / "weights.toml"
MANY = 4
"""So many unsaid words count as one more would."""


@cache
def trust_model() -> LinearModel:
    """Return the model of the package."""
    return LinearModel.load(WEIGHTS)


def features(c: Comparison) -> dict[str, float]:
    """Return what the model weighs, by name; ``data/weights.toml`` explains each.

    Args:
        c: the comparison of a rewrite.
    """
    changes = not c.same
    return {
        "lost_words": 1.0 - c.kept_share,
        "no_words": float(not c.binding),
        "lost_frame": 1.0 - c.frame_kept,
        "no_words_and_lost_frame": float(not c.binding) * (1.0 - c.frame_kept),
        "novelty": c.novelty,
        "unsaid": min(len(c.unsaid), MANY) / MANY,
        "rarity": c.rarity,
        "new_names": min(len(c.new_names), 2) / 2,
        "lost_number": float(bool(c.lost_numbers)),
        "new_number": float(bool(c.new_numbers)),
        "lost_negation": float(c.lost_negation),
        "new_negation": float(c.new_negation),
        "growth": min(1.0, max(0.0, math.log((len(c.rewrite) + 20) / (len(c.message) + 20)) / 3)),
        "reference_left": float(changes and bool(c.references_left)),
        "stopped_asking": float(c.stops_asking),
        "copied": c.copied,
        "from_answer": c.from_answer,
        "lost_name": float(any(t.kind in {"name", "code", "person", "place", "organisation"} for t in c.lost)),
        "other_question": float(c.other_question),
        "added_questions": min(c.added_questions, 2) / 2,
        "unsaid_and_questions": min(c.added_questions, 2) / 2 * min(len(c.unsaid), 2) / 2,
        "kept_nothing": float(c.keeps_nothing),
        "rare": min(2, sum(1 for t in c.unsaid if _rarity(t.text) >= 5)) / 2,
        "more_sentences": float(c.more_sentences),
    }
