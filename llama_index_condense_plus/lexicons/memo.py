"""Remembering what was made of words and texts: a language's words recur, and a conversation's texts in each turn."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from functools import lru_cache, wraps
from typing import Generic, TypeVar

from llama_index_condense_plus.lexicons.patterns import regex

_DIGIT = regex(r"\d")
K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

MANY = 4096
"""Short texts that a function remembers."""
LONG_CHARS = 1_000
"""Texts beyond it are long: some take 100 kB each once they are tokenised."""
KEPT_CHARS = 1_000_000
"""Characters of long texts that a function remembers, all together: some 500 answers, or one text of that size."""
LONGEST_WORD = 64
"""Characters of the longest word that is worth keeping: no word is longer, hostile text is."""


class Memo(dict[K, V]):
    """A dictionary that begins anew when it is full; safe to share between threads.

    Quicker to ask than ``lru_cache``, which keeps an order besides.

    Args:
        limit: keys that are kept at most.
    """

    def __init__(self, limit: int) -> None:
        super().__init__()
        self._limit = limit

    def keep(self, key: K, value: V) -> V:
        """Keep a value unless its key is a very long word or holds a digit, for numbers do not recur; return it."""
        if not isinstance(key, str) or (len(key) <= LONGEST_WORD and not _DIGIT.search(key)):
            if len(self) >= self._limit:
                self.clear()
            self[key] = value
        return value


class LongTexts(Generic[V]):
    """What a function made of the newest long texts, up to ``KEPT_CHARS`` of them; safe to share between threads."""

    def __init__(self, function: Callable[[str], V]) -> None:
        self._function = function
        self._made: OrderedDict[str, V] = OrderedDict()
        self._chars = 0
        self._lock = threading.Lock()

    def __call__(self, text: str) -> V:
        """Return what the function makes of a text."""
        if len(text) > KEPT_CHARS:
            return self._function(text)
        with self._lock:
            if text in self._made:
                self._made.move_to_end(text)
                return self._made[text]
        value = self._function(text)
        with self._lock:
            if text not in self._made:
                self._made[text] = value
                self._chars += len(text)
            while self._chars > KEPT_CHARS:
                oldest, _ = self._made.popitem(last=False)
                self._chars -= len(oldest)
        return value


def remembered(function: Callable[[str], V]) -> Callable[[str], V]:
    """Remember what a function makes of texts, ``MANY`` short ones and ``KEPT_CHARS`` of long ones.

    Whoever writes much fills no memory, and a conversation's answers are read once, not with each turn.
    """
    short, long = lru_cache(maxsize=MANY)(function), LongTexts(function)

    @wraps(function)
    def look_up(text: str) -> V:
        return short(text) if len(text) <= LONG_CHARS else long(text)

    return look_up
