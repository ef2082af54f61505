"""English words reduced to a form that plural, past and -ing share, and the words that everybody uses."""

from __future__ import annotations

from functools import cache, lru_cache

from llama_index_condense_plus.lexicons.rarity import rarity_classes

_DOUBLED = "bdfgmnprt"
_POSSESSIVES = ("'s", "’s", "'", "’")
_SHORTEST = 4
"""Letters of the shortest word that has an ending."""


def singular(word: str) -> str:
    """Return a lower-case English word without possessive and plural ending."""
    return _without_plural(_without_possessive(word))


def stem(word: str) -> str:
    """Return a lower-case English word without its commonest endings; other words come back as they are.

    It joins what retrieval and guards must not tell apart (plans, plan, planned) and need not be a word itself.
    """
    if not word.isalpha():  # numbers and codes are endless: what is remembered are words
        word = _without_possessive(word)
    return _stem(word) if word.isalpha() and len(word) >= _SHORTEST else word


@lru_cache(maxsize=16_384)
def _stem(word: str) -> str:
    word = _without_plural(word)
    for ending in ("ing", "ed", "ly"):
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST - 1:
            word = word[: -len(ending)]
            if word[-1] == word[-2] and word[-1] in _DOUBLED:
                word = word[:-1]
            break
    return word[:-1] if word.endswith("e") and len(word) >= _SHORTEST else word


def _without_possessive(word: str) -> str:
    ending = next((end for end in _POSSESSIVES if word.endswith(end) and len(word) > len(end)), "")
    return word.removesuffix(ending)


def _without_plural(word: str) -> str:
    if len(word) < _SHORTEST:
        return word
    if word.endswith("ies") and len(word) > _SHORTEST:
        return word[:-3] + "y"
    if word.endswith(("ches", "shes", "sses", "xes", "zes")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith(("ss", "us", "is")) else word


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
