"""Looking up a lexicon's phrases in a text, longest first, in time linear in the text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from llama_index_condense_plus.lexicons.text import has_han


class PhraseSet:
    """A set of phrases that finds the longest one at a place of a text.

    Latin phrases match whole words only; Chinese ones match anywhere.

    Args:
        phrases: folded phrases.
    """

    def __init__(self, phrases: Iterable[str]) -> None:
        self._phrases = frozenset(phrases)
        self._lengths: dict[str, list[int]] = {}
        self._ends: dict[str, list[int]] = {}
        for table, at in ((self._lengths, 0), (self._ends, -1)):
            for phrase in self._phrases:
                table.setdefault(phrase[at], []).append(len(phrase))
            for first, lengths in table.items():
                table[first] = sorted(set(lengths), reverse=True)
        han = "".join(first for first in self._lengths if has_han(first))
        other = "".join(map(re.escape, (first for first in self._lengths if not has_han(first))))
        choices = [rf"[{han}]"] * bool(han) + [rf"(?<![a-z0-9])[{other}]"] * bool(other)
        self._first = re.compile("|".join(choices) or r"(?!)")

    def starts(self, folded: str) -> Iterator[int]:
        """Return the places where a phrase may begin: by its first character, Latin ones at the start of words."""
        return (match.start() for match in self._first.finditer(folded))

    def longest(self, folded: str, at: int) -> int:
        """Return the end of the longest phrase that begins at ``at``, 0 if there is none."""
        for length in self._lengths.get(folded[at : at + 1], ()):
            if folded[at : at + length] in self._phrases and _whole(folded, at, at + length):
                return at + length
        return 0

    def longest_before(self, folded: str, stop: int) -> int | None:
        """Return the start of the longest phrase that ends at ``stop``, None if there is none."""
        for length in self._ends.get(folded[stop - 1 : stop], ()):
            if length <= stop and folded[stop - length : stop] in self._phrases and _whole(folded, stop - length, stop):
                return stop - length
        return None


def _whole(folded: str, start: int, end: int) -> bool:
    """Return True unless the match begins or ends inside a Latin word."""
    return not (
        (start > 0 and _latin(folded[start - 1]) and _latin(folded[start]))
        or (end < len(folded) and _latin(folded[end - 1]) and _latin(folded[end]))
    )


def _latin(char: str) -> bool:
    return char.isalnum() and not has_han(char)


@lru_cache(maxsize=64)
def phrase_set(phrases: frozenset[str]) -> PhraseSet:
    """Return the set of a lexicon's phrases; engines of one process share it, for a large one takes 30 ms to make."""
    return PhraseSet(phrases)
