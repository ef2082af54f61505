"""Weighing the names of a conversation by what its last question was about and what a reference may mean."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from llama_index_condense_plus.lexicons.text import fold, has_han, tokenize
from llama_index_condense_plus.operations import RuleOutcome
from llama_index_condense_plus.rewriting.noun_phrases import noun_phrases
from llama_index_condense_plus.rewriting.persons import looks_like_person, person_fit
from llama_index_condense_plus.rewriting.phrase import NounPhrase
from llama_index_condense_plus.rewriting.standing import Standing
from llama_index_condense_plus.types import Entity

Ranked = list[tuple[Entity, float]]
"""Entities with their salience, highest first."""

CLEAR_LEAD = 1.5
"""An entity this many times as salient as the next stands alone; else both are searched."""
TIE = 1.001
"""Below this ratio two candidates are equally likely."""
_FIT = {
    "place": {"place": 1.0, "organisation": 1.0, "person": 0.3, "title": 0.4, "code": 0.2},
    "thing": {"person": 0.3, "place": 0.7},
}
"""How well a kind of entity fits a kind of reference; 1 where nothing is said."""
IN_QUESTION = 1.3
"""A name in the last question counts this much more."""
UNSAID = 0.7
"""A name that only the assistant said counts this much."""
SUBJECT = 1.6
"""What the last English question was about counts this many times the best other name."""
_STRONG = frozenset({"title", "framed"})
MAX_PERSONS = 32
"""Candidates that are looked at as persons, the most salient."""
_MAX_ADDED = 4
"""Characters of Chinese nouns that a name may be short of."""
_MAX_WORDS = 5
"""Words of an English phrase that a name is part of."""


def with_subject(names: Ranked, about: NounPhrase, rounds: Sequence[Standing], said: str) -> Ranked:
    """Weigh names by what the last question was about.

    A name that only the assistant said is less likely meant; what the question was about stands for itself if no name
    of the user's is left, and a name in it gets the nouns around it (云海 → 云海科技).
    """
    asked = _asked(rounds)
    weighed: Ranked = []
    for entity, score in names:
        key = fold(entity.text)
        if any(key in question for question in asked):
            score *= IN_QUESTION  # noqa: PLW2901
        elif key not in said and not _strong(entity):
            score *= UNSAID  # noqa: PLW2901
        weighed.append((replace(entity, text=about.text) if is_part(entity, about.text) else entity, score))
    if _is_asked_name(about, rounds[-1]):
        weighed = _with_name_first(weighed, about)
    weighed = _distinct(sorted(weighed, key=lambda pair: -pair[1]))
    held = any(fold(about.text) in fold(e.text) for e, _ in weighed)
    if not held and (not weighed or _gives_way(weighed[0][0], about, rounds[-1], said)):
        kind = "name" if _may_be_person(about) else "term"
        weighed.insert(0, (Entity(about.text, kind, about.start), 2 * weighed[0][1] if weighed else 1.0))
    return weighed


def _gives_way(first: Entity, about: NounPhrase, last: Standing, said: str) -> bool:
    """Return True if what the last question was about is likelier meant than the likeliest name.

    Only the assistant said the name, or the talk has since changed its language (Kestrel, then 红隼).
    """
    name = fold(first.text)
    left = last.whole and about.kind == "name" and has_han(about.text) != has_han(name)
    older = left and name not in fold(f"{last.text}\n{last.answer}")
    return older or (name not in said and not _strong(first))


def _with_name_first(weighed: Ranked, about: NounPhrase) -> Ranked:
    """Put the name that the last question was about before the names beside it (Pixel Watch 3 before iPhone)."""
    rest = [(e, score) for e, score in weighed if fold(e.text).removeprefix("the ") not in fold(about.text)]
    best = max((score for _, score in rest), default=1.0)
    longer = [e for e, _ in rest if fold(about.text) in fold(e.text)]
    if longer:  # Home Basic for Basic; Project A or B for Project
        return [(e, SUBJECT * best if [e] == longer else score) for e, score in weighed]
    return [(Entity(about.text, "name", about.start), SUBJECT * best), *rest]


def _distinct(ranked: Ranked) -> Ranked:
    """Return each name once, where it stands first."""
    return list({fold(entity.text): (entity, score) for entity, score in reversed(ranked)}.values())[::-1]


def _is_asked_name(about: NounPhrase, last: Standing) -> bool:
    """Return True for an English name that a question was about, with the common nouns after it."""
    words = about.text.split()
    said_so = last.whole and "?" in last.text
    return said_so and words[0][0].isupper() and "'" not in about.text and not has_han(about.text)


def _strong(entity: Entity) -> bool:
    """Return True for a name whoever said it; a "person" without a family name is often a thing (银行卡)."""
    return entity.kind in _STRONG or (entity.kind == "person" and looks_like_person(entity.text))


def _asked(rounds: Sequence[Standing]) -> tuple[str, ...]:
    """Return the last question, if it is certain what it was about: as it was said, or as the one before it."""
    last = fold(rounds[-1].text)
    if rounds[-1].whole or len(rounds) == 1:
        return (last,) if rounds[-1].whole else ()
    return tuple(phrase for p in noun_phrases(rounds[-2].text) if (phrase := fold(p.text)) in last)


def _may_be_person(about: NounPhrase) -> bool:
    """Return True for a short Chinese name that jieba takes for a verb or a name."""
    return (
        about.kind == "name" and len(about.text) <= _MAX_ADDED and tokenize(about.text)[-1].pos[:2] in ("v", "nr", "x")
    )


def is_part(entity: Entity, whole: str) -> bool:
    """Return True for a name that begins or ends a phrase of nouns that is little longer."""
    name, phrase = fold(entity.text), fold(whole)
    if entity.kind == "title" or len(phrase) <= len(name):
        return False
    if not has_han(whole):
        short = len(whole.split()) <= _MAX_WORDS
        return short and re.search(rf"(?:^|[^a-z0-9]){re.escape(name)}(?:$|[^a-z0-9])", phrase) is not None
    if len(phrase) - len(name) > _MAX_ADDED:
        return False
    added = [t for t in tokenize(whole) if fold(t.text) not in name]
    nouns = all(t.pos[0] in "nmqbsj" or t.pos == "eng" or t.text == "站" for t in added)
    return nouns and (phrase.startswith(name) or phrase.endswith(name))


def fitting(ranked: Ranked, kind: str, rounds: Sequence[Standing]) -> Ranked:
    """Return the candidates weighed by how well they fit a kind of reference, those that cannot be meant left out."""
    if kind == "person":
        weighed = [(entity, score * person_fit(entity, rounds)) for entity, score in ranked[:MAX_PERSONS]]
        weighed = [pair for pair in weighed if pair[1] > 0]
    else:
        fit = _FIT.get(kind, {})
        weighed = [(entity, score * fit.get(entity.kind, 1.0)) for entity, score in ranked]
    return sorted(weighed, key=lambda pair: -pair[1])


def picked(ranked: Ranked) -> list[str]:
    """Return the first candidate, and the second if it is not clearly behind."""
    second = len(ranked) > 1 and ranked[0][1] <= CLEAR_LEAD * ranked[1][1]
    return list(dict.fromkeys(entity.text for entity, _ in ranked[: 2 if second else 1]))


def tied(ranked: Ranked) -> bool:
    """Return True if two candidates are equally likely."""
    return len(ranked) > 1 and ranked[0][1] <= TIE * ranked[1][1] and ranked[0][0].text != ranked[1][0].text


def ambiguous(ranked: Ranked) -> RuleOutcome:
    """Return the outcome that names the candidates that are equally likely."""
    names = tuple(entity.text for entity, score in ranked if score * TIE >= ranked[0][1])
    return RuleOutcome(None, ambiguous=True, candidates=names)
