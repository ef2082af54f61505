"""Names of the features that the linear gate weighs: each function names those of one part of a message."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llama_index_condense_plus.rewriting.reading import ATTRIBUTE, CONTENT, NAME, OWN, UNSEEN, VERB

Part = tuple[Any, ...]
"""A function of this module and its arguments, all of them small: few different parts occur in all."""
Names = tuple[str, ...]
"""Names of features."""

FEW = (0, 1, 2, 3, 5, 8)
"""Edges between which counts are one feature; the weights are trained with these, as with the two below."""
LENGTHS = (1, 2, 3, 4, 5, 6, 8, 10, 14, 20)
"""Edges of a message's length, in words."""
RARITIES = (1, 3, 4, 5, 6)
"""Classes of rarity from which on a feature holds."""


def names(part: Part) -> Names:
    """Return the names of the features that hold where a part holds."""
    name: Callable[..., Names] = part[0]
    return name(*part[1:])


def cue(name: str) -> Names:
    """Name a sign found in the message."""
    return (f"c:{name}",)


def lead(word: str) -> Names:
    """Name a word that stands before the asking clause."""
    return (f"p:{word}",)


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


def content(tag: str, pattern: str, rare_unseen: int, rare_seen: int, answered: bool) -> Names:
    """Name how much content there is, where it was said before, and how rare it is.

    Args:
        tag: of what: ``m:`` the message, ``k:`` its asking clause.
        pattern: class and place of each word with content.
        rare_unseen: class of rarity of the rarest word that is new, or -1.
        rare_seen: the same of those that were said before.
        answered: whether the history holds answers.
    """
    words = [pattern[at : at + 2] for at in range(0, len(pattern), 2)]
    own = [word for word in words if word[0] != ATTRIBUTE]
    unseen = sum(word[1] == str(UNSEEN) for word in own)
    seen = len(own) - unseen
    found = [f"{tag}{word}{'+' * more}" for word in dict.fromkeys(words) for more in range(min(3, words.count(word)))]
    found += [
        f"{tag}tot{few(len(words))}",
        f"{tag}own{few(len(own))}",
        f"{tag}un{few(unseen)}",
        f"{tag}sn{few(seen)}",
        f"{tag}un{min(unseen, 3)}sn{min(seen, 3)}",
        f"{tag}names{few(sum(word[0] == NAME for word in own))}",
        *_rarity(f"{tag}rs", rare_seen),
    ]
    return (*found, *_unless(answered, _rarity(f"{tag}ru", rare_unseen)))


def clause(pattern: str, pronoun: bool, named_before: bool, asks: bool, answered: bool) -> Names:
    """Name which kinds of content the asking clause holds."""
    classes, places = pattern[::2], pattern[1::2]
    own = [place != str(UNSEEN) for cls, place in zip(classes, places, strict=True) if cls in OWN]
    attribute, name = ATTRIBUTE in classes, NAME in classes
    other = CONTENT in classes or VERB in classes
    unseen, seen = not all(own), any(own)
    kinds = (
        f"y:{attribute:d}{name or other:d}{pronoun:d}",
        f"x:{unseen:d}{seen:d}{attribute:d}{pronoun:d}",
        f"v:{unseen:d}{seen:d}{asks:d}",
        f"9:{pattern[:8]}",
    )
    return (f"z:{named_before:d}{attribute:d}{name:d}{other:d}{pronoun:d}", *_unless(answered, kinds))


def opening(classes: str, answered: bool) -> Names:
    """Name the classes of the first words of the asking clause."""
    return _unless(answered, (f"8:{classes}",))


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


def word(exact: str) -> Names:
    """Name a word of the asking clause, or its class and where it was said before."""
    return (f"1:{exact}",)


def pair(previous: str, exact: str) -> Names:
    """Name two neighbouring words, or their classes and where they were said before."""
    return (f"2:{previous} {exact}",)


def rough_pair(before: str, shown: str) -> Names:
    """Name two neighbouring words, or their classes."""
    return (f"4:{before} {shown}",)


def triple(earlier: str, before: str, shown: str) -> Names:
    """Name three neighbouring words, or their classes."""
    return (f"5:{earlier} {before} {shown}",)


def ends(first: str, last: str) -> Names:
    """Name the first and the last words of the asking clause."""
    return f"6:{first}", f"7:{last}"


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
