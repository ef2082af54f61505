"""What the linear gate looks at: cues, content and where it was said before, and the skeleton of the asking clause.

Content words never enter by themselves: they are replaced by their class, so that what is learned in one domain
holds in another.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import compress
from typing import NamedTuple

from llama_index_condense_plus.rewriting import feature_names
from llama_index_condense_plus.rewriting.feature_names import CLAUSE, MESSAGE, Found, Part, Tags
from llama_index_condense_plus.rewriting.reading import (
    ATTRIBUTE,
    CLASSED,
    CONTENT,
    NAME,
    NUMBER,
    OWN,
    PRONOUN,
    PUNCTUATION,
    QUESTION,
    UNSEEN,
    VERB,
    HistoryReading,
    Reading,
)

MAX_WORDS = 24
"""Words of the asking clause that are looked at one by one."""
RARE = 5
"""Class of rarity that a skeleton shows."""
SENTENCE = 3
"""Words beyond which a clause is a sentence."""
ARTICLES = frozenset(("the", "any", "some", "other", "a", "an", "another", "most"))
AFTER_NOUN = frozenset(("of", "in", "for", "to", "that", "with", "on", "between", "at", "from", "by"))
LEANING = frozenset(("pronoun", "back_reference", "ordinal", "comparison", "opener"))
SUBSTITUTES = frozenset(("one", "ones", "there", "else", "then", "others", "too", "also", "instead"))
LEADING = frozenset("fqp")
SKIPPED = frozenset(PUNCTUATION + "f")


def features(reading: Reading, history: HistoryReading) -> list[str]:
    """Return the names of the features that hold for a message in its conversation."""
    return find(reading, history, places(reading, history)).names()


def find(reading: Reading, history: HistoryReading, seen: Sequence[int]) -> Found:
    """Return what there is to look at.

    Args:
        reading: the message.
        history: the conversation.
        seen: for each word where it was said before.
    """
    classes, words = reading.classes, reading.words
    first, last = reading.clause
    answered = history.answers > 0
    asks = QUESTION in classes or reading.text.rstrip()[-1:] in ("?", "？")
    parts = [_message(reading, history, asks=asks)]
    content, named = _content(reading, seen, 0, len(words)), classes.count(NAME)
    if (first, last) == (0, len(words)):
        parts += _amounts((MESSAGE, CLAUSE), content, named, answered=answered)
    else:
        parts += _amounts((MESSAGE,), content, named, answered=answered)
        content, named = _content(reading, seen, first, last), classes[first:last].count(NAME)
        parts += _amounts((CLAUSE,), content, named, answered=answered)
    parts += _clause(reading, content, asks=asks, answered=answered)
    if first:
        parts.append(_before(reading, seen))
    if asks and answered and not history.asks and leans_on_nothing(reading, seen):
        parts.append(_new_topic(classes[first:last]))
    if reading.language == "en":
        parts += dict.fromkeys(_noun_phrases(reading, seen))
    lead = [words[index] for index in range(first) if classes[index] in LEADING]
    cues = [cue.name for cue in reading.cues]
    return Found(parts, feature_names.wording(cues, lead, *_skeleton(reading, seen)))


def places(reading: Reading, history: HistoryReading) -> list[int]:
    """Return for each word where it was said before; words without content count as unseen."""
    where = history.seen
    return [where(word) if cls in CLASSED else 0 for word, cls in zip(reading.words, reading.classes, strict=True)]


def _message(reading: Reading, history: HistoryReading, *, asks: bool) -> Part:
    classes = reading.classes
    return (
        feature_names.message,
        reading.language,
        (reading.open_pronouns, reading.bound_pronouns),
        min(len(classes) - classes.count(PUNCTUATION), MAX_WORDS),
        (asks, history.asks),
        (reading.clause[0] > 1, history.answers > 0, NUMBER in classes),
    )


class _Content(NamedTuple):
    """The words with content of a message or of its asking clause."""

    marks: list[str]
    """Class and place of each."""
    unseen: int
    """How many are new, attributes left out."""
    seen: int
    """How many were said before, attributes left out."""
    rarest_unseen: int
    """Class of rarity of the rarest that is new, attributes left out; -1 if there is none."""
    rarest_seen: int
    """The same of those that were said before."""


def _content(reading: Reading, seen: Sequence[int], first: int, last: int) -> _Content:
    marks, count, rarest = [], [0, 0], [-1, -1]
    for cls, place, rarity in zip(
        reading.classes[first:last], seen[first:last], reading.rarity[first:last], strict=True
    ):
        if cls in CLASSED:
            marks.append(_MARKS[cls, place])
            if cls != ATTRIBUTE:
                old = place > UNSEEN
                count[old] += 1
                rarest[old] = max(rarest[old], rarity)
    return _Content(marks, *count, *rarest)


_OWN = frozenset(OWN)
_MARKS = {(cls, place): f"{cls}{place}" for cls in CLASSED for place in range(3)}


def _amounts(tags: Tags, content: _Content, named: int, *, answered: bool) -> Iterator[Part]:
    """Look at how much content there is, where it was said before, and how rare it is."""
    marks = content.marks
    for mark in dict.fromkeys(marks):
        yield feature_names.content, tags, mark, marks.count(mark)
    yield feature_names.amount, tags, len(marks), content.unseen, content.seen, named
    yield feature_names.rarest, tags, content.rarest_unseen, content.rarest_seen, answered


def _clause(reading: Reading, content: _Content, *, asks: bool, answered: bool) -> Iterator[Part]:
    """Look at which kinds of content the asking clause holds, and how it begins."""
    first, last = reading.clause
    classes = reading.classes
    clause = classes[first:last]
    holds = ATTRIBUTE in clause, NAME in clause, CONTENT in clause or VERB in clause, PRONOUN in clause
    places = content.unseen > 0, content.seen > 0
    yield feature_names.clause, holds, places, (NAME in classes[:first], asks, answered)
    yield feature_names.beginning, classes[first : first + 6], "".join(content.marks[:4]), answered


def _before(reading: Reading, seen: Sequence[int]) -> Part:
    """Look at the last word before the asking clause that has content or asks."""
    first, last = reading.clause
    classes = reading.classes
    clause = classes[first:last]
    at = first - 1
    while at >= 0 and classes[at] in SKIPPED:
        at -= 1
    end = "-" if at < 0 else classes[at]
    place = str(seen[at]) if end in CLASSED else ""
    return feature_names.before, end, place, ATTRIBUTE in clause, any(cls in clause for cls in OWN)


def _new_topic(clause: str) -> Part:
    """Look at how much there is in a clause that leans on nothing."""
    named = clause.count(NAME)
    much = clause.count(CONTENT) + clause.count(VERB) + named > 1
    return feature_names.new_topic, named > 0, much, len(clause) - clause.count(PUNCTUATION) > SENTENCE


def points(reading: Reading) -> bool:
    """Return True if a message holds a sign of a reference; a comparison of two names is none."""
    both = reading.classes.count(NAME) > 1
    return (
        reading.open_pronouns > 0
        or any(cue.name in LEANING and not (both and cue.name == "comparison") for cue in reading.cues)
        or not SUBSTITUTES.isdisjoint(reading.words)
    )


def leans_on_nothing(reading: Reading, seen: Sequence[int]) -> bool:
    """Return True if a message holds no sign of a reference and no name or content that was said before.

    Args:
        reading: the message.
        seen: for each word where it was said before.
    """
    return _OWN.isdisjoint(compress(reading.classes, seen)) and not points(reading)


def _noun_phrases(reading: Reading, seen: Sequence[int]) -> Iterator[Part]:
    """Look at English noun phrases with an article."""
    first, last = reading.clause
    classes, words = reading.classes, reading.words
    for index in range(first, min(last, first + MAX_WORDS)):
        if words[index] not in ARTICLES:
            continue
        end = index + 1
        while end < last and classes[end] in CLASSED:
            end += 1
        if end > index + 1:
            closed = end >= last or classes[end] == PUNCTUATION
            after = "end" if closed else "of" if words[end] in AFTER_NOUN else ""
            place = max(seen[index + 1 : end])
            yield feature_names.noun_phrase, words[index], end - index - 1, after, classes[end - 1], place


def _skeleton(reading: Reading, seen: Sequence[int]) -> tuple[list[str], list[str]]:
    """Return the words of the asking clause, those with content as their class: exactly, and roughly."""
    first = reading.clause[0]
    last = min(reading.clause[1], first + MAX_WORDS)
    words, classes, rarities = reading.words[first:last], reading.classes[first:last], reading.rarity[first:last]
    exact, rough = [], []
    for word, cls, place, rarity in zip(words, classes, seen[first:last], rarities, strict=True):
        if cls in CLASSED:
            shown, known = _SHOWN[cls, place, rarity >= RARE and cls != ATTRIBUTE]
        elif cls == PUNCTUATION:
            continue
        else:
            shown = known = "M" if cls == NUMBER else word
        exact.append(known)
        rough.append(shown)
    return exact, rough


_SHOWN = {
    (cls, place, rare): (cls.upper(), f"{cls.upper()}{place}{'r' if rare else ''}")
    for cls in CLASSED
    for place in range(3)
    for rare in (False, True)
}
"""How a skeleton shows a word with content: roughly, and with the place where it was said before."""
