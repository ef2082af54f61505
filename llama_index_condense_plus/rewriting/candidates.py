"""What a question may be about: the names of the conversation by salience, and what its last question was about."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

from llama_index_condense_plus.lexicons.patterns import regex
from llama_index_condense_plus.lexicons.text import fold, has_han
from llama_index_condense_plus.protocols import EntityExtractor
from llama_index_condense_plus.rewriting.back_references import BackReference, resolved_topic
from llama_index_condense_plus.rewriting.choices import coordinated
from llama_index_condense_plus.rewriting.clauses import asking_clause
from llama_index_condense_plus.rewriting.counterparts_en import PLACED, preposition
from llama_index_condense_plus.rewriting.cutting import item_name, list_items
from llama_index_condense_plus.rewriting.follow_up_words import either, follow_up_words
from llama_index_condense_plus.rewriting.noun_phrases import is_asked_for, noun_phrases, said
from llama_index_condense_plus.rewriting.noun_phrases_en import ARTICLES
from llama_index_condense_plus.rewriting.noun_phrases_zh import activity
from llama_index_condense_plus.rewriting.orders import without_orders
from llama_index_condense_plus.rewriting.phrase import NounPhrase
from llama_index_condense_plus.rewriting.references import find_references
from llama_index_condense_plus.rewriting.salience import rank_entities
from llama_index_condense_plus.rewriting.standing import Standing, standing_questions
from llama_index_condense_plus.rewriting.topics import since_topic_start
from llama_index_condense_plus.rewriting.weighing import Ranked, picked, with_subject
from llama_index_condense_plus.types import Entity, HistoryWindow, WindowMessage

_EN = follow_up_words("en")
_WAY = regex(rf" (?:{either(_EN['ways'])})(?: the| an?)? ", re.IGNORECASE)
_WAY_ZH = regex(r".[到至].")
_IS = regex(r"(?:is|was) ", re.IGNORECASE)
_HOW = regex(
    rf"(?:how|why) (?:{either([*_EN['auxiliaries'], *_EN['copulas']])})\b(?! (?:{either(_EN['subjects'])})\b)",
    re.IGNORECASE,
)
"""How and why something happens: what "that" means is the happening, not its place."""
_UNNAMED = ("term", "number")
MAX_READ = 120
"""Messages read of a conversation, so that a long one costs a turn little more than a short one."""


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
            return with_subject(names, about, self.rounds, self._said_by_user)
        terms = [p for p in ranked if p[0].kind == "term"]
        if about and not names and not has_han(about.text) and fold(about.text) not in folded:
            terms.insert(0, (Entity(about.text, "term", about.start), 2 * terms[0][1] if terms else 1.0))
        return names or terms

    @cached_property
    def _said_by_user(self) -> str:
        return fold(" ".join([*(m.full_text for m in self.messages if m.role == "user"), self._message]))

    def several(self, clause: str) -> str:
        """Return what "they" and 这两个 mean: what was named in one breath, or asked about one after the other."""
        glue = "和" if has_han(clause) else " and "
        if self.last:
            asked = next((p for p in noun_phrases(self.last.text) if is_asked_for(p, self.last.text)), None)
            if asked and asked.text.endswith("s"):
                return asked.text
            pair = coordinated(self.last.text) or coordinated(self.last.answer)
            if pair and (pair == coordinated(self.last.text) or all(_is_name(name) for name in pair)):
                return glue.join(pair)
        ranked = self.ranked[: 1 if self.ranked and self.ranked[0][0].kind == "term" else 2]
        return glue.join(entity.text for entity, _ in ranked)

    def picked(self, ranked: Ranked) -> list[str]:
        """Return the first candidate, and the second if it is not clearly behind.

        Two English names read as one ("March spring break"): of those the user's own is taken.
        """
        names = picked(ranked)
        if any(map(has_han, names)):
            return names
        return [name for name in names if fold(name) in self._said_by_user] or names[:1]

    def said(self, name: str) -> str:
        """Return a name as it is said again: with "the" if the last question had an article before it."""
        return said(self.about) if self.about and self.about.text == name else name

    def said_whole(self, name: str) -> str:
        """Return a name as it is said again, with what the last question asked about on the way to it.

        Examples: 挂失银行卡 for 银行卡 after 挂失银行卡要什么证件？; 成都到九寨沟 for 成都 after 成都到九寨沟怎么走？;
        "shipping to Canada" after "How long does shipping to Canada take?"; "photosynthesis in C4 plants" after "How
        does photosynthesis work in C4 plants?".
        """
        if self.about is None or self.last is None:
            return name
        if has_han(name):
            return _chinese_whole(name, self.last.text, self.about)
        return _english_whole(self.last.text, self.about) if self.about.text == name else name


def _chinese_whole(name: str, question: str, about: NounPhrase) -> str:
    """Return a name with what is done with it, or with the other end of a way."""
    if name in about.text and _WAY_ZH.search(about.text):
        return about.text
    acted = activity(question)
    done = acted.text + name if acted else name
    return done if question.startswith(done, acted.start if acted else 0) else name


def _english_whole(question: str, about: NounPhrase) -> str:
    """Return what a question is about with what is on the way to it, or happens in it."""
    phrases = noun_phrases(question)
    beyond = next((p for p in phrases if p.start > about.end), None)
    there = beyond and _WAY.fullmatch(question[about.end : beyond.start])
    end = beyond.end if beyond and there else about.end
    head = next((p for p in phrases if p.kind == "term" and p.end < about.start), None)
    between = question[head.end : about.start] if head else ""
    if head and _WAY.fullmatch(between):
        return f"{said(head)}{between}{question[about.start : end]}"
    if about.before == "from":
        return question[about.start : end]
    place = preposition(question, about)
    within = head and place in ("in", "on", "with") and _HOW.match(question)
    if head and (within or (place in PLACED and _is_there(question, head))):
        return f"{said(head)} {place} {said(about)}"
    return said(about)


def _is_there(question: str, head: NounPhrase) -> bool:
    """Return True if a question asks whether something is so in a place: "Is fiber available on Elm Street?"."""
    return _IS.match(question) is not None and question[: head.start].count(" ") <= 1 + (head.before in ARTICLES)


def _is_name(words: str) -> bool:
    return any(phrase.kind == "name" for phrase in noun_phrases(words))


def _read(messages: Sequence[WindowMessage]) -> Sequence[WindowMessage]:
    """Return the messages that a question may mean: a long conversation's first round and its newest messages."""
    return messages if len(messages) <= MAX_READ else (*messages[:2], *messages[2 - MAX_READ :])


def _without_orders(message: WindowMessage) -> WindowMessage:
    text = without_orders(message.full_text)
    return message if text is message.full_text else replace(message, full_text=text)


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
