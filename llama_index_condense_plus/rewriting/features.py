"""What the linear gate counts: cues, content and where it was said before, and the skeleton of the asking clause.

Content words never enter by themselves: they are replaced by their class, so that what is learned in one domain
holds in another.
"""

from __future__ import annotations

from llama_index_condense_plus.languages.rarity import RAREST
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
LENGTHS = (1, 2, 3, 4, 5, 6, 8, 10, 14, 20)
FEW = (0, 1, 2, 3, 5, 8)
RARE = 5
"""Class of rarity that a skeleton shows."""
ARTICLES = frozenset(("the", "any", "some", "other", "a", "an", "another", "most"))
AFTER_NOUN = frozenset(("of", "in", "for", "to", "that", "with", "on", "between", "at", "from", "by"))
LEANING = frozenset(("pronoun", "back_reference", "ordinal", "comparison", "opener"))
SUBSTITUTES = frozenset(("one", "ones", "there", "else", "then", "others", "too", "also", "instead"))
TELLING = ("x:", "v:", "y:", "k:ru", "m:ru", "8:", "9:")
"""Features that weigh otherwise if the history holds no answers: then what is unseen may have been said in them."""
LEADING = frozenset("fqp")
SKIPPED = frozenset(PUNCTUATION + "f")


def features(reading: Reading, history: HistoryReading) -> set[str]:
    """Return the names of the features that hold for a message in its conversation."""
    found: set[str] = {f"c:{cue.name}" for cue in reading.cues}
    classes, words = reading.classes, reading.words
    first, last = reading.clause
    seen = places(reading, history)
    _content(found, "m:", reading, seen, 0, len(words))
    _content(found, "k:", reading, seen, first, last)
    asks = QUESTION in classes or reading.text.rstrip()[-1:] in ("?", "？")
    found.update(
        (
            f"op{_few(reading.open_pronouns)}",
            f"bp{_few(reading.bound_pronouns)}",
            f"len{_LENGTHS[min(len(words) - classes.count(PUNCTUATION), _MOST_LENGTH)]}",
            f"asks{asks:d}{history.asks:d}",
            f"l:{reading.language}",
        )
    )
    if first > 1:
        found.add("lead")
    if not history.answers:
        found.add("noans")
    if NUMBER in classes:
        found.add("num")
    _clause(found, reading, seen, asks=asks)
    if asks and history.answers and not history.asks:
        _new_topic(found, reading, seen)
    found.update(f"p:{words[index]}" for index in range(first) if classes[index] in LEADING)
    found.add(f"8:{classes[first : first + 6]}")
    found.add("9:" + "".join(f"{classes[i]}{seen[i]}" for i in range(first, last) if classes[i] in CLASSED)[:8])
    if reading.language == "en":
        _noun_phrases(found, reading, seen)
    _skeleton(found, reading, seen)
    if not history.answers:
        found.update([f"na{feature}" for feature in found if feature.startswith(TELLING)])
    return found


def places(reading: Reading, history: HistoryReading) -> list[int]:
    """Return for each word where it was said before; words without content count as unseen."""
    return [
        history.seen(word) if cls in CLASSED else 0 for word, cls in zip(reading.words, reading.classes, strict=True)
    ]


def _buckets(edges: tuple[int, ...]) -> tuple[int, ...]:
    """Return the bucket of each number up to one beyond the last edge, which stands for all above it."""
    return tuple(sum(number > edge for edge in edges) for number in range(edges[-1] + 2))


_LENGTHS, _FEW = _buckets(LENGTHS), _buckets(FEW)
_MOST_LENGTH, _MOST_FEW = len(_LENGTHS) - 1, len(_FEW) - 1
_RARITIES = {
    (tag, rarity): (f"{tag}{rarity}", *(f"{tag}>{edge}" for edge in (1, 3, 4, 5, 6) if rarity >= edge))
    for tag in ("m:ru", "m:rs", "k:ru", "k:rs")
    for rarity in range(-1, RAREST + 1)
}
"""The features that say how rare the rarest word is."""


def _few(number: int) -> int:
    return _FEW[min(_MOST_FEW, number)]


def _content(found: set[str], tag: str, reading: Reading, seen: list[int], first: int, last: int) -> None:
    """Count names, attributes and other content, unseen, seen before and seen last, and how rare they are."""
    counts: dict[str, int] = {}
    rare_unseen = rare_seen = -1
    own = unseen = names = 0
    for index in range(first, last):
        cls = reading.classes[index]
        if cls not in CLASSED:
            continue
        place = seen[index]
        key = f"{tag}{cls}{place}"
        counts[key] = counts.get(key, 0) + 1
        if cls == ATTRIBUTE:
            continue
        own += 1
        names += cls == NAME
        if place:
            rare_seen = max(rare_seen, reading.rarity[index])
        else:
            unseen += 1
            rare_unseen = max(rare_unseen, reading.rarity[index])
    for key, count in counts.items():
        found.update((key, f"{key}+", f"{key}++")[:count])
    found.update(
        (
            f"{tag}tot{_few(sum(counts.values()))}",
            f"{tag}own{_few(own)}",
            f"{tag}un{_few(unseen)}",
            f"{tag}sn{_few(own - unseen)}",
            f"{tag}un{min(unseen, 3)}sn{min(own - unseen, 3)}",
            f"{tag}names{_few(names)}",
        )
    )
    found.update(_RARITIES[f"{tag}ru", rare_unseen], _RARITIES[f"{tag}rs", rare_seen])


def _clause(found: set[str], reading: Reading, seen: list[int], *, asks: bool) -> None:
    """Say what the asking clause holds, and what stands before it."""
    first, last = reading.clause
    classes = reading.classes
    clause = classes[first:last]
    attribute, name, content, pronoun = (cls in clause for cls in (ATTRIBUTE, NAME, CONTENT, PRONOUN))
    content = content or VERB in clause
    own_unseen = own_seen = False
    for index in range(first, last):
        if classes[index] in OWN:
            own_seen = own_seen or seen[index] > 0
            own_unseen = own_unseen or seen[index] == 0
    found.update(
        (
            f"z:{NAME in classes[:first]:d}{attribute:d}{name:d}{content:d}{pronoun:d}",
            f"y:{attribute:d}{name or content:d}{pronoun:d}",
            f"x:{own_unseen:d}{own_seen:d}{attribute:d}{pronoun:d}",
            f"v:{own_unseen:d}{own_seen:d}{asks:d}",
        )
    )
    if first:
        before = first - 1
        while before >= 0 and classes[before] in SKIPPED:
            before -= 1
        end = "-" if before < 0 else classes[before]
        place = str(seen[before]) if end in CLASSED else ""
        found.add(f"pe:{end}{place}{'A' if attribute else ''}{'O' if name or content else ''}")


def _new_topic(found: set[str], reading: Reading, seen: list[int]) -> None:
    """Note a question in which nothing leans on the history, although that holds answers."""
    if not leans_on_nothing(reading, seen):
        return
    first, last = reading.clause
    clause = reading.classes[first:last]
    names = clause.count(NAME)
    if names:
        found.add("new:name")
    if clause.count(CONTENT) + clause.count(VERB) + names > 1:
        found.add("new:content")
    if names and len(clause) - clause.count(PUNCTUATION) > 3:  # noqa: PLR2004
        found.add("new:sentence")


def points(reading: Reading) -> bool:
    """Return True if a message holds a sign of a reference; a comparison of two names is none."""
    both = reading.classes.count(NAME) > 1
    return (
        reading.open_pronouns > 0
        or any(cue.name in LEANING and not (both and cue.name == "comparison") for cue in reading.cues)
        or any(word in SUBSTITUTES for word in reading.words)
    )


def leans_on_nothing(reading: Reading, seen: list[int]) -> bool:
    """Return True if a message holds no sign of a reference and no name or content that was said before.

    Args:
        reading: the message.
        seen: for each word where it was said before.
    """
    if points(reading):
        return False
    return not any(place and cls in OWN for place, cls in zip(seen, reading.classes, strict=True))


def _noun_phrases(found: set[str], reading: Reading, seen: list[int]) -> None:
    """Say how English noun phrases begin and whether something specifies them: "the price" against "the price of X"."""
    first, last = reading.clause
    classes, words = reading.classes, reading.words
    for index in range(first, min(last, first + MAX_WORDS)):
        if words[index] not in ARTICLES:
            continue
        end = index + 1
        while end < last and classes[end] in CLASSED:
            end += 1
        length = end - index - 1
        if length:
            after = words[end] if end < last else ""
            specified = "of" if after in AFTER_NOUN else ""
            ends = "end" if end >= last or classes[end] == PUNCTUATION else ""
            found.add(f"np:{words[index]}{min(length, 3)}{specified or ends}")
            found.add(f"np:{words[index]}{classes[end - 1]}{max(seen[index + 1 : end])}{specified}")


def _skeleton(found: set[str], reading: Reading, seen: list[int]) -> None:
    """Add one to three neighbouring words of the asking clause, content words as their class."""
    first, last = reading.clause
    rough, fine = ["<"], ["<"]
    for index in range(first, min(last, first + MAX_WORDS)):
        cls = reading.classes[index]
        if cls == PUNCTUATION:
            continue
        if cls in CLASSED:
            rough.append(cls.upper())
            rare = "r" if cls != ATTRIBUTE and reading.rarity[index] >= RARE else ""
            fine.append(f"{cls.upper()}{seen[index]}{rare}")
        else:
            word = "M" if cls == NUMBER else reading.words[index]
            rough.append(word)
            fine.append(word)
    rough.append(">")
    fine.append(">")
    previous, before = fine[0], rough[0]
    earlier = ""
    for exact, word in zip(fine[1:], rough[1:], strict=True):
        found.add(f"1:{exact}")
        found.add(f"2:{previous} {exact}")
        pair = f"{before} {word}"
        found.add(f"4:{pair}")
        if earlier:
            found.add(f"5:{earlier} {pair}")
        earlier, before, previous = before, word, exact
    found.add("6:" + " ".join(rough[:4]))
    found.add("7:" + " ".join(rough[-3:]))
