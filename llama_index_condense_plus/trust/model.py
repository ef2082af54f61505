"""The trust model: named features of a comparison, weighed by a linear model that a person can read."""

from __future__ import annotations

import math
from functools import cache
from pathlib import Path

from llama_index_condense_plus.linear import LinearModel
from llama_index_condense_plus.trust.compare import Comparison

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
    shift = c.negation_shift
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
        "lost_negation": float(shift < 0),
        "new_negation": float(shift > 0),
        "growth": min(1.0, max(0.0, math.log((len(c.rewrite) + 20) / (len(c.message) + 20)) / 3)),
        "reference_left": float(changes and bool(c.references_left)),
        "stopped_asking": float(c.stops_asking),
        "copied": c.copied_share,
        "from_answer": c.from_answer,
        "lost_name": float(any(t.kind in {"name", "code", "person", "place", "organisation"} for t in c.lost)),
        "other_question": float(c.other_question),
        "more_sentences": float(c.more_sentences),
    }
