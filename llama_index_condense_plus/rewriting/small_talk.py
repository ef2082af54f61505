"""Greetings, thanks and bare answers: messages made of nothing else."""

from __future__ import annotations

from collections.abc import Sequence

from llama_index_condense_plus.languages.base import Lexicon

FILLERS_ZH = frozenset("啊呀吧了哦呢嘛哈啦哇的噢喔呵嗯恩")
"""Particles that change nothing."""
FILLERS_EN = frozenset(
    (
        "so",
        "very",
        "much",
        "then",
        "and",
        "but",
        "please",
        "well",
        "oh",
        "again",
        "really",
        "that's",
        "a",
        "for",
        "you",
        "i",
        "with",
        "all",
    )
)
"""Words that change nothing between greetings."""


DECLINES = ("no", "nah", "not ", "不", "没")
"""Beginnings of answers that decline."""


class SmallTalk:
    """Tells messages that hold nothing but greetings, thanks and answers.

    Args:
        lexicon: the language's words.
        by_word: True if phrases hold spaces.
    """

    def __init__(self, lexicon: Lexicon, *, by_word: bool) -> None:
        self._answers = lexicon.answers - lexicon.small_talk
        phrases = lexicon.small_talk | lexicon.answers
        self._phrases = phrases
        self._longest = max((len(phrase.split()) if by_word else len(phrase) for phrase in phrases), default=0)
        self._by_word = by_word
        self._fillers = FILLERS_EN if by_word else FILLERS_ZH

    def parts(self, units: Sequence[str]) -> tuple[bool, bool] | None:
        """Return (holds small talk, holds an answer) if the units are nothing else, else None.

        A "no" beside thanks or a goodbye is a polite end, no answer.

        Args:
            units: folded words (English) or characters (Chinese), punctuation left out.
        """
        talk = answer = declined = False
        start = 0
        while start < len(units):
            length = self._match(units, start)
            if length:
                phrase = self._phrase(units, start, length)
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
                return None
        if not (talk or answer or declined):
            return None
        return talk, answer or (declined and not talk)

    def _match(self, units: Sequence[str], start: int) -> int:
        for length in range(min(self._longest, len(units) - start), 0, -1):
            if self._phrase(units, start, length) in self._phrases:
                return length
        return 0

    def _phrase(self, units: Sequence[str], start: int, length: int) -> str:
        part = units[start : start + length]
        return " ".join(part) if self._by_word else "".join(part)
