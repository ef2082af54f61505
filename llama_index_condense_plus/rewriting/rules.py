"""Rewriting without a model: the salient entity for a reference, the topic for an ellipsis."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from llama_index_condense_plus.languages.patterns import regex
from llama_index_condense_plus.languages.text import fold, has_han
from llama_index_condense_plus.operations import Flow, Rewritten, RuleOutcome
from llama_index_condense_plus.protocols import EntityExtractor
from llama_index_condense_plus.rewriting.clauses import asking_clause
from llama_index_condense_plus.rewriting.entities import DefaultEntityExtractor
from llama_index_condense_plus.rewriting.lists import list_items
from llama_index_condense_plus.rewriting.references import Reference, find_references
from llama_index_condense_plus.rewriting.salience import rank_entities
from llama_index_condense_plus.rewriting.topics import SUBSTITUTION, since_topic_start
from llama_index_condense_plus.types import Entity, HistoryWindow, RewriteRequest, TriggerReason, WindowMessage

Ranked = list[tuple[Entity, float]]

CLEAR_LEAD = 1.5
"""An entity this many times as salient as the next stands alone; else both are searched."""
TIE = 1.001
"""Below this ratio two candidates are equally likely."""
NAMING = frozenset({"title", "framed", "person", "name", "organisation", "place", "code", "quoted"})
"""Kinds of entity that say what a question is about; with one and no reference it is complete."""
MAX_SUBSTITUTIONS = 5
"""User messages looked back over for the question that "上海呢？", "广州呢？" vary."""
MAX_ITEM_CHARS = 40
"""A list item is named by its head, up to this many characters."""

_FIT = {
    "person": {"title": 0.1, "place": 0.1, "organisation": 0.3, "code": 0.1, "name": 0.5, "framed": 0.7, "quoted": 0.2},
    "place": {"place": 1.0, "organisation": 1.0, "person": 0.3, "title": 0.4, "code": 0.2},
    "thing": {"person": 0.3, "place": 0.7},
}
"""How well a kind of entity fits a kind of reference; 1 where nothing is said."""
_ITEM_END = regex(r"[:：。;；（(]|[，,](?=\S{6})| [-–—] ")
_OPENER = regex(
    r"^(?:(?:那么?|而且|另外|还有|对了|不过)[，,]?(?![里边些个儿位])|(?:and|but|so|also)\b,?)\s*", re.IGNORECASE
)


def topic_query(window: HistoryWindow, message: str, extractor: EntityExtractor | None = None) -> str | None:
    """Return the most salient entity with the clause that asks; None without an entity that is not in the message."""
    folded = fold(message)
    for entity, _ in rank_entities(window, extractor or DefaultEntityExtractor()):
        if entity.kind not in ("term", "number") and fold(entity.text) not in folded:
            return f"{entity.text} {asking_clause(message)}"
    return None


class RuleRewriter:
    """Rewrites with rules alone, and declines where they cannot decide.

    It declines when a question holds two references of one kind ("那个方案比这个好吗"), when two candidates are equally
    likely, when an ordinal points at no list, and when the history names nothing.

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
        if request.decision.reason is TriggerReason.SLOT_FILLING:
            return RuleOutcome(_slot_filled(request.window, request.message))
        clause = _OPENER.sub("", asking_clause(request.message))
        references = find_references(clause)
        ordinals = [r for r in references if r.kind == "ordinal"]
        if ordinals:
            return RuleOutcome(_ordinal(clause, ordinals, request.window.list_items))
        kinds = [r.kind for r in references]
        if any(kinds.count(kind) > 1 and len(_texts(references, kind)) > 1 for kind in set(kinds)):
            return RuleOutcome(None)
        ranked = self._candidates(request, clause)
        if references and ranked:
            return _resolved(clause, references, ranked)
        return RuleOutcome(None) if references else self._completed(request, clause, ranked)

    def _completed(self, request: RewriteRequest, clause: str, ranked: Ranked) -> RuleOutcome:
        """Return an elliptical clause with what it is about; one that names its own topic needs nothing."""
        swapped = self._substituted(request.window, request.message)
        if swapped:
            return RuleOutcome(swapped)
        if self._names_its_topic(clause):
            return RuleOutcome(request.message)
        hint = next((r.kind for r in find_references(request.message) if r.kind != "ordinal"), "")
        fitting = _fitting(ranked, hint)
        if _tied(fitting):
            return _ambiguous(fitting)
        return RuleOutcome(f"{' '.join(_chosen(fitting))} {clause}" if fitting else None)

    def _candidates(self, request: RewriteRequest, clause: str) -> Ranked:
        """Return what the clause does not name itself: names, or common terms where nothing is named.

        What the user says before the clause that asks counts as the newest message: "导演是冯小刚，他多大了？"
        """
        messages = since_topic_start(_with_ordinals_said(request.window.all_messages), self._extractor)
        before = request.message[: max(0, request.message.rfind(clause))] if clause else ""
        if before.strip():
            messages = (*messages, WindowMessage("user", before, before))
        folded = fold(clause)
        ranked = [p for p in rank_entities(messages, self._extractor) if fold(p[0].text) not in folded]
        return [p for p in ranked if p[0].kind not in ("term", "number")] or [p for p in ranked if p[0].kind == "term"]

    def _names_its_topic(self, clause: str) -> bool:
        return any(entity.kind in NAMING for entity in self._extractor.extract(clause))

    def _substituted(self, window: HistoryWindow, message: str) -> str | None:
        """Return the last question with another name in it: "北京几点开门？" – "上海呢？"."""
        match = SUBSTITUTION.match(message)
        asked = [m.full_text for m in window.all_messages[-2 * MAX_SUBSTITUTIONS :] if m.role == "user"]
        previous = next((text for text in reversed(asked) if not SUBSTITUTION.match(text)), None)
        if not match or not previous:
            return None
        new, clause = (match["zh"] or match["en"]).strip(), asking_clause(previous)
        fresh = next((e for e in self._extractor.extract(new) if len(e.text) * 2 > len(new)), None)
        if fresh is None:
            return None
        old = next((e.text for e in self._extractor.extract(clause) if _alike(e, fresh)), None)
        return clause.replace(old, fresh.text if fresh.kind in NAMING else new) if old else None


def _alike(old: Entity, new: Entity) -> bool:
    """Return True for names of one kind, and for terms of one ending (年假, 病假)."""
    if old.kind != new.kind or old.kind == "number":
        return False
    return old.kind != "term" or (has_han(old.text) and old.text[-1] == new.text[-1])


def _texts(references: tuple[Reference, ...], kind: str) -> set[str]:
    return {r.text for r in references if r.kind == kind}


def _slot_filled(window: HistoryWindow, message: str) -> str | None:
    """Return the request that the assistant asked back about, with the user's answer."""
    asked = next((m.full_text for m in reversed(window.all_messages) if m.role == "user"), None)
    return f"{asking_clause(asked)} {message.strip()}" if asked else None


def _ordinal(clause: str, ordinals: Sequence[Reference], items: Sequence[str]) -> str | None:
    """Put the items in the place of the ordinals; None if one points at no item."""
    for reference in reversed(ordinals):
        index = reference.position - 1 if reference.position > 0 else len(items) - 1
        if not 0 <= index < len(items):
            return None
        head = _ITEM_END.split(items[index], maxsplit=1)[0].strip()[:MAX_ITEM_CHARS]
        clause = _replaced(clause, reference, head)
    return clause


def _with_ordinals_said(messages: Sequence[WindowMessage]) -> tuple[WindowMessage, ...]:
    """Return the messages with the user's earlier ordinals named, for "the second one" is a mention of that item."""
    said: list[WindowMessage] = []
    items: tuple[str, ...] = ()
    for message in messages:
        text = message.full_text
        if message.role == "user":
            ordinals = [r for r in find_references(text) if r.kind == "ordinal"]
            text = (_ordinal(text, ordinals, items) or text) if ordinals else text
        else:
            items = list_items(text) or items
        said.append(message if text is message.full_text else replace(message, full_text=text))
    return tuple(said)


def _resolved(clause: str, references: tuple[Reference, ...], ranked: Ranked) -> RuleOutcome:
    """Put the best entity of the fitting kind in the place of each reference."""
    for reference in reversed(references):
        fitting = _fitting(ranked, reference.kind)
        if _tied(fitting) and reference.kind != "plural":
            return _ambiguous(fitting)
        chosen = _chosen(fitting, both=reference.kind == "plural")
        glue = ("和" if has_han(clause) else " and ") if reference.kind == "plural" else " "
        words = glue.join(chosen)
        follows = clause[reference.end :].startswith(words)  # 它这里: one thing, pointed at twice
        clause = _replaced(clause, reference, "" if follows else words)
    return RuleOutcome(clause)


def _fitting(ranked: Ranked, kind: str) -> Ranked:
    fit = _FIT.get(kind, {})
    weighed = [(entity, score * fit.get(entity.kind, 1.0)) for entity, score in ranked]
    return sorted(weighed, key=lambda pair: -pair[1])


def _chosen(ranked: Ranked, *, both: bool = False) -> list[str]:
    second = len(ranked) > 1 and (both or ranked[0][1] <= CLEAR_LEAD * ranked[1][1])
    return [entity.text for entity, _ in ranked[: 2 if second else 1]]


def _tied(ranked: Ranked) -> bool:
    return len(ranked) > 1 and ranked[0][1] <= TIE * ranked[1][1]


def _ambiguous(ranked: Ranked) -> RuleOutcome:
    tied = tuple(entity.text for entity, score in ranked if score * TIE >= ranked[0][1])
    return RuleOutcome(None, ambiguous=True, candidates=tied)


def _replaced(clause: str, reference: Reference, words: str) -> str:
    """Put words in the place of a reference, with a possessive ending and spaces where English wants them."""
    if reference.possessive:
        words += "'" if words.endswith("s") else "'s"
    before, after = clause[: reference.start], clause[reference.end :]
    if before and before[-1].isalnum() and words and words[0].isascii() and not has_han(before[-1]):
        before += " "
    return f"{before}{words}{after}"
