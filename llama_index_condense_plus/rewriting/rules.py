"""Rewriting without a model: what a question leaves unsaid is put where it belongs, or the question is left alone."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from llama_index_condense_plus.lexicons.patterns import regex
from llama_index_condense_plus.lexicons.text import fold, has_han
from llama_index_condense_plus.operations import Flow, Rewritten, RuleOutcome
from llama_index_condense_plus.protocols import EntityExtractor
from llama_index_condense_plus.rewriting.apart import compares_two, is_addressed, is_sibling
from llama_index_condense_plus.rewriting.back_references import BackReference, find_back_reference
from llama_index_condense_plus.rewriting.candidates import Candidates
from llama_index_condense_plus.rewriting.choices import chosen, find_superlative, owning_ordinals, pair_of
from llama_index_condense_plus.rewriting.clauses import asking_clause
from llama_index_condense_plus.rewriting.comparisons import compared, with_other_side
from llama_index_condense_plus.rewriting.conditions import conditioned
from llama_index_condense_plus.rewriting.counterparts import is_attribute
from llama_index_condense_plus.rewriting.courtesy import only_small_talk, without_courtesy
from llama_index_condense_plus.rewriting.cutting import item_name
from llama_index_condense_plus.rewriting.entities import DefaultEntityExtractor
from llama_index_condense_plus.rewriting.follow_up_words import either, follow_up_words
from llama_index_condense_plus.rewriting.follow_ups import continued, is_contentless
from llama_index_condense_plus.rewriting.fragments import fragment
from llama_index_condense_plus.rewriting.full_names import with_full_names
from llama_index_condense_plus.rewriting.joins import joined
from llama_index_condense_plus.rewriting.noun_phrases import noun_phrases
from llama_index_condense_plus.rewriting.persons import names_a_person, owner_of
from llama_index_condense_plus.rewriting.references import Reference, find_references
from llama_index_condense_plus.rewriting.salience import rank_entities
from llama_index_condense_plus.rewriting.standing import MAX_CHARS, varied_question, without_opener
from llama_index_condense_plus.rewriting.weighing import ambiguous, fitting, is_part, tied
from llama_index_condense_plus.types import Entity, HistoryWindow, RewriteRequest, TriggerReason

NAMING = frozenset({"title", "framed", "person", "name", "organisation", "place", "code", "quoted"})
"""Kinds of entity that say what a question is about; with one and no reference it is complete."""
_PAIR_WORDS = frozenset({"former", "latter", "前者", "后者"})
"""Ordinals of two things, which need no list."""
_SAME = {"its": "it", "their": "they", "them": "they", "his": "he", "him": "he", "her": "she", "hers": "she"}
"""Pronouns that stand for one thing in one question."""
_NEAR = 10
"""Characters before a reference that tell what it stands for."""
_EMPTY = regex(r"\b(?:is|was) it \w+ to\b", re.IGNORECASE)
"""An "it" that stands for nothing: "Is it safe to swim there?"."""
_DO = regex(r"\w (?:do|doing|done) \Z", re.IGNORECASE)
"""Before a reference to what is done ("how often does it do that?"), which its subject explains."""
_DECLINED = RuleOutcome(None)
_EN = follow_up_words("en")
_PREPOSITION = regex(rf"\b(?:{either(_EN['before_there'])}) \Z", re.IGNORECASE)
"""What stands before "there": no preposition is added to it."""
_GOING = regex(rf"\b(?:{either(_EN['going'])}) \Z", re.IGNORECASE)
"""Words of going: after them "there" becomes "to" a place, after others "at" it."""


def topic_query(window: HistoryWindow, message: str, extractor: EntityExtractor | None = None) -> str | None:
    """Return the most salient entity with the clause that asks; None without an entity that is not in the message."""
    folded = fold(message)
    for entity, _ in rank_entities(window, extractor or DefaultEntityExtractor()):
        if entity.kind not in ("term", "number") and fold(entity.text) not in folded:
            return f"{_whole_name(entity, window)} {asking_clause(message)}"
    return None


def _whole_name(entity: Entity, window: HistoryWindow) -> str:
    """Return a name with the nouns around it where the user said it last (宁德 → 宁德时代)."""
    said = (m.full_text for m in reversed(window.all_messages) if m.role == "user" and entity.text in m.full_text)
    phrases = [p.text for p in noun_phrases(next(said, ""))]
    return next((words for words in phrases if is_part(entity, words) and not is_attribute(words)), entity.text)


class RuleRewriter:
    """Rewrites with rules alone, and declines where they cannot decide.

    It declines when a question holds two references of one kind ("那个方案比这个好吗"), when two candidates are equally
    likely, when "she" can mean nobody, when an ordinal points at no list or "the cheapest one" at no numbers, and when
    the history names nothing.

    Args:
        extractor: finds the entities; default ``DefaultEntityExtractor``.
    """

    name = "rules"

    def __init__(self, extractor: EntityExtractor | None = None) -> None:
        self._extractor = extractor or DefaultEntityExtractor()

    def rewrite(self, request: RewriteRequest) -> Flow[Rewritten]:
        """Return the outcome; asks for nothing."""
        yield from ()
        return self.outcome(request)

    def outcome(self, request: RewriteRequest) -> RuleOutcome:
        """Return the rewrite, or why there is none."""
        talk = Candidates(request.window, request.message, self._extractor)
        if request.decision.reason is TriggerReason.SLOT_FILLING:
            return RuleOutcome(f"{asking_clause(talk.last.text)} {request.message.strip()}" if talk.last else None)
        if only_small_talk(request.message):
            return _DECLINED
        message = without_courtesy(request.message)
        if len(message) > MAX_CHARS["user"]:
            return self._completed(asking_clause(message), talk, message)
        back = find_back_reference(message)
        found = self._followed_back(message, back, talk) if back and talk.rounds else self._decided(message, talk)
        return replace(found, text=_capitalised(found.text)) if found.text else found

    def _decided(self, message: str, talk: Candidates) -> RuleOutcome:
        """Return what becomes of a message that leads back to no earlier topic."""
        clause = without_opener(asking_clause(message))
        varied = _varied(message, clause, talk)
        if varied:
            return RuleOutcome(varied)
        superlative = find_superlative(clause)
        if superlative:
            words = chosen(superlative, talk.messages)
            return RuleOutcome(clause[: superlative.start] + words + clause[superlative.end :] if words else None)
        references = find_references(clause)
        owning = list(owning_ordinals(clause)) if talk.items else []
        ordinals = owning or [r for r in references if r.kind == "ordinal"]
        if ordinals:
            return RuleOutcome(_ordinal(clause, ordinals, talk))
        if references:
            return _resolved(clause, references, talk, message)
        return self._completed(clause, talk, message)

    def _followed_back(self, message: str, back: BackReference, talk: Candidates) -> RuleOutcome:
        """Return the question about what a back reference means."""
        topic = talk.referred(back)
        if topic is None:
            return _DECLINED
        if back.rest is None:
            return RuleOutcome(message[: back.start] + topic + message[back.end :])
        references = [r for r in find_references(back.rest) if r.kind != "ordinal"]
        if references and references[0].kind == "person" and not has_han(topic):
            return self._decided(back.rest, talk)
        if references:
            return RuleOutcome(_replaced(back.rest, references[0], topic))
        return RuleOutcome(back.rest if fold(topic) in fold(back.rest) else joined(topic, back.rest))

    def _completed(self, clause: str, talk: Candidates, message: str) -> RuleOutcome:
        """Return an elliptical clause with what it is about; one that names its own topic needs nothing."""
        both = compared(clause, talk.rounds) if len(clause) <= MAX_CHARS["user"] else None
        if both:
            return RuleOutcome(both)
        fuller = with_full_names(message, talk.rounds, self._extractor)
        if fuller != message or any(_names_topic(entity, clause) for entity in self._extractor.extract(clause)):
            return RuleOutcome(with_other_side(fuller, talk.last) if talk.last else fuller)
        hint = next((r.kind for r in find_references(message) if r.kind != "ordinal"), "")
        ranked = fitting(talk.ranked, hint, talk.rounds)
        if tied(ranked):
            return ambiguous(ranked)
        if talk.last and _adds_a_thing(clause):
            return RuleOutcome(continued(talk.last.text, message.strip()))
        topics = _told(talk.picked(ranked), talk.said_whole)
        if compares_two(clause) or any(is_addressed(clause, topic) or is_sibling(topic, clause) for topic in topics):
            return _DECLINED
        return RuleOutcome(joined(" ".join(topics), clause) if topics else None)


def _told(names: Sequence[str], say: Callable[[str], str]) -> list[str]:
    """Return names as they are said again, each once: both ends of a way are one."""
    return list(dict.fromkeys(map(say, names)))


def _names_topic(entity: Entity, clause: str) -> bool:
    """Return True for an entity with which a question is complete; "the contribution limit" asks: of what."""
    if entity.kind not in NAMING:
        return False
    if entity.kind != "framed" or not entity.text.islower() or not is_attribute(entity.text):
        return True
    return not clause[: entity.start].lower().endswith(" the ") or any(
        char.isalnum() for char in clause[entity.start + len(entity.text) :]
    )


def _adds_a_thing(clause: str) -> bool:
    """Return True for common English words alone that are nothing another thing has ("import duties?")."""
    new = None if has_han(clause) else fragment(clause)
    return new is not None and not (new.proper or new.article or new.modifier or is_attribute(new.new))


def _varied(message: str, clause: str, talk: Candidates) -> str | None:
    """Return the last question, continued or varied, if that is what a message asks for."""
    if talk.last is None:
        return None
    if talk.last.whole and (is_contentless(message) or is_contentless(clause)):
        return continued(talk.last.text, asking_clause(message))
    return varied_question(message, talk.last) or conditioned(talk.last.text, message)


def _ordinal(clause: str, ordinals: Sequence[Reference], talk: Candidates) -> str | None:
    """Put the items in the place of the ordinals; None if one points at no item."""
    for reference in reversed(ordinals):
        pair = any(word in reference.text.lower() for word in _PAIR_WORDS)
        items: Sequence[str] = (pair_of(talk.messages) or ()) if pair else talk.items or pair_of(talk.messages) or ()
        item = reference.item_of(items)
        if item is None:
            return None
        clause = _replaced(clause, reference, item_name(item))
    return clause


def _resolved(clause: str, references: tuple[Reference, ...], talk: Candidates, message: str) -> RuleOutcome:
    """Put the best entity of the fitting kind in the place of each reference; two of one kind cannot be told apart."""
    if len(references) > 1:
        references = tuple(r for r in references if not _stands_for_nothing(clause, r))
    if len({(r.kind, _SAME.get(r.text.lower(), r.text)) for r in references}) > len({r.kind for r in references}):
        return _DECLINED
    for reference in reversed(references):
        if reference.kind == "person" and names_a_person(message[: message.rfind(clause) + reference.start]):
            return RuleOutcome(message)  # "my daughter is ten, can she …" says whom it means
        if reference.kind == "plural":
            words = talk.several(clause)
            if not words and len(references) > 1:
                continue
            if not words:
                return _DECLINED
        else:
            ranked = fitting(talk.ranked, reference.kind, talk.rounds)
            if not ranked:
                return _DECLINED
            if tied(ranked):
                return ambiguous(ranked)
            say = talk.said if reference.kind == "place" or reference.possessive else talk.said_whole
            words = " ".join(_told(talk.picked(ranked), say))
            words = owner_of(words) if reference.kind == "person" else words
        follows = clause[reference.end :].startswith(words)  # 它这里: one thing, pointed at twice
        clause = _replaced(clause, reference, "" if follows else _without_noun(words, clause[reference.end :]))
    return RuleOutcome(clause)


def _stands_for_nothing(clause: str, reference: Reference) -> bool:
    """Return True for the "that" of "how often does it do that?" and the "it" of "is it safe to drink it?"."""
    near = max(0, reference.start - _NEAR)
    empty = _EMPTY.search(clause, near, reference.end + 2 * _NEAR)
    return bool(_DO.search(clause, near, reference.start) or (empty and empty.start() < reference.start < empty.end()))


def _without_noun(words: str, after: str) -> str:
    """Return a name without a last word that stands after the reference anyway: the HPV for "this vaccine"."""
    head, _, noun = words.rpartition(" ")
    return head if head and re.match(rf" {re.escape(noun)}\b", after, re.IGNORECASE) else words


def _capitalised(query: str) -> str:
    """Return a query that begins with a capital, but for a name's own small letter (iPhone)."""
    return query[0].upper() + query[1:] if query[:1].isascii() and query[1:2].islower() else query


def _replaced(clause: str, reference: Reference, words: str) -> str:
    """Put words in the place of a reference, with a possessive ending and spaces where English wants them."""
    if reference.possessive:
        words += "'" if words.endswith("s") else "'s"
    before, after = clause[: reference.start], clause[reference.end :]
    if reference.text.lower() == "there" and not _PREPOSITION.search(before):
        words = f"to {words}" if _GOING.search(before) else f"at {words}"
    if before and before[-1].isalnum() and words and words[0].isascii() and not has_han(before[-1]):
        before += " "
    return f"{before}{words}{after}"
