"""What the figures mean, in the order in which a reader wants them."""

from __future__ import annotations

from collections.abc import Iterable

MEANINGS: dict[str, tuple[str, str]] = {
    "rewrite_accuracy": (
        "Rewriting",
        "an accepted rewrite was searched, or one that holds all it must and no more",
    ),
    "accuracy_where_needed": ("Rewriting", "the same, of follow-ups that cannot be searched as typed"),
    "accuracy_where_not_needed": ("Rewriting", "the same, of questions that must stay as they are"),
    "unresolved_reference_rate": ("Rewriting", "a pronoun is left in what was searched; less is better"),
    "restoration_f1": ("Rewriting", "F1 of the words that the rewrite had to add"),
    "exact_match": ("Rewriting", "equal to an accepted rewrite"),
    "rouge_l": ("Rewriting", "ROUGE-L F1 against the accepted rewrites"),
    "bleu_zh": ("Rewriting", "BLEU, Chinese by characters"),
    "bleu_en": ("Rewriting", "BLEU, English"),
    "gate_recall": ("Gate", "follow-ups for which a rewrite was asked"),
    "gate_skip": ("Gate", "complete questions left alone, first turns aside"),
    "gate_precision": ("Gate", "rewrites asked for that were needed"),
    "llm_calls_saved": ("Gate", "turns without the rewrite that the stock engine asks for each time"),
    "hit@": ("Retrieval", "a right passage is among the first"),
    "recall@": ("Retrieval", "share of the right passages among the first"),
    "mrr@": ("Retrieval", "reciprocal rank of the first right passage"),
    "ndcg@": ("Retrieval", "normalised discounted cumulative gain"),
    "hit@_where_rewrite_right": ("Retrieval", "the same, where what was searched is right"),
    "hit@_of_accepted_rewrite": ("Retrieval", "what the best accepted rewrite finds: a ceiling"),
    "faithfulness": ("Answers", "answers that the passages bear out"),
    "failed_rate": ("Cost", "cases in which the engine raised; they count as zero above; less is better"),
    "latency_p50_s": ("Cost", "median seconds of a turn, without the answer"),
    "latency_p95_s": ("Cost", "95th percentile of the seconds"),
    "llm_calls": ("Cost", "calls of a language model in all"),
    "prompt_tokens": ("Cost", "prompt tokens in all"),
    "completion_tokens": ("Cost", "completion tokens in all"),
}
"""Figure → its group, and what it says. The depth after ``@`` is left out."""
HEADLINES = ("rewrite_accuracy", "hit@1", "gate_recall", "gate_skip", "llm_calls_saved")
"""The figures to look at first."""


def meaning(figure: str) -> tuple[str, str]:
    """Return a figure's group and meaning; an unknown one is in the group ``Other``."""
    return MEANINGS.get(_key(figure), ("Other", ""))


def in_order(figures: Iterable[str]) -> list[str]:
    """Return figures in the order of ``MEANINGS``, unknown ones last."""
    places = {key: place for place, key in enumerate(MEANINGS)}
    return sorted(dict.fromkeys(figures), key=lambda name: (places.get(_key(name), len(places)), name))


def _key(figure: str) -> str:
    name, at, rest = figure.partition("@")
    return f"{name}{at}{rest.lstrip('0123456789')}"
