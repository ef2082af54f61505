"""English words reduced to a form that plural, past and -ing share, and the words that everybody uses."""

from __future__ import annotations

from functools import cache, lru_cache
from importlib.resources import files

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
    if not word.isalpha() or len(word) < 4:  # noqa: PLR2004  short words have no endings to lose
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
    """Return the common words of a language: English ones as stems, Chinese ones as they are.

    English: the two smallest lists of SCOWL. Chinese: the most frequent words of jieba's dictionary that are no
    names. Both are named in NOTICE.
    """
    data = files("llama_index_condense_plus.languages") / "data" / f"common_{language}.txt"
    return frozenset(data.read_text(encoding="utf-8").split())
