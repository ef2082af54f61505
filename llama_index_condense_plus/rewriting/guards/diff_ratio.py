"""Guard: how much of the question survives, and how much of the rewrite was never said."""

from __future__ import annotations

import re
from collections import Counter
from difflib import SequenceMatcher

from llama_index_condense_plus.lexicons.patterns import regex
from llama_index_condense_plus.lexicons.quantities import quantities
from llama_index_condense_plus.lexicons.text import clip, has_han, tokenize
from llama_index_condense_plus.rewriting.guards.clauses import asking_clause, asks
from llama_index_condense_plus.rewriting.guards.features import (
    Features,
    features,
    folded,
    grounding,
    is_common,
    mistyped,
    retained,
)
from llama_index_condense_plus.rewriting.guards.kinds import kinds
from llama_index_condense_plus.rewriting.guards.limits import Limits
from llama_index_condense_plus.settings.sections import DiffRatioSettings
from llama_index_condense_plus.types import GuardVerdict, HistoryWindow

_MAX_SYMMETRIC = 1_000
"""The literal diff is quadratic: longer texts are compared by both ends."""


class DiffRatioGuard:
    """Retention of the question's content words and grounded novelty, each with its verdict.

    A symmetric diff, the obvious measure, rejects up to half of good rewrites, for "and the price?" must grow; it is
    available as ``metric="symmetric"``.

    Args:
        settings: metric and limits.
        limits: the profile's figures.
        grounded: more that counts as said, such as alias targets.
    """

    name = "diff_ratio"

    def __init__(self, settings: DiffRatioSettings, limits: Limits, grounded: tuple[str, ...] = ()) -> None:
        self._settings = settings
        self._limits = limits
        self._grounded = grounded

    def check(self, original: str, rewrite: str, window: HistoryWindow) -> list[GuardVerdict]:
        """Return a verdict on retention and one on novelty, or one on the symmetric diff."""
        if self._settings.metric == "symmetric":
            return [self._symmetric(original, rewrite)]
        return [self._retention(original, rewrite), self._novelty(original, rewrite, window)]

    def _symmetric(self, original: str, rewrite: str) -> GuardVerdict:
        before, after = clip(folded(original), _MAX_SYMMETRIC), clip(folded(rewrite), _MAX_SYMMETRIC)
        ratio = 1 - SequenceMatcher(None, before, after, autojunk=False).ratio()
        limit = self._settings.max_symmetric
        return GuardVerdict(f"{self.name}.symmetric", ratio <= limit, "reject", round(ratio, 3), limit)

    def _retention(self, original: str, rewrite: str) -> GuardVerdict:
        after = features(rewrite)
        kind = _shares_kind(original, rewrite)
        share, lost = _share_kept(features(original), after, kind)
        if share < self._limits.min_retention and not self._limits.whole:
            clause = asking_clause(original)
            if clause != original:
                share, lost = max((share, lost), _share_kept(features(clause), after, kind), key=lambda kept: kept[0])
        passed = share >= self._limits.min_retention
        detail = "" if passed else "lost: " + ", ".join(lost[:6])
        return GuardVerdict(
            f"{self.name}.retention", passed, "reject", round(share, 3), self._limits.min_retention, detail
        )

    def _novelty(self, original: str, rewrite: str, window: HistoryWindow) -> GuardVerdict:
        words = features(rewrite).words
        question, said = features(original), grounding(window, self._grounded)
        empty = not question.words
        if empty and window and (not words or _is_thanks(original)):
            return self._unrelated(original, rewrite)
        new = [
            word.raw
            for word in words
            if (empty or not word.han or not is_common(word)) and not said.has(word) and not retained(word, question)
        ]
        if len(new) == 1 and _keeps_wording(original, rewrite):
            new = []
        share = len(new) / len(words) if words else 0.0
        passed = share <= self._limits.max_novelty
        detail = "" if passed else "never said: " + ", ".join(new[:6])
        return GuardVerdict(f"{self.name}.novelty", passed, "reject", round(share, 3), self._limits.max_novelty, detail)

    def _unrelated(self, original: str, rewrite: str) -> GuardVerdict:
        """Compare a text without content, such as thanks, by all its words."""
        before, after = (Counter(token.text.lower() for token in tokenize(text)) for text in (original, rewrite))
        share = sum((after - before).values()) / max(1, sum(after.values()))
        if _THANKS.search(folded(rewrite)) or _squeezed(features(original)) == _squeezed(features(rewrite)):
            share = 0.0
        limit = max(self._limits.max_novelty, _LEAST_UNRELATED)
        return GuardVerdict(f"{self.name}.novelty", share <= limit, "reject", round(share, 3), limit)


def _keeps_wording(original: str, rewrite: str) -> bool:
    """Return True if all words of a Latin question but its pronouns stand in the rewrite."""
    before = set(re.findall(r"[a-z']+", folded(original))) - {"it", "that", "this", "them", "there", "one"}
    return len(before) > 1 and before <= set(re.findall(r"[a-z']+", folded(rewrite)))


_LEAST_UNRELATED = 0.5
_THANKS = regex(r"thank|\bbye|goodbye|谢谢|多谢|感谢|再见|拜拜")


def _is_thanks(text: str) -> bool:
    """Return True for a text that thanks or takes leave, and does nothing else."""
    plain = folded(text)
    return bool(_THANKS.search(plain)) and not asks(text) and not (set(re.findall(r"[a-z']+", plain)) - _THANKING)


_THANKING = frozenset(
    "thank thanks you very much bye goodbye good ok okay great that that's thats is all no yes so for your "  # noqa: SIM905
    "help everything it will be do a lot have nice day i need needed alright well perfect cool now again the "
    "info information this was".split()
)


def _share_kept(before: Features, after: Features, kind: bool) -> tuple[float, list[str]]:
    """Return the share of content words that survive, and those that do not.

    A kind of question that survives (谁, 多久) counts as one more word.
    """
    counted = lost = 0
    words: list[str] = []
    for word in before.words:
        kept = retained(word, after) or mistyped(word, after.stems)
        if not kept and (word.referred or word.pos == "m" or quantities(word.text)):
            continue  # a demonstrated noun may become a name; numbers are the preservation guard's
        counted += 1
        if not kept:
            lost += 1
            words.append(word.raw)
    if not lost or not counted or _squeezed(before) in _squeezed(after):
        return 1.0, []
    return (counted - lost + kind) / (counted + kind), words


def _squeezed(text: Features) -> str:
    """Return the letters and digits alone: "good bye" and "goodbye" are one word."""
    return "".join(filter(str.isalnum, text.folded))


def _shares_kind(original: str, rewrite: str) -> bool:
    """Return True if a Chinese rewrite asks for a kind that the question's asking clause asks for."""
    return has_han(original) and bool(kinds(asking_clause(original)) & kinds(rewrite))
