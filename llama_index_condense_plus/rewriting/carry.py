"""Completes a question without a model: carries over what the conversation is about, and builds no sentences."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from llama_index_condense_plus.languages import Reference, WordPack, pack_of
from llama_index_condense_plus.languages.text import fold
from llama_index_condense_plus.linear import LinearModel
from llama_index_condense_plus.operations import Flow, Rewritten, RuleOutcome
from llama_index_condense_plus.protocols import EntityExtractor
from llama_index_condense_plus.rewriting.cutting import item_name
from llama_index_condense_plus.rewriting.entities import DefaultEntityExtractor
from llama_index_condense_plus.rewriting.ranking import UNNAMED, Ranked, find_candidates, rank, shipped_ranker
from llama_index_condense_plus.types import HistoryWindow, RewriteRequest, WindowMessage

MAX_MESSAGE = 600
"""Longer messages say themselves what they are about."""
CLOSE, TOGETHER = 0.9, 0.1
"""A second name with this share of the first one's probability makes the choice ambiguous; less will do for two that
were always mentioned together."""
SAME_SALIENCE = 0.02
COMPLETE = 2
"""A question without a pronoun that speaks of so many things is complete."""
_DECLINED = RuleOutcome(None)
_POINTING = frozenset({"person", "thing", "place", "plural"})
_NUMBER = re.compile(r"\d{1,2}")
_LETTERS = "abcdefgh"


class CarryRewriter:
    """Puts the conversation's most likely topic in the place of a pronoun, or before the question; else declines.

    Args:
        extractor: finds what was mentioned; default ``DefaultEntityExtractor``.
        model: ranks it, and says from which probability it is carried over; default: the weights shipped.
    """

    name = "rules"

    def __init__(self, extractor: EntityExtractor | None = None, model: LinearModel | None = None) -> None:
        self._extractor = extractor or DefaultEntityExtractor()
        self._model = model or shipped_ranker()

    def rewrite(self, request: RewriteRequest) -> Flow[Rewritten]:
        """Return the outcome; asks for nothing."""
        yield from ()
        return self.outcome(request.message, request.window)

    def outcome(self, message: str, window: HistoryWindow) -> RuleOutcome:
        """Return the completed question, or a decline.

        Args:
            message: the user's words.
            window: the conversation.
        """
        pack = pack_of(message)
        if len(message) > MAX_MESSAGE or pack.small_talk(message) or pack.instructions(message):
            return _DECLINED
        picked = _picked(message, window.list_items, pack)
        if picked is not None:
            return RuleOutcome(picked or None, confidence=float(bool(picked)))
        question = _read(message, pack, self._extractor)
        if question.is_complete:
            return _DECLINED
        ranked = self._ranked(question, window)
        if not ranked or ranked[0].probability < self._model.threshold:
            return _DECLINED
        if fold(ranked[0].entity.text) in fold(question.before):
            return _DECLINED  # the message says itself what it is about
        close = _close(ranked, question)
        text = _carried(ranked[0].entity.text, question, pack)
        return RuleOutcome(text, bool(close), close, min(1.0, ranked[0].probability))

    def topic_query(self, message: str, window: HistoryWindow) -> str | None:
        """Return the most likely topic before the question, None if nothing was named that the question lacks."""
        pack = pack_of(message)
        question = _read(message, pack, self._extractor)
        ranked = self._ranked(question, window)
        return f"{ranked[0].entity.text}{pack.phrase('after_topic')}{question.clause}" if ranked else None

    def _ranked(self, question: _Question, window: HistoryWindow) -> list[Ranked]:
        before = WindowMessage("user", question.before, "")
        messages = (*window.all_messages, *([before] if question.before else ()))
        found = find_candidates(question.clause, question.references, messages, self._extractor)
        said = fold(question.clause)
        if not question.references and any(c.entity.kind not in UNNAMED and fold(c.entity.text) in said for c in found):
            return []
        return [each for each in rank(found, self._model) if fold(each.entity.text) not in said]


class _Question(NamedTuple):
    """The words that ask, what points back in them, and whether they need nothing."""

    clause: str
    before: str
    references: tuple[Reference, ...]
    is_complete: bool


def _read(message: str, pack: WordPack, extractor: EntityExtractor) -> _Question:
    span = pack.asking_clause(message)
    found = pack.references(span.text)
    pointing = tuple(reference for reference in found if reference.kind in _POINTING)
    names = [e for e in extractor.extract(message) if e.kind not in UNNAMED]
    if pointing:
        place = span.start + pointing[0].start
        is_complete = any(entity.start < place for entity in names)
    else:
        points_at_nothing = pack.pattern("not_reference").search(fold(span.text)) is not None
        terms = [e for e in extractor.extract(span.text) if e.kind != "number"]
        inside = (
            points_at_nothing
            or (pack.joiner and len(terms) >= COMPLETE)
            or any(span.start <= entity.start < span.end for entity in names)
        )
        is_complete = bool(inside) or any(reference.kind in ("clause", "ordinal") for reference in found)
    return _Question(span.text, message[: span.start].strip(), pointing, is_complete)


def _carried(name: str, question: _Question, pack: WordPack) -> str:
    """Put a name in the place of the pronoun, or before the question where that would be no sentence."""
    clause, references = question.clause, question.references
    reference = references[0] if references else None
    if (
        reference is None
        or not _stands_alone(reference, clause, pack)
        or (reference.kind == "plural" and name[-1:] != "s")
    ):
        return f"{name}{pack.phrase('after_topic')}{clause}"
    after = clause[reference.end :]
    possessive = pack.phrase("possessive") if reference.possessive else ""
    ending = possessive or next((e for e in ("'s", "\u2019s") if reference.text.endswith(e)), "")
    return f"{clause[: reference.start]}{name}{ending}{after}"


def _stands_alone(reference: Reference, clause: str, pack: WordPack) -> bool:
    """Return False for a pronoun that goes with a noun ("this company")."""
    if reference.possessive or fold(reference.text) not in pack.words("determiner"):
        return True
    following = next((t for t in pack.tokenize(clause) if t.start >= reference.end), None)
    return following is None or not following.is_content


def _close(ranked: Sequence[Ranked], question: _Question) -> tuple[str, ...]:
    """Return the two names that a pronoun fits alike, nothing if one is clearly ahead."""
    first, *others = ranked
    if not question.references or question.references[0].kind == "plural" or first.entity.kind in UNNAMED:
        return ()
    for other in others[:3]:
        name, second = fold(first.entity.text), fold(other.entity.text)
        together = abs(other.salience - first.salience) <= SAME_SALIENCE * first.salience
        is_close = other.probability >= (TOGETHER if together else CLOSE) * first.probability
        if is_close and other.entity.kind not in UNNAMED and name not in second and second not in name:
            return first.entity.text, other.entity.text
    return ()


def _picked(message: str, items: Sequence[str], pack: WordPack) -> str | None:
    """Return the message with the list item that it picks, empty if there is no such item, None if it picks none."""
    pick = next((cue for cue in pack.cues(message) if cue.name == "pick"), None)
    if pick and items:
        position = _position(pick.text, pack)
        return _item(items, position)
    ordinals = [reference for reference in pack.references(message) if reference.kind == "ordinal"]
    for reference in reversed(ordinals):
        item = _item(items, reference.position)
        if not item:
            return ""
        message = message[: reference.start] + item + message[reference.end :]
    return message if ordinals else None


def _position(text: str, pack: WordPack) -> int:
    """Return which item words such as "2", "option b" or "the third one" mean; 0 if none."""
    numbers = pack.table.get("numbers", {})
    for word in (fold(token.text) for token in pack.tokenize(text)):
        if digits := _NUMBER.match(word):
            return int(digits.group())
        inside = word if not word.isascii() else ""
        known = next((int(numbers[part]) for part in (word, *inside) if part in numbers), 0)
        if known or (len(word) == 1 and word in _LETTERS):
            return known or _LETTERS.index(word) + 1
    return 0


def _item(items: Sequence[str], position: int) -> str:
    index = position - 1 if position > 0 else len(items) + position
    return item_name(items[index]) if position and 0 <= index < len(items) else ""
