"""Telling the language of a message from its script and its most frequent words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from functools import lru_cache

from llama_index_condense_plus.languages.text import has_han, rarity_classes
from llama_index_condense_plus.languages.words import WordPack

SAMPLE = 400
"""Characters that are looked at."""
UNKNOWN = "und"
"""Code of a language that is not known here (ISO 639-2)."""
FEW_WORDS = 3
"""So few words in Latin letters without a sign of another language are taken for English: names and codes."""
MARK_WEIGHT = 0.6
"""What a letter that only one language has counts, beside 1 for a frequent word."""

_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_KANA = re.compile(r"[\u3041-\u3096\u30a1-\u30fa\u30fd-\u30ff]")
_HANGUL = re.compile(r"[\uac00-\ud7a3\u1100-\u11ff\u3131-\u318e]")
_WORDS = re.compile(r"[^\W\d_]+")


class Detector:
    """Tells languages apart; made anew when a pack is registered.

    Args:
        packs: the known packs by code; each lists its ``frequent`` words, and ``marks`` that only it has.
    """

    def __init__(self, packs: Mapping[str, WordPack]) -> None:
        self._words: dict[str, tuple[str, ...]] = {}
        for code, pack in packs.items():
            for word in pack.words("frequent"):
                self._words[word] = (*self._words.get(word, ()), code)
        self._marks = {code: marks for code, pack in packs.items() if (marks := pack.table.get("marks"))}
        self._han_words = set("".join(packs["zh"].words("telling"))) if "zh" in packs else set()
        self.detect: Callable[[str], str] = lru_cache(maxsize=1024)(self._detect)

    def _detect(self, text: str) -> str:
        if text.isascii():
            return self._latin(text)
        n_han, n_kana, n_hangul = (len(script.findall(text)) for script in (_HAN, _KANA, _HANGUL))
        if n_kana and n_kana * 4 > n_han:
            return "ja"
        if n_hangul > n_han:
            return "ko"
        if has_han(text) and not self._only_quotes_han(text):
            return "zh"
        return self._latin(text)

    def _only_quotes_han(self, text: str) -> bool:
        """Return True for an English sentence about Chinese words: "what does 你好 mean"."""
        if self._han_words.intersection(text):
            return False
        words = text.lower().split()
        english = sum("en" in self._words.get(word.strip("?,.!\"'"), ()) for word in words)
        return english > 1 and english * 2 >= len(words) - 2

    def _latin(self, text: str) -> str:
        words = _WORDS.findall(text.lower())
        if not words:
            return UNKNOWN
        scores: Counter[str] = Counter(code for word in words for code in self._words.get(word, ()))
        if not text.isascii():
            for code, marks in self._marks.items():
                scores[code] += sum(text.count(mark) for mark in marks) * MARK_WEIGHT  # type: ignore[assignment]
        if scores and (most := max(scores.values())) > 0:
            return "en" if scores["en"] == most else next(code for code, score in scores.items() if score == most)
        if not all(map(str.isascii, words)):
            return UNKNOWN
        ranks = rarity_classes("en")
        known = sum(word in ranks or word + "s" in ranks for word in words)
        return "en" if len(words) <= FEW_WORDS or known * 2 >= len(words) else UNKNOWN
