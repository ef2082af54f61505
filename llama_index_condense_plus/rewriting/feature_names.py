"""Names of the features that the linear gate weighs: each function names those of one part of a message."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain, pairwise
from typing import Any, NamedTuple

Names = tuple[str, ...]
"""Names of features."""
Part = tuple[Any, ...]
"""A function of this module and its arguments, all of them small: few different parts occur in all, and what they add
to a sum can be remembered."""
Tags = tuple[str, ...]
"""Of what a part tells: of ``MESSAGE``, of its ``CLAUSE`` that asks, or of both where the one is the other."""

MESSAGE, CLAUSE = "m:", "k:"
FEW = (0, 1, 2, 3, 5, 8)
"""Edges between which counts are one feature; the weights are trained with these, as with the two below."""
LENGTHS = (1, 2, 3, 4, 5, 6, 8, 10, 14, 20)
"""Edges of a message's length, in words."""
RARITIES = (1, 3, 4, 5, 6)
"""Classes of rarity from which on a feature holds."""
MOST = 3
"""Words of one class and place that are counted."""
BEGINNING, END = "<", ">"
"""What stands around the asking clause."""


class Found(NamedTuple):
    """What was found in a message."""

    parts: Sequence[Part]
    """What it is made of."""
    wording: Sequence[str]
    """Names of what depends on its words: too many different ones occur to be remembered."""

    def names(self) -> list[str]:
        """Return the names of all features that hold."""
        return [*chain.from_iterable(map(names, self.parts)), *self.wording]


def names(part: Part) -> Names:
    """Return the names of the features that hold where a part holds."""
    name: Callable[..., Names] = part[0]
    return name(*part[1:])


def message(
    language: str,
    references: tuple[int, int],
    length: int,
    questions: tuple[bool, bool],
    marks: tuple[bool, bool, bool],
) -> Names:
    """Name what holds for the whole message.

    Args:
        language: its language.
        references: how many are open, and how many are bound.
        length: number of words.
        questions: whether the message asks, and whether the assistant asked before it.
        marks: whether something stands before the asking clause, the history holds answers, a number is named.
    """
    (opened, bound), (asks, asked), (lead, answered, number) = references, questions, marks
    found = (
        f"l:{language}",
        f"op{few(opened)}",
        f"bp{few(bound)}",
        f"len{_bucket(length, LENGTHS)}",
        f"asks{asks:d}{asked:d}",
    )
    return (*found, *("lead",) * lead, *("noans",) * (not answered), *("num",) * number)


def content(tags: Tags, mark: str, count: int) -> Names:
    """Name how many words with content are of one class and were said before in one place.

    Args:
        tags: of what.
        mark: class and place.
        count: how many there are.
    """
    return tuple(f"{tag}{mark}{'+' * more}" for tag in tags for more in range(min(MOST, count)))


def amount(tags: Tags, total: int, unseen: int, seen: int, named: int) -> Names:
    """Name how much content there is.

    Args:
        tags: of what.
        total: words with content.
        unseen: those but attributes that are new.
        seen: those that were said before.
        named: how many of both are names.
    """
    found = (
        f"tot{few(total)}",
        f"own{few(unseen + seen)}",
        f"un{few(unseen)}",
        f"sn{few(seen)}",
        f"un{min(unseen, MOST)}sn{min(seen, MOST)}",
        f"names{few(named)}",
    )
    return tuple(f"{tag}{name}" for tag in tags for name in found)


def rarest(tags: Tags, unseen: int, seen: int, answered: bool) -> Names:
    """Name how rare the rarest words with content are.

    Args:
        tags: of what.
        unseen: class of rarity of the rarest word that is new, or -1.
        seen: the same of those that were said before.
        answered: whether the history holds answers.
    """
    old = [name for tag in tags for name in _rarity(f"{tag}rs", seen)]
    new = [name for tag in tags for name in _rarity(f"{tag}ru", unseen)]
    return (*old, *_unless(answered, tuple(new)))


def clause(holds: tuple[bool, bool, bool, bool], places: tuple[bool, bool], context: tuple[bool, bool, bool]) -> Names:
    """Name which kinds of content the asking clause holds.

    Args:
        holds: whether it holds an attribute, a name, another word with content, a reference.
        places: whether any name or other word is new, and whether any was said before.
        context: whether a name stands before the clause, the message asks, the history holds answers.
    """
    (attribute, named, other, pronoun), (unseen, seen), (named_before, asks, answered) = holds, places, context
    kinds = (
        f"y:{attribute:d}{named or other:d}{pronoun:d}",
        f"x:{unseen:d}{seen:d}{attribute:d}{pronoun:d}",
        f"v:{unseen:d}{seen:d}{asks:d}",
    )
    return (f"z:{named_before:d}{attribute:d}{named:d}{other:d}{pronoun:d}", *_unless(answered, kinds))


def beginning(classes: str, pattern: str, answered: bool) -> Names:
    """Name the first words of the asking clause.

    Args:
        classes: the class of each.
        pattern: class and place of the first words with content.
        answered: whether the history holds answers.
    """
    return _unless(answered, (f"8:{classes}", f"9:{pattern}"))


def before(end: str, place: str, attribute: bool, own: bool) -> Names:
    """Name the last word before the asking clause, and what the clause holds."""
    return (f"pe:{end}{place}{'A' if attribute else ''}{'O' if own else ''}",)


def new_topic(named: bool, much: bool, long: bool) -> Names:
    """Name what a question holds in which nothing leans on the history."""
    return (*("new:name",) * named, *("new:content",) * much, *("new:sentence",) * (named and long))


def noun_phrase(article: str, length: int, after: str, last: str, place: int) -> Names:
    """Name how a noun phrase begins and ends: "the price" against "the price of"."""
    specified = "of" if after == "of" else ""
    return f"np:{article}{min(length, 3)}{after}", f"np:{article}{last}{place}{specified}"


def wording(cues: Sequence[str], lead: Sequence[str], exact: Sequence[str], rough: Sequence[str]) -> list[str]:
    """Name what depends on a message's words, each once.

    Args:
        cues: the signs found in it.
        lead: words that stand before the asking clause.
        exact: words of the asking clause; one with content as its class, the place where it was said before, and
            whether it is rare.
        rough: the same with the class alone.
    """
    exact, rough = (BEGINNING, *exact, END), (BEGINNING, *rough, END)
    found = [f"c:{cue}" for cue in cues]
    found += [f"p:{word}" for word in lead]
    found += [f"1:{word}" for word in exact[1:]]
    found += [f"2:{first} {second}" for first, second in pairwise(exact)]
    found += [f"4:{first} {second}" for first, second in pairwise(rough)]
    found += [f"5:{first} {second} {third}" for first, second, third in zip(rough, rough[1:], rough[2:], strict=False)]
    found += (f"6:{' '.join(rough[:4])}", f"7:{' '.join(rough[-3:])}")
    return list(dict.fromkeys(found))


def few(number: int) -> int:
    """Return a number as one of few."""
    return _bucket(number, FEW)


def _bucket(number: int, edges: tuple[int, ...]) -> int:
    return sum(number > edge for edge in edges)


def _rarity(tag: str, rarity: int) -> Names:
    return (f"{tag}{rarity}", *(f"{tag}>{edge}" for edge in RARITIES if rarity >= edge))


def _unless(answered: bool, found: Names) -> Names:
    """Add names of their own for histories without answers, where what is unseen may have been said in them."""
    return found if answered else (*found, *(f"na{name}" for name in found))
