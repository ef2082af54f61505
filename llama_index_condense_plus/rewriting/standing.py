"""What earlier questions of the user's stood for, each completed by the ones before it, and what each was about."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from llama_index_condense_plus.lexicons.patterns import regex
from llama_index_condense_plus.lexicons.text import clip, fold, has_han, tokenize
from llama_index_condense_plus.rewriting.asking import asks
from llama_index_condense_plus.rewriting.clauses import asking_clause
from llama_index_condense_plus.rewriting.conditions import conditioned
from llama_index_condense_plus.rewriting.counterparts import is_attribute
from llama_index_condense_plus.rewriting.counterparts_zh import has_latin
from llama_index_condense_plus.rewriting.courtesy import without_courtesy
from llama_index_condense_plus.rewriting.follow_up_words import either, follow_up_words
from llama_index_condense_plus.rewriting.follow_ups import is_contentless, negated_question, reversed_question
from llama_index_condense_plus.rewriting.fragments import fragment
from llama_index_condense_plus.rewriting.joins import joined
from llama_index_condense_plus.rewriting.noun_phrases import noun_phrases, said, subject
from llama_index_condense_plus.rewriting.orders import without_orders
from llama_index_condense_plus.rewriting.phrase import NounPhrase
from llama_index_condense_plus.rewriting.references import find_references
from llama_index_condense_plus.rewriting.substitution import substituted
from llama_index_condense_plus.types import WindowMessage

MAX_CHARS = {"user": 1000, "assistant": 4000}
"""Characters of a message that are read, of both ends: no follow-up varies a longer question."""
LOOK_BACK = 8
"""Questions of the user's that are read, the newest; and the first of all."""
_ZH, _EN = follow_up_words("zh"), follow_up_words("en")
_TAIL = 40
"""Characters at the end of an answer in which it asks back."""
_PROPER = ("nr", "ns", "nt", "nz", "en")
"""How jieba's tags of names and of Latin words begin."""
_NEAR = 4
"""Characters before a verb in which a modal stands."""
_MODAL = regex(rf"(?:{either(_ZH['modals'])})\Z")
_OPENER = regex(
    rf"^(?:(?:{either(_ZH['openers'])})[，,]?(?![里边些个儿位家款种座部吗呢没别其什哪])"
    rf"|(?:{either(_EN['openers'])})\b,?(?! about))\s*",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Standing:
    """A question of the user's as it stood."""

    text: str
    """The question, completed."""
    answer: str
    """What was answered, empty if nothing."""
    whole: bool = True
    """True if the user said all of it: nothing was guessed."""

    @property
    def about(self) -> NounPhrase | None:
        """What it is about."""
        return subject(self.text)


def without_opener(clause: str) -> str:
    """Return a clause without the words that only open it (那, "and")."""
    return _OPENER.sub("", clause) or clause


def standing_questions(messages: Sequence[WindowMessage]) -> tuple[Standing, ...]:
    """Return the user's questions as they stood, oldest first.

    Example: "北京几点开门？", "上海呢？" stand for 北京几点开门 and 上海几点开门.
    """
    rounds: list[tuple[str, str]] = []
    for message in messages:
        text = without_orders(clip(message.full_text, MAX_CHARS[message.role]))
        if message.role == "user":
            rounds.append((text, ""))
        elif rounds:
            rounds[-1] = (rounds[-1][0], text)
    kept = rounds if len(rounds) <= LOOK_BACK else [rounds[0], *rounds[-LOOK_BACK:]]
    return _standing(tuple(kept))


@lru_cache(maxsize=512)
def _standing(rounds: tuple[tuple[str, str], ...]) -> tuple[Standing, ...]:
    found: list[Standing] = []
    for text, answer in rounds:
        before = found[-1] if found else None
        found.append(_completed(text, answer, before) if before else Standing(_asked(text), answer))
    return tuple(found)


def _asked(text: str) -> str:
    """Return the clause that asks, or all words if it names nothing ("I need a van, what do you have?")."""
    clause = asking_clause(text)
    return clause if any(p.kind in ("name", "term") for p in noun_phrases(clause)) else text


def _completed(text: str, answer: str, before: Standing) -> Standing:
    text = without_courtesy(text)
    clause = without_opener(asking_clause(text))
    if is_contentless(clause) or (asks(before.answer[-_TAIL:]) and not asks(text)):
        return Standing(before.text, answer, before.whole)
    varied = varied_question(text, before)
    if varied:
        return Standing(varied, answer, before.whole)
    if conditioned(before.text, text):
        return Standing(before.text, answer, before.whole)
    about = before.about
    named = next((p.start for p in noun_phrases(clause) if p.kind in ("name", "term")), len(clause))
    references = [r for r in find_references(clause) if r.kind != "ordinal" and r.start < named]
    if about and references:
        first = references[0]
        words = said(about) if has_han(clause) or not first.possessive else said(about) + "'s"
        return Standing(clause[: first.start] + words + clause[first.end :], answer, whole=False)
    own = [p for p in noun_phrases(clause) if p.kind in ("name", "term") and not _is_done(p, clause)]
    if about and not own and not references:
        return Standing(joined(said(about), clause), answer, whole=False)
    return Standing(clause, answer, not references)


def _is_done(phrase: NounPhrase, clause: str) -> bool:
    """Return True for a verb after a modal, which says what is done and not to what: 能加急吗."""
    said_before = clause[max(0, phrase.start - _NEAR) : phrase.start]
    return bool(_MODAL.search(said_before)) and tokenize(phrase.text)[-1].pos in ("v", "vn")


def varied_question(message: str, before: Standing) -> str | None:
    """Return the last question varied as a message asks: reversed, negated, or with something else in a place."""
    turned = reversed_question(before.text, without_opener(message)) or negated_question(before.text, message)
    if turned:
        return turned
    new = fragment(message)
    if new is None:
        return None
    if not before.whole and is_attribute(new.new):
        return None
    mixed = has_han(new.new) and has_latin(new.new)  # a name: 星野 S9
    if not new.named and not new.preposition and not mixed and _aspect(new.new, before.answer):
        return None
    return substituted(before.text, new)


def _aspect(words: str, answer: str) -> bool:
    """Return True for common words of the last answer: they ask on about it (退款呢 after 可选择退款)."""
    if has_han(words):
        return fold(words) in fold(answer) and not any(t.pos[:2] in _PROPER for t in tokenize(words))
    return re.search(rf"\b{re.escape(fold(words))}\b", fold(answer)) is not None
