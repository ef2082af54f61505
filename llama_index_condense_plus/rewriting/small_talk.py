"""Greetings, thanks and bare answers: messages made of nothing else, and thanks with a remark beside them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from llama_index_condense_plus.languages.base import Lexicon
from llama_index_condense_plus.languages.patterns import regex
from llama_index_condense_plus.languages.text import fold

FILLERS_ZH = frozenset("啊呀吧了哦呢嘛哈啦哇的噢喔呵嗯恩你您")
"""Particles and addresses that change nothing."""
FILLERS_EN = frozenset(
    {
        "so", "very", "much", "then", "and", "but", "please", "well", "oh", "again", "really", "that's", "a", "for",
        "you", "i", "with", "all", "one",
    }
)  # fmt: skip
"""Words that change nothing between greetings."""
DECLINES = ("no", "nah", "not ", "不", "没")
"""Beginnings of answers that decline."""
MAX_REMARK = 12
"""Units of a clause up to which it may be a remark."""
_UNITS = regex(r"(?:[^\W_]|')+")
_CLAUSES = regex(r"[,.!;，。！；、…~～\n]+")
_ASKS = regex(r"[?？吗呢哪谁啥]|什么|怎|多少|几[^乎]|\b(?:what|which|who|whose|when|where|why|how)\b", re.IGNORECASE)
_THANKS = {
    "en": regex(
        r"(?:many |ok |okay |great |no )?(?:thanks|thank you|thank u|thx|cheers|bye|goodbye|good bye)"
        r"(?: (?:so|very|a|again|for|to|in|and)(?: [\w']+){0,5}| \w+)?$"
    ),
    "zh": regex(r"(?:好的?|那|非常|太|真的?|十分|万分)?(?:谢谢|多谢|感谢|拜拜|再见).{0,10}$"),
}
"""Clauses of thanks and farewell."""
_REMARKS = {
    "en": regex(
        r"(?:and |then |well |so |ok |oh )?(?:(?:i'll|i will|we'll|we will|i'm going|i am going|will do)\b"
        r"|(?:that |it |this )?(?:sounds|looks|seems|was)\b)"
    ),
    "zh": regex(
        r"(?:那么?)?我们?(?:就|先|去|这就|马上|回头|待会儿?|回去|再|会)[^过]{1,10}$|(?:真|太|很|挺|非常).{1,6}$"
        r"|没有?(?:别的|其他|其它|什么|啥)*(?:问题|疑问|事)了$|(?:可以|搞定|解决|弄好|学会)了?$"
    ),
}
"""What is said beside thanks: what one will do now, praise, that nothing is left to ask."""


class SmallTalk:
    """Tells messages that hold nothing but greetings, thanks, answers, and remarks beside them.

    Args:
        lexicon: the language's words.
    """

    def __init__(self, lexicon: Lexicon) -> None:
        self._answers = lexicon.answers - lexicon.small_talk
        phrases = lexicon.small_talk | lexicon.answers
        self._phrases = phrases
        self._by_word = lexicon.code != "zh"
        self._longest = max((len(phrase.split()) if self._by_word else len(phrase) for phrase in phrases), default=0)
        self._fillers = FILLERS_EN if self._by_word else FILLERS_ZH
        self._thanks = _THANKS.get(lexicon.code)
        self._remarks = _REMARKS.get(lexicon.code)

    def of(self, text: str, *, asked: bool) -> tuple[bool, bool] | None:
        """Return (holds small talk, holds an answer) if a message is nothing else, else None.

        A "no" beside thanks or a goodbye is a polite end, no answer.

        Args:
            text: the message.
            asked: whether the assistant just asked something; then a remark may be the answer.
        """
        folded = fold(text).replace("’", "'")
        units = self._units(folded)
        talk, answer, declined, end = self._lead(units)
        if end == len(units):
            return (talk, answer or (declined and not talk)) if talk or answer or declined else None
        if asked or self._thanks is None or folded.rstrip().endswith("?") or _ASKS.search(folded):
            return None
        clauses = [clause for clause in map(self._units, _CLAUSES.split(folded)) if clause]
        return (True, False) if self._ends(clauses) else None

    def _ends(self, clauses: Sequence[Sequence[str]]) -> bool:
        """Return True if every clause is small talk, thanks or a remark, and not all are remarks."""
        assert self._thanks is not None and self._remarks is not None  # noqa: S101, PT018
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
        for length in range(min(self._longest, len(units) - start), 0, -1):
            if self._joined(units[start : start + length]) in self._phrases:
                return length
        return 0

    def _units(self, folded: str) -> list[str]:
        """Return words or characters without punctuation."""
        return _UNITS.findall(folded) if self._by_word else [mark for mark in folded if mark.isalnum()]

    def _joined(self, units: Sequence[str]) -> str:
        return (" " if self._by_word else "").join(units)
