"""Chinese pronouns: which of them stand for something, and whether the message itself says for what."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from llama_index_condense_plus.lexicons.rarity import RAREST
from llama_index_condense_plus.lexicons.text import Token
from llama_index_condense_plus.rewriting.reading import ATTRIBUTE, CONTENT, NAME, NUMBER, VERB

BARE = frozenset("其该此")
"""Pronouns that are one only before a noun."""
AFTER_BARE = frozenset("nvaj")
"""First letters of tags that such a one stands before."""
SINGLE = frozenset("他她它")
"""Pronouns that are none inside a longer word or name."""
AFTER_PAUSE = frozenset((",", "。", "…"))
"""What follows 那个 where it only fills a pause."""
NOUN_CLASSES = frozenset((NAME, ATTRIBUTE, CONTENT, NUMBER))
NOUNS = frozenset("nlijzx")
"""First letters of tags of nouns."""
MINE = frozenset(("我", "我们", "咱", "咱们", "我家"))
"""Words before a noun that brings in somebody new: 我女儿."""
PERSONS = frozenset(("male", "female", "person"))
PERSON_TAGS = frozenset(("nr", "nrt", "nrfg", "nz"))
PIECES = frozenset(("g", "ng", "nr", "nz", "zg", "vg", "ag", "tg", "j", "x", "nrfg", "nrt"))
"""Tags of single characters that stand side by side only in a name."""
CLAUSE_MARKS = frozenset("，。,？?！!")

Spans = Sequence[tuple[int, int]]
"""Where quotes open and close, in characters."""


class Words(NamedTuple):
    """The words of a message."""

    tokens: Sequence[Token]
    """As written, with their tags."""
    folded: Sequence[str]
    """Each folded."""
    classes: list[str]
    """The class of each."""
    rarity: Sequence[int]
    """How rare each is."""
    quoted: Spans
    """What stands in quotes."""


def inside(start: int, spans: Spans) -> bool:
    """Return True if a place lies in quotes."""
    return any(first < start < last for first, last in spans)


def refers(phrase: str, index: int | None, after: str, words: Words) -> bool:
    """Return False for what only looks like a pronoun.

    Args:
        phrase: the pronoun.
        index: which word it is; None if it is no whole word.
        after: the character behind it.
        words: those of the message.
    """
    tokens = words.tokens
    if phrase in BARE:
        if index is None or tokens[index].text != phrase:
            return False
        return index + 1 < len(tokens) and tokens[index + 1].pos[0] in AFTER_BARE
    if phrase in SINGLE:
        return index is not None
    if phrase == "那个":
        return after not in AFTER_PAUSE
    return phrase not in ("这样", "那样") or after != "的"


def follows_noun(index: int | None, words: Words) -> bool:
    """Return True if a place stands beside its own noun: 我们部门这边."""
    return (
        bool(index)
        and words.classes[(index or 1) - 1] in NOUN_CLASSES
        and words.tokens[(index or 1) - 1].pos[0] in NOUNS
    )


def has_antecedent(kind: str, start: int, words: Words) -> bool:
    """Return True if the message itself may say what a pronoun stands for: a fitting name before it.

    Args:
        kind: what it may stand for, as in a lexicon's ``pronoun_classes``.
        start: where it stands, in characters.
        words: those of the message.
    """
    if kind == "time":
        return False
    person = kind in PERSONS
    for index, (token, cls) in enumerate(zip(words.tokens, words.classes, strict=True)):
        if token.start >= start:
            return False
        if person and index > 0 and words.folded[index - 1] in MINE and token.pos[0] == "n":
            return True
        if cls == NAME:
            if not person or token.pos in PERSON_TAGS or inside(token.start, words.quoted):
                return True
        elif cls in (CONTENT, VERB) and _may_name(index, words):
            return True
    return False


def title_follows(end: int, last: int, text: str, quoted: Spans) -> bool:
    """Return True for 他的《…》: what is asked about is named after the pronoun, in the same clause."""
    return any(
        end <= first < last and text[first] == "《" and CLAUSE_MARKS.isdisjoint(text[end:first]) for first, _ in quoted
    )


def _may_name(index: int, words: Words) -> bool:
    """Return True for a rare noun, or for pieces of a name that the dictionary does not hold."""
    tokens = words.tokens
    pos = tokens[index].pos
    if len(words.folded[index]) > 1:
        return words.rarity[index] == RAREST and pos[0] in NOUNS
    after = tokens[index + 1] if index + 1 < len(tokens) else None
    return pos in PIECES and after is not None and len(after.text) == 1 and after.pos in PIECES
