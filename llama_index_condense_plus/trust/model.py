"""The trust model: named features of a comparison, weighed by a linear model that a person can read."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from llama_index_condense_plus.linear import LinearModel
from llama_index_condense_plus.trust.compare import Comparison

WEIGHTS = Path(__file__).parent / "data" / "weights.toml"
UNHEARD = 0.5
"""What an unsaid word counts where the conversation holds no answers: it may stand in one of them."""
TELLING = -0.5
"""A feature that lowers the logit by this much or more is named as a reason."""
SHOWN = 6
"""Words that a reason shows."""


@cache
def trust_model() -> LinearModel:
    """Return the model of the package."""
    return LinearModel.load(WEIGHTS)


def features(c: Comparison) -> dict[str, float]:
    """Return what the model weighs, by name, each from 0 to 1; ``data/weights.toml`` explains them.

    Args:
        c: the comparison of a rewrite.
    """
    heard = 1.0 if c.knows_answers else UNHEARD
    return {
        "kept_nothing": float(c.keeps_nothing),
        "lost_number": float(bool(c.lost_numbers)),
        "lost_negation": float(c.lost_negation),
        "new_negation": float(c.new_negation),
        "new_number": float(bool(c.new_numbers)) * heard,
        "new_names": min(len(c.new_names), 2) / 2 * heard,
        "rarity": c.rarity * heard,
        "added_unsaid": len(c.unsaid) / len(c.added) * heard if c.added else 0.0,
        "added_questions": min(c.added_questions, 2) / 2,
        "answer_words": len(c.answer_words) / len(c.written.content) if c.answer_words else 0.0,
        "answer_question": float(bool(c.answer_words and c.added_questions)),
    }


def doubts(c: Comparison, weighed: Mapping[str, float], model: LinearModel) -> str:
    """Return why a rewrite is doubted, in words for a reader: what lowers the trust most comes first."""
    weight = {name: model.weights.get(name, 0.0) * value for name, value in weighed.items()}
    telling = [name for name in sorted(weight, key=weight.__getitem__) if weight[name] <= TELLING]
    unsaid = "nobody said " + ", ".join(token.text for token in c.unsaid[:SHOWN])
    words = {
        "kept_nothing": "nothing of the message is left",
        "lost_number": "lost " + ", ".join(c.lost_numbers[:SHOWN]),
        "lost_negation": "lost a negation",
        "new_negation": "a negation that nobody used",
        "new_number": "nobody said " + ", ".join(c.new_numbers[:SHOWN]),
        "answer_words": "only an answer says " + ", ".join(token.text for token in c.answer_words[:SHOWN]),
        "answer_question": "asks something else",
        "added_questions": "asks something else",
    }
    return "; ".join(dict.fromkeys(words.get(name, unsaid) for name in telling)) or "much changed"
