"""Guard: an answer, a statement or a repetition of an earlier turn instead of the question."""

from __future__ import annotations

import re
from itertools import pairwise

from llama_index_condense_plus.lexicons.memo import remembered
from llama_index_condense_plus.lexicons.patterns import regex
from llama_index_condense_plus.lexicons.text import folded, has_han
from llama_index_condense_plus.rewriting.guards.clauses import asking_clause, asks, sentences
from llama_index_condense_plus.rewriting.guards.features import features, grounding, retained
from llama_index_condense_plus.rewriting.guards.limits import Limits
from llama_index_condense_plus.types import GuardVerdict, HistoryWindow

_OPENS_ANSWER = regex(
    r"^\W*(?:yes|no|yeah|sure|sorry|unfortunately|i (?:don't|do not|can't|cannot|am|'m|would|think|believe|"
    r"apologi[sz]e)|i'm|as an|there (?:is|are|was|were)|it (?:is|was|depends|seems)|it's|they (?:are|were|have)|"
    r"based on|according to|to (?:do|answer) th|you (?:can|could|should|may|need|must|will|are|have)|in (?:general|"
    r"short|summary)|here (?:is|are)|to \w+[^?]*, (?:you|follow|click|use|go|visit|first|do|open|select|simply|just)|"
    r"if you [^?]*, you|the answer|okay|certainly|of course|great question|"
    r"是的|不是|没有|有的|对的|可以的|当然|好的|抱歉|对不起|很遗憾|不好意思|根据(?!.*[?？])|答案|因为|您可以|你可以|"
    r"不可以|不能|能的|会的|不会|目前(?!.*[?？])|答[:：]|知道(?:的)?[，,啊呀。]|嗯|哦|我(?:觉得|认为|"
    r"知道(?!.*[?？])|不知道|不清楚))",
    re.IGNORECASE,
)
_OPENS_PLAINLY = regex(
    r"^\W*(?:yes|sorry|i(?:'m| am) (?:sorry|not sure|unable)|unfortunately|there (?:is|are|was|were)|it (?:is|was|"
    r"depends)|based on|according to|here (?:is|are)|the answer|as an ai|是的|抱歉|对不起|很遗憾|根据|答案)",
    re.IGNORECASE,
)
_VERBAL_EN = regex(
    r"\b(?:is|are|was|were|has|have|had|can|could|will|would|should|may|might|must|does|did|do|be|been|provides?|"
    r"allows?|includes?|contains?|offers?|requires?|uses?|used|means?|helps?|supports?|makes?|gives?|takes?|became|"
    r"began|started|said|released|refers?|involves?|consists?|depends?|visit|i|we|they|you|he|she|it)\b"
)
_VERBAL_ZH = regex(
    r"是|有(?!关|限|声|趣|效)|在(?!线)|于|为(?!什么|何)|了|叫|来自|属于|位于|包括|获得|可以|能够|会(?!员|议|计)|。$|！$"
)
_SIMILAR = 0.85
_SHORT = 4


class AnswerGuard:
    """Finds rewrites that repeat an earlier turn, answer the question, or state where the user asked.

    Args:
        limits: the profile's figures; expansions need not be questions.
        grounded: more that counts as said, such as alias targets.
    """

    name = "answer"

    def __init__(self, limits: Limits, grounded: tuple[str, ...] = ()) -> None:
        self._limits = limits
        self._grounded = grounded

    def check(self, original: str, rewrite: str, window: HistoryWindow) -> list[GuardVerdict]:
        """Return a verdict on repetition and one on the form of the rewrite."""
        repeated = _repeats(original, rewrite, window)
        stated = self._states(original, rewrite, window)
        return [
            GuardVerdict(f"{self.name}.repetition", not repeated, "reject", detail=repeated[:_SHOWN]),
            GuardVerdict(f"{self.name}.statement", not stated, "reject", detail=stated),
        ]

    def _states(self, original: str, rewrite: str, window: HistoryWindow) -> str:
        opens = (_OPENS_ANSWER if asks(original) else _OPENS_PLAINLY).match(rewrite)
        begins = opens and not _OPENS_ANSWER.match(original) and not original.lower().startswith(opens.group().lower())
        if begins and not _asks_late(rewrite):
            return "begins like an answer"
        if self._limits.expansion or not (asks(original) or _is_fragment(original)):
            return ""
        parts = sentences(rewrite) or [rewrite]
        if "?" not in folded(rewrite) and not asks(parts[0]) and not asks(parts[-1]):
            return self._unasked(original, rewrite, window)
        return self._explains(original, rewrite, window)

    def _unasked(self, original: str, rewrite: str, window: HistoryWindow) -> str:
        """Return the problem with a rewrite that asks nothing: a keyword list passes if it keeps the question."""
        question, after = features(asking_clause(original)), features(rewrite)
        if not _is_fragment(rewrite) or _LABELLED.search(rewrite):
            if asks(original):
                return "a statement"
            said = grounding(window, self._grounded)
            unsaid = [w for w in after.words if not said.has(w) and not retained(w, features(original))]
            return "a statement" if len(unsaid) >= max(2, _LEAST_UNSAID * len(after.words)) else ""
        if not asks(original):
            return ""
        if question.words and not any(retained(word, after) for word in question.words):
            return "no word of the question"
        return ""

    def _explains(self, original: str, rewrite: str, window: HistoryWindow) -> str:
        """Return the problem with a rewrite of several sentences of which some state what nobody said."""
        parts = sentences(rewrite)
        stated = [part for part in parts if not asks(part)]
        if len(parts) < 2 or not stated:  # noqa: PLR2004
            return ""
        said, question = grounding(window, self._grounded), features(original)
        for part in stated:
            words = features(part).words
            new = [w for w in words if not retained(w, question)]
            unsaid = [w for w in new if not said.has(w)]
            if len(words) >= _SHORT and len(new) >= len(words) * 0.6 and len(unsaid) >= max(1, 0.2 * len(words)):
                return "states something beside the question"
        return ""


_SHOWN = 80
_LEAST_UNSAID = 0.25
_LABELLED = regex(r"[:：]\s*\S")


def _is_fragment(text: str) -> bool:
    """Return True for a text without a verb, such as a list of keywords."""
    if text.endswith(".") and text.count(" ") > _SHORT:
        return False
    return not (_VERBAL_ZH if has_han(text) else _VERBAL_EN).search(folded(text))


def _asks_late(text: str) -> bool:
    """Return True if the sentence that begins like an answer is itself a question."""
    first = sentences(text)
    return bool(first) and asks(first[0]) and "?" in folded(first[0])


def _repeats(original: str, rewrite: str, window: HistoryWindow) -> str:
    """Return the earlier sentence or message that the rewrite repeats, if it repeats one."""
    mine = bare(rewrite)
    own = bare(original)
    size = len(mine)
    if size < _SHORT or mine in own:
        return ""
    for message in reversed(window.all_messages):
        for whole, form in _forms(message.full_text):
            if mine != form and not (
                size >= 2 * _SHORT
                and _MOST * len(form) <= size
                and _covers(mine, form)
                and not _adds(original, rewrite, whole)
            ):
                continue
            if _similar(own, form):
                continue
            again = message.role == "user" and (mine != form or own in mine)
            if not (again and _asked_again(original, own, mine, whole)):
                return whole
    return ""


def _asked_again(original: str, own: str, mine: str, earlier: str) -> bool:
    """Return True if the user asks once more what the earlier turn asked, in fewer words."""
    words = features(original).words
    if len(own) >= _SHORT and own in mine:
        return True
    return len(words) > 1 and all(retained(word, features(earlier)) for word in words)


def _adds(original: str, rewrite: str, repeated: str) -> bool:
    """Return True if the rewrite brings a word of the question into what it repeats."""
    after, earlier = features(rewrite), features(repeated)
    return any(
        retained(word, after) and not (word.text in earlier.folded if word.han else retained(word, earlier))
        for word in features(original).words
    )


@remembered
def bare(text: str) -> str:
    """Return the folded letters and digits of a text."""
    return "".join(char for char in folded(text[:_COMPARED]) if char.isalnum())


_COMPARED = 4_000


@remembered
def _forms(text: str) -> tuple[tuple[str, str], ...]:
    """Return a message, its sentences and its beginnings with their bare forms."""
    parts = sentences(text[:_COMPARED])
    runs = [text, *parts, *("".join(parts[:n]) for n in range(2, min(len(parts), 6)))]
    return tuple((run, form) for run in runs if len(form := bare(run)) >= _SHORT)


def _covers(mine: str, form: str) -> bool:
    """Return True if a bare form is nearly another one, or most of it."""
    return _similar(mine, form) or (mine in form and len(mine) >= _MOST * len(form))


_MOST = 0.6


def _similar(a: str, b: str) -> bool:
    """Return True if two bare forms share nearly all their character pairs."""
    if not (a and b) or min(len(a), len(b)) < _SIMILAR * max(len(a), len(b)):
        return False
    mine, other = _pairs(a), _pairs(b)
    return len(mine & other) >= _SIMILAR * max(len(mine), len(other))


@remembered
def _pairs(bare_form: str) -> frozenset[str]:
    return frozenset(a + b for a, b in pairwise(bare_form))
