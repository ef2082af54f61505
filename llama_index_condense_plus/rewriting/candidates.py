"""What a question may be about: the names of the conversation by salience, and what its last question was about."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

from llama_index_condense_plus.languages.patterns import regex
from llama_index_condense_plus.languages.text import fold, has_han, tokenize
from llama_index_condense_plus.operations import RuleOutcome
from llama_index_condense_plus.protocols import EntityExtractor
from llama_index_condense_plus.rewriting.back_references import BackReference, resolved_topic
from llama_index_condense_plus.rewriting.choices import coordinated
from llama_index_condense_plus.rewriting.clauses import asking_clause
from llama_index_condense_plus.rewriting.counterparts_en import preposition
from llama_index_condense_plus.rewriting.follow_up_words import either, follow_up_words
from llama_index_condense_plus.rewriting.lists import item_name, list_items
from llama_index_condense_plus.rewriting.noun_phrases import noun_phrases, said
from llama_index_condense_plus.rewriting.noun_phrases_zh import activity
from llama_index_condense_plus.rewriting.orders import without_orders
from llama_index_condense_plus.rewriting.persons import looks_like_person, person_fit
from llama_index_condense_plus.rewriting.phrase import NounPhrase
from llama_index_condense_plus.rewriting.references import find_references
from llama_index_condense_plus.rewriting.salience import rank_entities
from llama_index_condense_plus.rewriting.standing import Standing, standing_questions
from llama_index_condense_plus.rewriting.topics import since_topic_start
from llama_index_condense_plus.types import Entity, HistoryWindow, WindowMessage

_EN = follow_up_words("en")
_WAY = regex(rf" (?:{either(_EN['ways'])})(?: the| an?)? ", re.IGNORECASE)
_HOW = regex(
    rf"(?:how|why) (?:{either([*_EN['auxiliaries'], *_EN['copulas']])})\b(?! (?:{either(_EN['subjects'])})\b)",
    re.IGNORECASE,
)
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
_UNNAMED = ("term", "number")
MAX_PERSONS = 32
"""Candidates that are looked at as persons, the most salient."""
MAX_READ = 120
"""Messages read of a conversation, so that a long one costs a turn little more than a short one."""
_MAX_ADDED = 4
"""Characters of Chinese nouns that a name may be short of."""


_MAX_WORDS = 5
"""Words of an English phrase that a name is part of."""


class Candidates:
    """The conversation as a question sees it.

    Args:
        window: the conversation.
        message: the question: what it says before the clause that asks counts as the newest message.
        extractor: finds the entities.
    """

    def __init__(self, window: HistoryWindow, message: str, extractor: EntityExtractor) -> None:
        self.messages = tuple(_without_orders(m) for m in _read(window.all_messages))
        self.items = window.list_items
        self._summary = window.summary
        self._message = message
        self._extractor = extractor

    @cached_property
    def rounds(self) -> tuple[Standing, ...]:
        """The user's questions as they stood, with their answers."""
        return standing_questions(self._named)

    @cached_property
    def _named(self) -> tuple[WindowMessage, ...]:
        return _with_ordinals_said(self.messages)

    @property
    def last(self) -> Standing | None:
        """The newest of them."""
        return self.rounds[-1] if self.rounds else None

    @cached_property
    def about(self) -> NounPhrase | None:
        """What the last question was about."""
        return self.last.about if self.last else None

    def referred(self, back: BackReference) -> str | None:
        """Return what a phrase such as "that first model" points at, None if it is not known."""
        return (self._first_summarised(back.noun) if back.first else None) or resolved_topic(back, self.rounds)

    def _first_summarised(self, noun: str) -> str | None:
        """Return the first name of what was summarised, None if nothing was; a summary lists names as they came.

        Args:
            noun: what kind of thing is meant, which is then part of its name; empty: anything with a name.
        """
        for phrase in noun_phrases(self._summary):
            if fold(noun) in fold(phrase.text) if noun else phrase.kind == "name":
                return said(phrase)
        return None

    @cached_property
    def ranked(self) -> Ranked:
        """What the question does not name itself: names, or what the last question was about where nothing is named."""
        clause = asking_clause(self._message)
        messages = since_topic_start(self._named, self._extractor)
        before = self._message[: max(0, self._message.rfind(clause))] if clause else ""
        if before.strip():
            messages = (*messages, WindowMessage("user", before, before))
        folded = fold(clause)
        ranked = [p for p in rank_entities(messages, self._extractor) if fold(p[0].text) not in folded]
        names = [p for p in ranked if p[0].kind not in _UNNAMED]
        about = self.about
        if about and about.kind != "attribute" and fold(about.text) not in folded and self.last:
            return _with_subject(names, about, self.rounds, self._said_by_user)
        return names or [p for p in ranked if p[0].kind == "term"]

    @cached_property
    def _said_by_user(self) -> str:
        return fold(" ".join([*(m.full_text for m in self.messages if m.role == "user"), self._message]))

    def several(self, clause: str) -> str:
        """Return what "they" and 这两个 mean: what was named in one breath, or asked about one after the other."""
        glue = "和" if has_han(clause) else " and "
        if self.last:
            pair = coordinated(self.last.text) or coordinated(self.last.answer)
            if pair and (pair == coordinated(self.last.text) or all(_is_name(name) for name in pair)):
                return glue.join(pair)
        ranked = self.ranked[: 1 if self.ranked and self.ranked[0][0].kind == "term" else 2]
        return glue.join(entity.text for entity, _ in ranked)

    def said(self, name: str) -> str:
        """Return a name as it is said again: with "the" if the last question had an article before it."""
        return said(self.about) if self.about and self.about.text == name else name

    def said_whole(self, name: str) -> str:
        """Return a name as it is said again, with what the last question asked about on the way to it.

        Example: "shipping to Canada" for Canada after "How long does shipping to Canada take?", and "photosynthesis in
        C4 plants" after "How does photosynthesis work in C4 plants?"
        """
        about = self.about
        if about is None or self.last is None or about.text != name:
            return self.said(name)
        if has_han(name):
            acted = activity(self.last.text)
            return acted.text + name if acted and acted.end == about.start else name
        head = next((p for p in noun_phrases(self.last.text) if p.kind == "term" and p.end < about.start), None)
        between = self.last.text[head.end : about.start] if head else ""
        if head and _WAY.fullmatch(between):
            return f"{said(head)}{between}{name}"
        place = preposition(self.last.text, about)
        how = head and place in ("in", "on", "with") and _HOW.match(self.last.text)
        return f"{said(head)} {place} {said(about)}" if head and how else self.said(name)


def _is_name(words: str) -> bool:
    return any(phrase.kind == "name" for phrase in noun_phrases(words))


def _read(messages: Sequence[WindowMessage]) -> Sequence[WindowMessage]:
    """Return the messages that a question may mean: a long conversation's first round and its newest messages."""
    return messages if len(messages) <= MAX_READ else (*messages[:2], *messages[2 - MAX_READ :])


def _without_orders(message: WindowMessage) -> WindowMessage:
    text = without_orders(message.full_text)
    return message if text is message.full_text else replace(message, full_text=text)


def _with_subject(names: Ranked, about: NounPhrase, rounds: Sequence[Standing], said: str) -> Ranked:
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
        weighed.append((replace(entity, text=about.text) if _is_part(entity, about.text) else entity, score))
    if _is_asked_name(about, rounds[-1]):
        weighed = _with_name_first(weighed, about)
    weighed = _distinct(sorted(weighed, key=lambda pair: -pair[1]))
    held = any(fold(about.text) in fold(e.text) for e, _ in weighed)
    if not held and (not weighed or (fold(weighed[0][0].text) not in said and not _strong(weighed[0][0]))):
        kind = "name" if _may_be_person(about) else "term"
        weighed.insert(0, (Entity(about.text, kind, about.start), 2 * weighed[0][1] if weighed else 1.0))
    return weighed


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


def _is_part(entity: Entity, whole: str) -> bool:
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
    nouns = all(t.pos[0] in "nmqbsj" or t.pos == "eng" for t in added)
    return nouns and (phrase.startswith(name) or phrase.endswith(name))


def _with_ordinals_said(messages: Sequence[WindowMessage]) -> tuple[WindowMessage, ...]:
    """Return the messages with the user's earlier ordinals named, for "the second one" is a mention of that item."""
    said: list[WindowMessage] = []
    items: tuple[str, ...] = ()
    for message in messages:
        text = message.full_text
        if message.role == "user":
            ordinals = [r for r in find_references(text) if r.kind == "ordinal"] if items else []
            for reference in reversed(ordinals):
                item = reference.item_of(items)
                if item is not None:
                    text = text[: reference.start] + item_name(item) + text[reference.end :]
        else:
            items = list_items(text) or items
        said.append(message if text is message.full_text else replace(message, full_text=text))
    return tuple(said)


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
