"""Completes a question without a model: carries over what the conversation is about, and builds no sentences."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from llama_index_condense_plus.languages import Reference, WordPack, pack_of
from llama_index_condense_plus.languages.text import aligned, fold
from llama_index_condense_plus.linear import LinearModel
from llama_index_condense_plus.operations import Flow, Rewritten, RuleOutcome
from llama_index_condense_plus.protocols import EntityExtractor
from llama_index_condense_plus.rewriting.cutting import item_name
from llama_index_condense_plus.rewriting.entities import DefaultEntityExtractor
from llama_index_condense_plus.rewriting.ranking import UNNAMED, Ranked, find_candidates, rank, shipped_ranker
from llama_index_condense_plus.types import Entity, HistoryWindow, RewriteRequest, WindowMessage

MAX_MESSAGE = 600
"""Longer messages say themselves what they are about."""
CLOSE, TOGETHER = 0.9, 0.1
"""A second name with this share of the first one's probability makes the choice ambiguous; less will do for two that
were always mentioned together."""
SAME_SALIENCE = 0.02
NEAR = 0.6
"""A second name with this share of the first one's probability is searched with it."""
WEAK = 0.2
"""A topic below this probability gives way to what the message itself names, and two names with less together are not
asked about."""
MAX_EARLIER = 120
"""An earlier question is put beside a correction whole up to so many characters, else its asking part."""
MAX_ITEM_WORDS = 5
"""Words with content of the longest list item that an ordinal picks."""
_DECLINED = RuleOutcome(None)
_POINTING = frozenset({"person", "thing", "place", "plural"})
_MARKS = " .,!?;:'\"\u3002\uff0c\uff01\uff1f\u300a\u300b"
_SENTENCE_END = re.compile(r"[.!?]\s|[!?]$")
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
        certain = self._in_earlier(message, window, pack) or self._picked(message, window, pack)
        if certain is not None:
            return RuleOutcome(certain or None, confidence=float(bool(certain)))
        question = read_question(message, pack)
        if self._is_complete(question, pack) or self._names(question.before):
            return _DECLINED
        ranked = self._ranked(question, window)
        if not ranked or fold(ranked[0].entity.text) in fold(message):
            return _DECLINED  # the message says itself what it is about
        close, least = _close(ranked, question), self._model.threshold
        first = ranked[0]
        if first.probability < least and sum(each.probability for each in close) < WEAK:
            return _DECLINED
        text = _carried(first.name_in_sentence, question, pack) if first.probability >= least else None
        return RuleOutcome(text, bool(close), tuple(each.entity.text for each in close), min(1.0, first.probability))

    def topic_query(self, message: str, window: HistoryWindow) -> str | None:
        """Return the likeliest topic before the question, None if nothing was named that the question lacks.

        Where words stand together, two names that are nearly as likely both stand there.
        """
        pack = pack_of(message)
        question = read_question(message, pack)
        said = fold(question.clause)
        ranked = [each for each in self._ranked(question, window) if fold(each.entity.text) not in said]
        asks = question.references or pack.is_question(message) or not pack.joiner
        if not ranked or not asks or self._is_complete(question, pack):
            return None
        first = ranked[0]
        if first.probability < WEAK and self._names(question.before):
            return None  # rather what the message itself names
        name = fold(first.entity.text)
        near = [each.entity.text for each in ranked[1:3] if each.probability > NEAR * first.probability]
        other = next((text for text in near if fold(text) not in name and name not in fold(text)), "")
        names = first.entity.text if pack.joiner or not other else f"{first.entity.text} {other}"
        return f"{names}{pack.phrase('after_topic')}{question.clause}"

    def _ranked(self, question: Question, window: HistoryWindow) -> list[Ranked]:
        """Return what may be meant, best first; what the message names before it points counts as said."""
        messages = window.all_messages
        for index in range(len(messages) - 1, 0, -1):
            said = messages[index].full_text
            switch = messages[index].role == "user" and (
                self._picked(said, window, pack_of(said)) or (said if self._other(said) else "")
            )
            if switch:  # "The second one.", "What about the Osprey?": what was said before is no topic any more
                messages = (WindowMessage("user", switch, ""), *messages[index + 1 :])
                break
        found = find_candidates(question.pointing, question.references, messages, self._extractor, question.before)
        return rank(found, self._model)

    def _is_complete(self, question: Question, pack: WordPack) -> bool:
        """Return True for a question that points at nothing and names a thing, or speaks of user or assistant."""
        if question.references:
            return False
        kinds = {reference.kind for reference in pack.references(question.clause)}
        folded = fold(question.clause)
        says_all = any(pack.pattern(name).search(folded) for name in ("not_reference", "addressed"))
        return says_all or bool(kinds & {"clause", "ordinal"} or self._names(question.clause))

    def _names(self, text: str) -> list[Entity]:
        return [entity for entity in self._extractor.extract(text) if entity.kind not in UNNAMED]

    def _in_earlier(self, message: str, window: HistoryWindow, pack: WordPack) -> str | None:
        """Return the earlier question with the name that takes a name's place in it, or beside what corrects it."""
        new, corrects = _instead(message, pack)
        thing = self._thing(new)
        asked = [m.full_text for m in window.all_messages if m.role == "user"]
        asked = [text for text in asked if pack.is_question(text)]
        if not new or not asked or not (corrects or (thing and thing.kind not in UNNAMED)):
            return None
        earlier = read_question(asked[-1], pack) if len(asked[-1]) > MAX_EARLIER else _whole(asked[-1], pack)
        if thing is None:
            return f"{new}{pack.phrase('after_topic')}{earlier.clause}"
        return self._replaced(thing, earlier, pack)

    def _thing(self, words: str) -> Entity | None:
        """Return what words name, with an article at most."""
        articles = pack_of(words).words("determiner")
        found = (e for e in self._extractor.extract(words) if words[e.start + len(e.text) :].strip(_MARKS) == "")
        return next((e for e in found if fold(words[: e.start]).strip(_MARKS) in ("", *articles)), None)

    def _other(self, message: str) -> bool:
        """Return True for a message that names another thing and asks nothing else about it."""
        thing = self._thing(_instead(message, pack_of(message))[0])
        return thing is not None and thing.kind not in UNNAMED

    def _replaced(self, new: Entity, earlier: Question, pack: WordPack) -> str:
        """Return an earlier question about something else: in the place of its only thing of the kind, or pronoun."""
        known, names = self._extractor.extract(earlier.clause), self._names(earlier.clause)
        alike = [entity for entity in names if entity.kind == new.kind]
        same_head = [e for e in known if len(e.text) > 1 and _head(e.text, pack) == _head(new.text, pack)]
        old = next((found[0] for found in (same_head, alike, names) if len(found) == 1), None)
        if old is not None and not earlier.references:
            return earlier.clause[: old.start] + new.text + earlier.clause[old.start + len(old.text) :]
        if names or new.kind in UNNAMED:
            return f"{new.text}{pack.phrase('after_topic')}{earlier.clause}"
        return _carried(new.text, earlier, pack)

    def _picked(self, message: str, window: HistoryWindow, pack: WordPack) -> str | None:
        """Return the message with the item that it picks, empty if there is no such item, None if it picks none."""
        pick = next((cue for cue in pack.cues(message) if cue.name == "pick"), None)
        ordinals = [r for r in pack.references(message) if r.kind == "ordinal" and not _has_noun(r, message, pack)]
        items = window.list_items or (self._named_together(window) if ordinals else ())
        if pick and items:
            return _item(items, _position(pick.text, pack), pack)
        for reference in reversed(ordinals):
            item = _item(items, reference.position, pack)
            if not item:
                return ""
            message = message[: reference.start] + item + message[reference.end :]
        return message if ordinals else None

    def _named_together(self, window: HistoryWindow) -> Sequence[str]:
        """Return the two names of the newest message that has two, for "the former"."""
        for message in reversed(window.all_messages):
            names = dict.fromkeys(entity.text for entity in self._names(message.full_text))
            if len(names) > 1:
                return tuple(names) if len(names) == 2 else ()  # noqa: PLR2004 - of three, none is the former
        return ()


class Question(NamedTuple):
    """The words that ask, what points back in them, and what the message says before."""

    clause: str
    """The words that ask."""
    references: tuple[Reference, ...]
    """The words in them that point at a thing."""
    before: str
    """What stands before the words that ask, and in them before the first that points back."""

    @property
    def pointing(self) -> str:
        """The words that ask, from the first that points back."""
        return self.clause[self.references[0].start :] if self.references else self.clause


def _instead(message: str, pack: WordPack) -> tuple[str, bool]:
    """Return what a message puts in the place of something said before, and whether it corrects."""
    match = pack.pattern("instead").search(aligned(message))
    kind = match.lastgroup if match else None
    return (message[slice(*match.span(kind))].strip() if match and kind else ""), kind == "corrected"


def _whole(message: str, pack: WordPack) -> Question:
    pointing = tuple(reference for reference in pack.references(message) if reference.kind in _POINTING)
    return Question(message, pointing, "")


def read_question(message: str, pack: WordPack) -> Question:
    """Return what a message asks and what it says before.

    Args:
        message: the user's words.
        pack: their language.
    """
    span = pack.asking_clause(message)
    found = tuple(reference for reference in pack.references(span.text) if reference.kind in _POINTING)
    return Question(span.text, found, message[: span.start + (found[0].start if found else 0)].strip())


def _carried(name: str, question: Question, pack: WordPack) -> str:
    """Put a name in the place of the pronoun, or before the question where that would be no sentence."""
    clause, references = question.clause, question.references
    reference = references[0] if references else None
    if reference is None or not _stands_alone(reference, name, clause, pack):
        return f"{name}{pack.phrase('after_topic')}{clause}"
    possessive = pack.phrase("possessive") if reference.possessive else ""
    ending = possessive or next((e for e in ("'s", "\u2019s") if reference.text.endswith(e)), "")
    return f"{clause[: reference.start]}{name}{ending}{clause[reference.end :]}"


def _stands_alone(reference: Reference, name: str, clause: str, pack: WordPack) -> bool:
    """Return False for a pronoun with its noun ("this company"), for "there", and for several things."""
    if reference.kind == "place" and pack.joiner:
        return False
    if reference.kind == "plural" and name[-1:] != "s":
        return False
    is_determiner = pack.joiner and not reference.possessive and fold(reference.text) in pack.words("determiner")
    return not (is_determiner and _has_noun(reference, clause, pack))


def _has_noun(reference: Reference, text: str, pack: WordPack) -> bool:
    """Return True if a noun follows that the reference belongs to ("the first user")."""
    if fold(reference.text).endswith(pack.words("ordinal_noun")):
        return False
    following = next((t for t in pack.tokenize(text) if t.start >= reference.end), None)
    if following is None or pack.joiner:
        return following is not None and following.is_content
    return following.start == reference.end and following.kind in ("name", "person", "place", "organisation", "word")


def _close(ranked: Sequence[Ranked], question: Question) -> tuple[Ranked, ...]:
    """Return the two names that a pronoun fits alike, nothing if one is clearly ahead."""
    first, *others = ranked
    if not question.references or question.references[0].kind == "plural" or first.entity.kind in UNNAMED:
        return ()
    for other in others[:3]:
        name, second = fold(first.entity.text), fold(other.entity.text)
        together = abs(other.salience - first.salience) <= SAME_SALIENCE * first.salience
        is_close = other.probability >= (TOGETHER if together else CLOSE) * first.probability
        if is_close and other.entity.kind not in UNNAMED and name not in second and second not in name:
            return first, other
    return ()


def _head(name: str, pack: WordPack) -> str:
    """Return the last word of a name, its last character where words stand together."""
    return fold(name).split()[-1] if pack.joiner else fold(name)[-1:]


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


def _item(items: Sequence[str], position: int, pack: WordPack) -> str:
    """Return the head that names a list item, empty if there is none at that position or it is no name."""
    index = position - 1 if position > 0 else len(items) + position
    name = item_name(items[index]) if position and 0 <= index < len(items) else ""
    tokens = pack.tokenize(name)
    opens = bool(tokens) and (tokens[0].is_content or fold(tokens[0].text) in pack.words("determiner"))
    is_name = opens and sum(t.is_content for t in tokens) <= MAX_ITEM_WORDS
    return name if is_name and not _SENTENCE_END.search(name) else ""
