"""English pronouns: which of them stand for something, and whether the message itself says for what."""

from __future__ import annotations

from collections.abc import Sequence

from llama_index_condense_plus.lexicons.en_grammar import (
    AFTER_THOSE,
    BE,
    BEFORE_EXPLETIVE,
    BOUNDARIES,
    CLOSING,
    DETERMINERS,
    EXPLETIVE_ADJECTIVES,
    EXPLETIVE_TAILS,
    EXPLETIVE_VERBS,
    PERSON_ENDINGS,
    PERSONAL,
    POSSESSIVES,
    PREPOSITIONS,
    RELATIVE_VERBS,
    THINKING,
    TIMES,
    VERB_ENDINGS,
    WEATHER,
)
from llama_index_condense_plus.rewriting.reading import ATTRIBUTE, CONTENT, NAME, OWN, QUESTION

NOMINAL = NAME + ATTRIBUTE + CONTENT
"""Classes of English words that may be nouns."""
_CLAUSE_OPENERS = frozenset({"so", "then", "that", "as"})
"""Boundaries that are none at the beginning of a message."""
_NEAR = 7
"""Words before a pronoun in which its clause begins, if an earlier one can say what it means."""


def refers(index: int, words: Sequence[str], classes: Sequence[str]) -> bool:
    """Return False for an it, this, that or those which stands for nothing.

    Args:
        index: the pronoun.
        words: the message's words, in lower case.
        classes: the class of each.
    """
    word = words[index]
    after = words[index + 1] if index + 1 < len(words) else ""
    if word in ("it", "it's"):
        return not _is_expletive(index, words)
    if word == "that":
        before = words[index - 1] if index else ""
        after_noun = bool(index) and classes[index - 1] in NOMINAL
        joins = before in THINKING or (after_noun and before not in BE and after not in CLOSING)
        return not joins and not (after_noun and after in RELATIVE_VERBS)
    if word in ("this", "these"):
        return after not in TIMES
    return word != "those" or after not in AFTER_THOSE


def _is_expletive(index: int, words: Sequence[str]) -> bool:
    """Return True for "is it possible to", "it takes … to", "it is raining"."""
    contracted = words[index] == "it's"
    after = words[index + 1 : index + 8]
    if index and words[index - 1] in BEFORE_EXPLETIVE and _has_empty_predicate(after):
        return True
    if after and (contracted or after[0] in BE):
        return _has_empty_predicate(after if contracted else after[1:])
    return bool(after) and after[0] in EXPLETIVE_VERBS and "to" in after


def _has_empty_predicate(words: Sequence[str]) -> bool:
    """Return True for "possible to", "raining"."""
    at = next((at for at, word in enumerate(words[:3]) if word in EXPLETIVE_ADJECTIVES), None)
    if at is None:
        return False
    return words[at] in WEATHER or not EXPLETIVE_TAILS.isdisjoint(words[at + 1 : at + 3])


def has_antecedent(index: int, words: Sequence[str], classes: Sequence[str]) -> bool:
    """Return True if the message itself may say what a pronoun stands for.

    That takes a noun or a name in an earlier clause, with nothing but small words between the beginning of its own
    clause and the pronoun ("What is X and why is it …"); a possessive may also mean the subject of its own clause.

    Args:
        index: the pronoun.
        words: the message's words, in lower case.
        classes: the class of each.
    """
    if _introduced(index, words, classes):
        return True
    personal = words[index] in PERSONAL
    boundary = _clause_before(index, words, classes)
    if any(_names_something(at, words, classes, personal=personal) for at in range(boundary)):
        return True
    if words[index] in POSSESSIVES and (not index or words[index - 1] != "of"):
        return any(_names_something(at, words, classes, personal=personal) for at in range(index - 1))
    return False


def _introduced(index: int, words: Sequence[str], classes: Sequence[str]) -> bool:
    """Return True if an earlier clause brings in something new that the pronoun may mean: "if a guest …, can she …"."""
    apart = False
    for at in range(index - 1, 0, -1):
        if apart and words[at] in ("a", "an") and any(kind in OWN for kind in classes[at + 1 : at + 3]):
            return True
        apart = apart or words[at] in BOUNDARIES or classes[at] == QUESTION
    return apart and words[0] in ("a", "an")


def _clause_before(index: int, words: Sequence[str], classes: Sequence[str]) -> int:
    """Return where the clause before the pronoun's own ends; 0 if something between them may be meant instead."""
    for back in range(index - 1, max(-1, index - _NEAR), -1):
        if words[back] in BOUNDARIES and (back or words[back] not in _CLAUSE_OPENERS):
            return back
        if classes[back] in (NAME, ATTRIBUTE) or words[back] in PREPOSITIONS:
            break
    return 0


def _names_something(index: int, words: Sequence[str], classes: Sequence[str], *, personal: bool) -> bool:
    kind = classes[index]
    if kind == NAME:
        return True
    if kind != CONTENT or words[index].endswith(VERB_ENDINGS):
        return False
    before = words[index - 1] if index else ""
    if personal:
        return before in ("a", "an") or words[index].endswith(PERSON_ENDINGS)
    return (
        before in DETERMINERS
        or before in PREPOSITIONS
        or before in BE
        or words[index].endswith("s")
        or (bool(index) and classes[index - 1] in (CONTENT, ATTRIBUTE))
    )
