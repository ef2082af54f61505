"""The trust model: named features of a comparison, weighed by a linear model that a person can read."""

from __future__ import annotations

import math
from functools import cache
from pathlib import Path

from llama_index_condense_plus.languages.text import fold
from llama_index_condense_plus.linear import LinearModel
from llama_index_condense_plus.trust.compare import NAMING, RARE, Comparison, _rarity

WEIGHTS = Path(__file__).parent / "data" / "weights.toml"
UNHEARD = 0.5
"""What an unsaid word counts where the conversation holds no answers: it may stand in one of them."""


@cache
def trust_model() -> LinearModel:
    """Return the model of the package."""
    return LinearModel.load(WEIGHTS)


def features(c: Comparison) -> dict[str, float]:
    """Return what the model weighs, by name; ``data/weights.toml`` explains each.

    Args:
        c: the comparison of a rewrite.
    """
    heard = 1.0 if c.knows_answers else UNHEARD
    return {
        "lost_words": 1.0 - c.kept_share,
        "lost_name": float(any(token.kind in NAMING for token in c.lost)),
        "lost_number": float(bool(c.lost_numbers)),
        "lost_negation": float(c.lost_negation),
        "kept_nothing": float(c.keeps_nothing),
        "rarity": c.rarity * heard,
        "added_unsaid": len(c.unsaid) / len(c.added) * heard if c.added else 0.0,
        "novelty": c.novelty * heard,
        "new_names": min(len(c.new_names), 2) / 2 * heard,
        "new_number": float(bool(c.new_numbers)) * heard,
        "new_negation": float(c.new_negation),
        "added_questions": min(c.added_questions, 2) / 2,
        "unsaid_question": float(bool(c.unsaid and c.added_questions)),
        "other_chat": float(not c.binding) * (1.0 - c.frame_kept),
        "small_talk": float(c.is_small_talk and bool(c.added)),
        "growth": min(1.0, max(0.0, math.log((len(c.rewrite) + 20) / (len(c.message) + 20)) / 3)),
        "reference_left": float(not c.same and bool(c.references_left)),
    }
