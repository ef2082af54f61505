"""What the profiles mean in figures."""

from __future__ import annotations

from dataclasses import dataclass

from llama_index_condense_plus.settings.sections import GuardsSettings


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one profile."""

    min_retention: float
    """Least share of the question's content words that survive, 0 to 1."""
    max_novelty: float
    """Most content words found nowhere, as a share of the rewrite's, 0 to 1."""
    max_new_names: int
    """Most names that nobody mentioned."""
    max_chars: int
    """Longest rewrite in characters."""
    max_growth: float
    """Longest rewrite as a multiple of the question's length."""
    growth_free_chars: int
    """Rewrites up to this many characters may grow freely."""
    expansion: bool = False
    """True: keyword lists and words of the model's own are welcome."""
    whole: bool = False
    """True: the whole question must survive, not only its asking clause."""


def limits_for(settings: GuardsSettings) -> Limits:
    """Return the limits of the configured profile.

    ``faithful`` takes the configured figures. ``minimal`` lets only references change: all content survives, nothing
    is new. ``expansive`` lets models add words, for retrieval gains by them (MTRAG's expansion rewriters), and keeps
    what protects the question: retention, language, length, repetition, instructions.
    """
    ratio, length = settings.diff_ratio, settings.length
    if settings.profile == "minimal":
        return Limits(
            max(ratio.min_retention, 0.99),
            0.0,
            0,
            length.max_chars,
            length.max_growth,
            length.growth_free_chars,
            whole=True,
        )
    if settings.profile == "expansive":
        return Limits(
            min(ratio.min_retention, 0.34), 1.0, 10_000, max(length.max_chars, 1_024), 100.0, 1_024, expansion=True
        )
    return Limits(
        ratio.min_retention, ratio.max_novelty, 0, length.max_chars, length.max_growth, length.growth_free_chars
    )
