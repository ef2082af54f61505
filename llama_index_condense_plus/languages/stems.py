"""English words reduced to a form that plural, past and -ing share, and the words that everybody uses."""

from __future__ import annotations

from functools import cache, lru_cache

from llama_index_condense_plus.languages.rarity import rarity_classes

_DOUBLED = "bdfgmnprt"


@lru_cache(maxsize=16_384)
def stem(word: str) -> str:
    """Return a lower-case English word without its commonest endings; other words come back as they are.

    It joins what retrieval and guards must not tell apart (plans, plan, planned) and need not be a word itself.
    """
    for ending in ("'s", "’s", "'", "’"):
        if word.endswith(ending) and len(word) > len(ending):
            word = word[: -len(ending)]
            break
    if not word.isalpha() or len(word) < 4:  # noqa: PLR2004
        return word
    if word.endswith("ies") and len(word) > 4:  # noqa: PLR2004
        word = word[:-3] + "y"
    elif word.endswith(("ches", "shes", "sses", "xes", "zes")):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for ending in ("ing", "ed", "ly"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:  # noqa: PLR2004
            word = word[: -len(ending)]
            if word[-1] == word[-2] and word[-1] in _DOUBLED:
                word = word[:-1]
            break
    return word[:-1] if word.endswith("e") and len(word) > 3 else word  # noqa: PLR2004


@cache
def common_words(language: str) -> frozenset[str]:
    """Return the words that everybody uses, so that they name nothing: English ones as stems, Chinese ones as they are.

    They are the most frequent ones of ``rarity_classes``.
    """
    words = (word for word, rarity in rarity_classes(language).items() if rarity <= _COMMON[language])
    return frozenset(map(stem, words)) if language == "en" else frozenset(words)


_COMMON = {"en": 4, "zh": 5}
"""Highest class that counts as common: the 8,000 most frequent English and 16,000 Chinese words."""


@cache
def known_words() -> frozenset[str]:
    """Return the stems of the 16,000 most frequent English words."""
    return frozenset(map(stem, rarity_classes("en")))
