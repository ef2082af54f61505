"""Finding a lexicon's phrases in a message, longest first, in one pass."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

Hit = tuple[str, int, int]
"""Kind of the phrase, where it starts, where it ends."""


class Phrasebook:
    """Phrases of several kinds, looked up by their first unit: a character in Chinese, a word in English.

    The longest phrase at a place wins, and what it covers is not looked at again; so 吉他 hides its 他. A phrase
    may be of several kinds.

    Args:
        kinds: phrases by kind, the more important kind first.
        by_word: True if units are words and phrases hold spaces.
    """

    def __init__(self, kinds: Mapping[str, Iterable[str]], *, by_word: bool) -> None:
        self._by_word = by_word
        self._kinds: dict[str, tuple[str, ...]] = {}
        lengths: dict[str, set[int]] = {}
        for kind, phrases in kinds.items():
            for phrase in phrases:
                units: Sequence[str] = phrase.split() if by_word else phrase
                if units:
                    self._kinds[phrase] = (*self._kinds.get(phrase, ()), kind)
                    lengths.setdefault(units[0], set()).add(len(units))
        self._lengths = {first: tuple(sorted(found, reverse=True)) for first, found in lengths.items()}

    def find(self, units: Sequence[str]) -> list[Hit]:
        """Return the phrases in a folded text (Chinese) or a list of folded words, as unit offsets."""
        hits: list[Hit] = []
        lengths, kinds, by_word = self._lengths, self._kinds, self._by_word
        busy_until, stop = 0, len(units)
        for start in [at for at, unit in enumerate(units) if unit in lengths]:
            if start < busy_until:
                continue
            for length in lengths[units[start]]:
                end = start + length
                if end > stop:
                    continue
                phrase = " ".join(units[start:end]) if by_word else str(units[start:end])
                if phrase in kinds:
                    hits.extend((kind, start, end) for kind in kinds[phrase])
                    busy_until = end
                    break
        return hits
