"""The rules: from cues to a decision, without trained weights."""

from __future__ import annotations

from collections.abc import Sequence

from llama_index_condense_plus.lexicons.en_grammar import AUXILIARIES, BE
from llama_index_condense_plus.rewriting.features import leans_on_nothing, points
from llama_index_condense_plus.rewriting.reading import (
    CONTENT,
    FUNCTION,
    NAME,
    NUMBER,
    OWN,
    PUNCTUATION,
    QUESTION,
    SEEN_LAST,
    UNSEEN,
    VERB,
    HistoryReading,
    Reading,
)
from llama_index_condense_plus.settings.sections import TriggerSettings
from llama_index_condense_plus.types import Cue, TriggerReason

REASONS = (
    ("back_reference", TriggerReason.BACK_REFERENCE),
    ("slot_filling", TriggerReason.SLOT_FILLING),
    ("ordinal", TriggerReason.ORDINAL),
    ("comparison", TriggerReason.COMPARISON),
    ("opener", TriggerReason.OPENER),
    ("ellipsis", TriggerReason.ELLIPSIS),
    ("continuation", TriggerReason.CONTINUATION),
    ("short", TriggerReason.SHORT),
)
"""Cues that fire, strongest first."""
STRONG = frozenset(("back_reference", "slot_filling", "continuation", "open_phrase"))
"""Cues that fire even where the message carries a name."""
WEAK = frozenset(("opener", "ordinal", "comparison", "ellipsis", "short"))
"""Cues that fire where it carries none."""
SPOKEN = (
    "你", "您", "我", "刚", "上面", "前面", "之前", "上述", "以上", "上文", "前文", "前述",
    "you", "your", "my", "last", "previous", "as mentioned", "the above", "we ", "above", "just",
)  # fmt: skip
"""Beginnings of back references that point at the conversation itself."""
SIDES = ("前者", "后者", "the former", "the latter")
"""Words for one of two things that were just named."""
FRAGMENT = frozenset((NAME, CONTENT, NUMBER, FUNCTION, PUNCTUATION))
"""Classes of words in a question that names a thing and asks nothing of it."""
FRAGMENT_OPENERS = frozenset((("what", "about"), ("how", "about")))
VERBAL = (AUXILIARIES | BE) - {"to"}
"""English words without which a question says nothing of its subject."""
MAX_FRAGMENT = 8
"""Words that a fragment has at most."""
RARE = {"zh": 3, "en": 4}
"""Class of rarity from which an unseen word may name something of its own."""


def must_fire(reading: Reading, history: HistoryReading, settings: TriggerSettings) -> bool:
    """Return True if a message points out of itself for certain.

    That is an open pronoun, the conversation or one of two things called by name, a thing of which nothing is asked,
    or a few words in answer to a question.
    """
    if reading.open_pronouns:
        return True
    for cue in reading.cues:
        if cue.name == "back_reference" and cue.text.casefold().startswith(SPOKEN):
            return True
        if cue.name == "ordinal" and cue.text.casefold() in SIDES:
            return True
    if _is_fragment(reading):
        return True
    length, limit = _length(reading, settings)
    return history.asks and length <= limit // 2 + 1 and not _asks(reading)


def must_skip(reading: Reading, history: HistoryReading, seen: Sequence[int]) -> bool:
    """Return True if a whole question is about things of its own for certain, after answers about others.

    That takes two names, or a name and two other words, or an empty it or 那么多 before its own noun, or another topic
    announced, and nothing that was said before.
    """
    if not history.answers or not _asks(reading) or (history.asks and QUESTION not in reading.classes):
        return False
    names = {cue.name for cue in reading.cues}
    if "topic_switch" in names:
        return leans_on_nothing(reading, seen) and any(cls in OWN for cls in reading.classes)
    if reading.clause[0] > 1:
        return False
    if "empty_reference" in names:
        if points(reading):
            return False
        return any(not place and cls in OWN for place, cls in zip(seen, reading.classes, strict=True))
    named, content = reading.classes.count(NAME), reading.classes.count(CONTENT) + reading.classes.count(VERB)
    return (named > 1 or (named == 1 and content > 1)) and leans_on_nothing(reading, seen)


def _is_fragment(reading: Reading) -> bool:
    """Return True for a thing of which nothing is asked ("X呢？", "What about X?"), or 比 without a subject."""
    first, last = reading.clause
    words, classes = reading.words[first:last], reading.classes[first:last]
    if first > 1 or len(words) > MAX_FRAGMENT:
        return False
    if reading.language == "zh":
        spoken = [word for word, cls in zip(words, classes, strict=True) if cls != PUNCTUATION]
        if spoken[:1] == ["比"]:
            return True
        return spoken[-1:] == ["呢"] and FRAGMENT.issuperset(classes) and (NAME in classes or CONTENT in classes)
    return words[:2] in FRAGMENT_OPENERS and FRAGMENT.issuperset(classes[2:]) and not VERBAL.intersection(words[2:])


def _asks(reading: Reading) -> bool:
    return QUESTION in reading.classes or reading.text.rstrip().endswith(("?", "？"))


def _length(reading: Reading, settings: TriggerSettings) -> tuple[int, int]:
    """Return a message's length and what counts as short, in characters (Chinese) or words."""
    if reading.language == "zh":
        return len(reading.text), settings.short_max_chars
    return len(reading.classes) - reading.classes.count(PUNCTUATION), settings.short_max_words


def rule_score(cues: Sequence[Cue], *, complete: bool) -> float:
    """Return the score of the rules: how sure they are that a rewrite is needed, in steps.

    Args:
        cues: every cue of the message.
        complete: whether the message says itself what it is about.
    """
    names = {cue.name for cue in cues}
    if names & STRONG:
        return 0.9
    if not complete:
        return 0.8 if names & WEAK else 0.6
    return 0.3 if names & WEAK else 0.1


def reason_of(
    reading: Reading, seen: Sequence[int], cues: Sequence[Cue], *, fires: bool, complete: bool
) -> TriggerReason:
    """Return the strongest reason for a decision.

    Args:
        reading: the message.
        seen: for each word where it was said before.
        cues: every cue.
        fires: the decision.
        complete: whether the message says itself what it is about.
    """
    if fires:
        if reading.open_pronouns:
            return TriggerReason.PRONOUN
        names = {cue.name for cue in cues}
        for name, reason in REASONS:
            if name in names:
                return reason
        return TriggerReason.LEARNED if complete else TriggerReason.ELLIPSIS
    return TriggerReason.SELF_CONTAINED if any(seen) else TriggerReason.NEW_TOPIC


def context_cues(
    reading: Reading, history: HistoryReading, seen: Sequence[int], settings: TriggerSettings
) -> tuple[Cue, ...]:
    """Return the cues of a message together with those that take the history to see."""
    found = []
    length, limit = _length(reading, settings)
    if history.asks and length <= 2 * limit and not _asks(reading):
        found.append(Cue("slot_filling", reading.text, 0))
    if length <= limit:
        found.append(Cue("short", reading.text, 0))
    own = [index for index, cls in enumerate(reading.classes) if cls in OWN]
    if not own:
        first, _ = reading.clause
        start = reading.starts[first] if first < len(reading.starts) else 0
        found.append(Cue("ellipsis", reading.text[start:], start))
    elif all(seen[index] == SEEN_LAST and reading.classes[index] != NAME for index in own):
        found.append(Cue("continuation", reading.words[own[0]], 0))
    return tuple(sorted((*reading.cues, *found), key=lambda cue: cue.start)) if found else reading.cues


def is_complete(reading: Reading, seen: Sequence[int]) -> bool:
    """Return True if the message carries a name or a word of its own that says what it is about."""
    if reading.open_pronouns:
        return False
    if NAME in reading.classes:
        return True
    rare = RARE[reading.language]
    return any(
        cls in OWN and rarity >= rare and place == UNSEEN
        for cls, rarity, place in zip(reading.classes, reading.rarity, seen, strict=True)
    )
