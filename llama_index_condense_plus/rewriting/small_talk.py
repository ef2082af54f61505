"""Greetings, thanks and bare answers: messages made of nothing else, and thanks with a remark beside them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from llama_index_condense_plus.lexicons.base import Lexicon
from llama_index_condense_plus.lexicons.en import FILLERS
from llama_index_condense_plus.lexicons.patterns import regex
from llama_index_condense_plus.lexicons.text import fold

DECLINES = ("no", "nah", "not ", "不", "没")
"""Beginnings of answers that decline."""
MAX_REMARK = 12
"""Units of a clause up to which it may be a remark."""
_UNITS = regex(r"[\w']+")
_CHARACTER = regex(r"[^\W_]")
_CLAUSES = regex(r"[,.!;，。！；、…~～\n]+")
_ASKING_MARKS = regex(r"[？吗呢哪谁啥怎]")
_ASKING_WORDS = regex(r"什么|多少|几[^乎]|\b(?:what|which|who|whose|when|where|why|how)\b", re.IGNORECASE)
_NOTHING = r"(?!)"


def _asks(folded: str) -> bool:
    return "?" in folded or bool(_ASKING_MARKS.search(folded) or _ASKING_WORDS.search(folded))


class SmallTalk:
    """Tells messages that hold nothing but greetings, thanks, answers, and remarks beside them.

    Args:
        lexicon: the language's words.
    """

    def __init__(self, lexicon: Lexicon) -> None:
        self._answers = lexicon.answers - lexicon.small_talk
        self._phrases = lexicon.small_talk | lexicon.answers
        self._by_word = lexicon.code != "zh"
        self._fillers = lexicon.fillers or FILLERS
        self._has_thanks = bool(lexicon.thanks)
        self._thanks = regex(lexicon.thanks)
        self._remarks = regex(lexicon.remarks or _NOTHING)
        lengths: dict[str, set[int]] = {}
        for phrase in self._phrases:
            units: Sequence[str] = phrase.split() if self._by_word else phrase
            if units:
                lengths.setdefault(units[0], set()).add(len(units))
        self._lengths = {first: sorted(found, reverse=True) for first, found in lengths.items()}

    def of(self, text: str, *, asked: bool) -> tuple[bool, bool] | None:
        """Return (holds small talk, holds an answer) if a message is nothing else, else None.

        A "no" beside thanks or a goodbye is a polite end, no answer.

        Args:
            text: the message.
            asked: whether the assistant just asked something; then a remark may be the answer.
        """
        folded = fold(text).replace("’", "'")
        if self._may_begin(folded):
            units = self._units(folded)
            talk, answer, declined, end = self._lead(units)
            if end == len(units):
                return (talk, answer or (declined and not talk)) if talk or answer or declined else None
        if asked or not self._has_thanks or _asks(folded):
            return None
        clauses = [clause for clause in map(self._units, _CLAUSES.split(folded)) if clause]
        return (True, False) if self._ends(clauses) else None

    def _may_begin(self, folded: str) -> bool:
        """Return False for most messages: their first unit begins nothing that is looked for here."""
        first = _UNITS.search(folded.replace("_", " ")) if self._by_word else _CHARACTER.search(folded)
        if first is None:
            return False
        return first[0] in self._lengths or (self._by_word and first[0] in self._fillers)

    def _ends(self, clauses: Sequence[Sequence[str]]) -> bool:
        """Return True if every clause is small talk, thanks or a remark, and not all are remarks."""
        polite = False
        for clause in clauses:
            talk, answer, declined, end = self._lead(clause)
            if end == len(clause) and (talk or answer or declined):
                polite = polite or talk
                continue
            if len(clause) <= MAX_REMARK and self._thanks.match(self._joined(clause)):
                polite = True
                continue
            rest = clause[end if talk else 0 :]
            if len(rest) > MAX_REMARK or not self._remarks.match(self._joined(rest)):
                return False
            polite = polite or talk
        return polite

    def _lead(self, units: Sequence[str]) -> tuple[bool, bool, bool, int]:
        """Return whether units begin with small talk, an answer, one that declines, and where that ends."""
        talk = answer = declined = False
        start = 0
        while start < len(units):
            length = self._match(units, start)
            if length:
                phrase = self._joined(units[start : start + length])
                if phrase not in self._answers:
                    talk = True
                elif phrase.startswith(DECLINES):
                    declined = True
                else:
                    answer = True
                start += length
            elif units[start] in self._fillers and (start or self._by_word):
                start += 1
            else:
                break
        return talk, answer, declined, start

    def _match(self, units: Sequence[str], start: int) -> int:
        """Return the length of the longest phrase that begins at a unit, 0 if there is none."""
        for length in self._lengths.get(units[start], ()):
            if start + length <= len(units) and self._joined(units[start : start + length]) in self._phrases:
                return length
        return 0

    def _units(self, folded: str) -> Sequence[str]:
        """Return words, or a text of characters, without punctuation."""
        return _UNITS.findall(folded.replace("_", " ")) if self._by_word else "".join(filter(str.isalnum, folded))

    def _joined(self, units: Sequence[str]) -> str:
        return (" " if self._by_word else "").join(units)
