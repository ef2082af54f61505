"""Remembering what was made of words: the words of a language recur, so a new question has few that are new."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

LONGEST_WORD = 64
"""Characters of the longest word that is worth remembering: none is longer, hostile text is."""


class Memo(dict[K, V], Generic[K, V]):
    """A dictionary that makes what it lacks, and begins anew when it is full; safe to share between threads.

    Quicker than ``lru_cache``, which keeps an order besides.

    Args:
        make: makes the value of a key.
        limit: keys that are kept at most.
        keeps: whether a key is worth keeping; all are by default.
    """

    def __init__(self, make: Callable[[K], V], limit: int, keeps: Callable[[K], bool] | None = None) -> None:
        super().__init__()
        self._make = make
        self._limit = limit
        self._keeps = keeps

    def __missing__(self, key: K) -> V:
        value = self._make(key)
        if self._keeps is None or self._keeps(key):
            if len(self) >= self._limit:
                self.clear()
            self[key] = value
        return value
