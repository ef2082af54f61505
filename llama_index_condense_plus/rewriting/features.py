"""What the linear gate looks at: cues, content and where it was said before, and the skeleton of the asking clause.

Content words never enter by themselves: they are replaced by their class, so that what is learned in one domain
holds in another.
"""

from __future__ import annotations

from collections.abc import Sequence

from llama_index_condense_plus.rewriting import feature_names as name
from llama_index_condense_plus.rewriting.feature_names import Part
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
    return [found for part in parts(reading, history, places(reading, history)) for found in name.names(part)]


def parts(reading: Reading, history: HistoryReading, seen: Sequence[int]) -> list[Part]:
    """Return what there is to look at, each once.

    Args:
        reading: the message.
        history: the conversation.
        seen: for each word where it was said before.
    """
    classes, words = reading.classes, reading.words
    first, last = reading.clause
    clause = classes[first:last]
    answered, asked = history.answers > 0, history.asks
    asks = QUESTION in classes or reading.text.rstrip()[-1:] in ("?", "？")
    length = len(words) - classes.count(PUNCTUATION)
    whole, inner = _content(reading, seen, 0, len(words)), _content(reading, seen, first, last)
    found: list[Part] = [(name.cue, cue.name) for cue in reading.cues]
    found += (
        (
            name.message,
            reading.language,
            (reading.open_pronouns, reading.bound_pronouns),
            min(length, MAX_WORDS),
            (asks, asked),
            (first > 1, answered, NUMBER in classes),
        ),
        (name.content, "m:", *whole, answered),
        (name.content, "k:", *inner, answered),
        (name.clause, inner[0], PRONOUN in clause, NAME in classes[:first], asks, answered),
        (name.opening, classes[first : first + 6], answered),
    )
    if first:
        found += [(name.lead, words[index]) for index in range(first) if classes[index] in LEADING]
        found.append(_before(reading, seen))
    if asks and answered and not asked and leans_on_nothing(reading, seen):
        named = clause.count(NAME)
        much = clause.count(CONTENT) + clause.count(VERB) + named > 1
        found.append((name.new_topic, named > 0, much, len(clause) - clause.count(PUNCTUATION) > SENTENCE))
    if reading.language == "en":
        _noun_phrases(found, reading, seen)
    _skeleton(found, reading, seen)
    return list(dict.fromkeys(found))


def places(reading: Reading, history: HistoryReading) -> list[int]:
    """Return for each word where it was said before; words without content count as unseen."""
    where = history.seen
    return [where(word) if cls in CLASSED else 0 for word, cls in zip(reading.words, reading.classes, strict=True)]


def _content(reading: Reading, seen: Sequence[int], first: int, last: int) -> tuple[str, int, int]:
    """Return class and place of the words with content, and how rare the rarest are: new, and said before."""
    pattern, rarest = "", [-1, -1]
    for cls, place, rarity in zip(
        reading.classes[first:last], seen[first:last], reading.rarity[first:last], strict=True
    ):
        if cls in CLASSED:
            pattern += _MARKS[cls, place]
            if cls != ATTRIBUTE and rarity > rarest[place > 0]:
                rarest[place > 0] = rarity
    return pattern, rarest[0], rarest[1]


_MARKS = {(cls, place): f"{cls}{place}" for cls in CLASSED for place in range(3)}


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
    return name.before, end, place, ATTRIBUTE in clause, any(cls in clause for cls in OWN)


def points(reading: Reading) -> bool:
    """Return True if a message holds a sign of a reference; a comparison of two names is none."""
    both = reading.classes.count(NAME) > 1
    return (
        reading.open_pronouns > 0
        or any(cue.name in LEANING and not (both and cue.name == "comparison") for cue in reading.cues)
        or any(word in SUBSTITUTES for word in reading.words)
    )


def leans_on_nothing(reading: Reading, seen: Sequence[int]) -> bool:
    """Return True if a message holds no sign of a reference and no name or content that was said before.

    Args:
        reading: the message.
        seen: for each word where it was said before.
    """
    if points(reading):
        return False
    return not any(place and cls in OWN for place, cls in zip(seen, reading.classes, strict=True))


def _noun_phrases(found: list[Part], reading: Reading, seen: Sequence[int]) -> None:
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
            found.append((name.noun_phrase, words[index], end - index - 1, after, classes[end - 1], place))


def _skeleton(found: list[Part], reading: Reading, seen: Sequence[int]) -> None:
    """Look at the asking clause word by word, content words as their class."""
    first = reading.clause[0]
    last = min(reading.clause[1], first + MAX_WORDS)
    rough = ["<"]
    earlier, before, previous = "", "<", "<"
    words, classes, rarities = reading.words[first:last], reading.classes[first:last], reading.rarity[first:last]
    for word, cls, place, rarity in zip(words, classes, seen[first:last], rarities, strict=True):
        if cls == PUNCTUATION:
            continue
        if cls in CLASSED:
            shown, exact = _SHOWN[cls, place, rarity >= RARE and cls != ATTRIBUTE]
        else:
            shown = exact = "M" if cls == NUMBER else word
        found += ((name.word, exact), (name.pair, previous, exact), (name.rough_pair, before, shown))
        if earlier:
            found.append((name.triple, earlier, before, shown))
        rough.append(shown)
        earlier, before, previous = before, shown, exact
    found += ((name.word, ">"), (name.pair, previous, ">"), (name.rough_pair, before, ">"))
    if earlier:
        found.append((name.triple, earlier, before, ">"))
    rough.append(">")
    found.append((name.ends, " ".join(rough[:4]), " ".join(rough[-3:])))


_SHOWN = {
    (cls, place, rare): (cls.upper(), f"{cls.upper()}{place}{'r' if rare else ''}")
    for cls in CLASSED
    for place in range(3)
    for rare in (False, True)
}
"""How a skeleton shows a word with content: roughly, and with the place where it was said before."""
