"""Which of the things mentioned a question most likely means: a small learned ranker over what was said."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from llama_index_condense_plus.languages import Reference, pack_of
from llama_index_condense_plus.languages.text import clip, fold, rarity_classes
from llama_index_condense_plus.linear import LinearModel
from llama_index_condense_plus.protocols import EntityExtractor
from llama_index_condense_plus.rewriting.entities import COMMON_CLASS, DefaultEntityExtractor
from llama_index_condense_plus.types import Entity, WindowMessage

WEIGHTS = Path(__file__).with_name("data") / "ranker.toml"
LOOK_BACK = 24
"""Messages read, besides the first round; an older mention counts for nothing."""
OPENING = 2
MAX_CANDIDATES = 64
"""Candidates compared with each other, the most salient; the rest are far behind."""
DECAY = 0.85
"""What a mention is worth one message later."""
UNNAMED = frozenset({"term", "number"})
_FITS = {
    "person": {"person": 1.0, "name": 0.5, "framed": 0.0, "term": -0.5},
    "place": {"place": 1.0, "organisation": 1.0, "name": 0.5, "framed": 0.5, "term": -0.5},
    "thing": {"title": 1.0, "code": 1.0, "quoted": 0.5, "organisation": 0.5, "name": 0.5, "framed": 0.5, "term": 0.0},
}
"""How well a thing of each kind fits a pronoun of each kind; -1 where nothing is said."""
_VAGUE = frozenset({"term", "framed", "name"})
"""Kinds that a more telling mention replaces."""


class Candidate(NamedTuple):
    """Something mentioned, and what speaks for it."""

    entity: Entity
    """The words as they were said, whole."""
    features: Mapping[str, float]
    """Named features, see ``data/ranker.toml``."""


class Ranked(NamedTuple):
    """A candidate with its probability among the others and nothing at all."""

    entity: Entity
    """The words as they were said, whole."""
    probability: float
    """Estimated probability in [0, 1] that it is what the question leaves out."""
    salience: float = 0.0
    """What its mentions are worth: equal for two that were always mentioned together."""


@cache
def shipped_ranker() -> LinearModel:
    """Return the ranker that comes with the package."""
    return LinearModel.load(WEIGHTS)


def rank(candidates: Sequence[Candidate], model: LinearModel) -> list[Ranked]:
    """Return candidates by probability, best first; what is missing to 1 is that nothing is to be carried over."""
    odds = [(p := model.probability(c.features)) / max(1e-9, 1.0 - p) for c in candidates]
    total = 1.0 + sum(odds)
    ranked = [Ranked(c.entity, o / total, c.features["salience"]) for c, o in zip(candidates, odds, strict=True)]
    return sorted(ranked, key=lambda r: -r.probability)


def rank_entities(
    messages: Sequence[WindowMessage], extractor: EntityExtractor | None = None
) -> list[tuple[Entity, float]]:
    """Return everything mentioned with its salience for a question not yet asked, highest first.

    Args:
        messages: the conversation, oldest first.
        extractor: finds the entities; default ``DefaultEntityExtractor``.
    """
    found = find_candidates("", (), messages, extractor or DefaultEntityExtractor())
    return [(each.entity, each.probability) for each in rank(found, shipped_ranker())]


def find_candidates(
    message: str,
    references: Sequence[Reference],
    messages: Sequence[WindowMessage],
    extractor: EntityExtractor,
) -> list[Candidate]:
    """Return what a question may mean with its features, the most salient first.

    Args:
        message: the question, empty if there is none yet.
        references: the words in it that point back.
        messages: the conversation, oldest first; its first round and the newest messages are read.
        extractor: finds the entities.
    """
    newest = max(0, len(messages) - LOOK_BACK)
    read = [*messages[: min(OPENING, newest)], *messages[newest:]]
    found = [_named_once(extractor.extract(m.full_text)) for m in read]
    said = _Said(read, found)
    asked = _Question(message, references, extractor)
    best = sorted(said.salience, key=lambda key: -said.salience[key])[:MAX_CANDIDATES]
    return [
        Candidate(said.entity[key], {**said.features(key), **asked.features(key, said.entity[key])}) for key in best
    ]


def _named_once(entities: Sequence[Entity]) -> dict[str, Entity]:
    named: dict[str, Entity] = {}
    for entity in entities:
        key = fold(entity.text).strip()
        if (
            key
            and entity.kind != "number"
            and (key not in named or (named[key].kind in _VAGUE and entity.kind != "term"))
        ):
            named[key] = entity
    return named


class _Said:
    """What was mentioned, where and how often; a short form counts for the one longer name that holds it."""

    def __init__(self, messages: Sequence[WindowMessage], found: Sequence[Mapping[str, Entity]]) -> None:
        self.entity: dict[str, Entity] = {}
        for named in found:
            for key, entity in named.items():
                if key not in self.entity or (self.entity[key].kind in _VAGUE and entity.kind != "term"):
                    self.entity[key] = entity
        whole = _whole_names(self.entity)
        names = [key for key, entity in self.entity.items() if entity.kind not in UNNAMED]
        self.salience: dict[str, float] = defaultdict(float)
        self.place: dict[str, float] = {}
        self.opening: set[str] = set()
        for index, (message, named) in enumerate(zip(messages, found, strict=True)):
            age = len(messages) - 1 - index
            folded = fold(clip(message.full_text))
            keys = dict.fromkeys(whole.get(key, key) for key in named)
            keys |= dict.fromkeys(whole.get(key, key) for key in names if key not in named and key in folded)
            n_names = sum(self.entity[key].kind not in UNNAMED for key in keys)
            for place, key in enumerate(keys):
                crowd = max(1, n_names if self.entity[key].kind not in UNNAMED else len(keys))
                self.salience[key] += DECAY**age / math.sqrt(crowd)
                self.place[key] = 1.0 / (1 + place)
                if index < OPENING and message.role == "user":
                    self.opening.add(key)
        self._opened = DECAY ** max(0, len(messages) - 1)

    def features(self, key: str) -> dict[str, float]:
        """Return what speaks for a candidate apart from the question."""
        kind = self.entity[key].kind
        words = pack_of(key).content_words(key)
        ranks = rarity_classes(pack_of(key).code)
        return {
            "salience": self.salience[key],
            "opening": self._opened if key in self.opening else 0.0,
            "first_in_message": self.place[key],
            "is_name": float(kind not in UNNAMED),
            "set_apart": float(kind in ("title", "quoted", "framed")),
            "several_words": float(len(words) > 1),
            "rarity": max([ranks.get(word, COMMON_CLASS + 1) for word in words], default=0) / (COMMON_CLASS + 1),
        }


def _whole_names(entities: Mapping[str, Entity]) -> dict[str, str]:
    """Return short form → whole name, where exactly one other candidate holds it."""
    inside: dict[str, list[str]] = defaultdict(list)
    keys = sorted(entities, key=len)[: 4 * MAX_CANDIDATES]
    for index, short in enumerate(keys):
        for longer in keys[index + 1 :]:
            if short != longer and short in longer and len(short) > 1 and _at_edge(short, longer):
                inside[short].append(longer)
    whole = {}
    for short, found in inside.items():
        holders = [name for name in found if name not in inside or len(inside[name]) != 1]
        if (len(holders) == 1 and entities[holders[0]].kind not in UNNAMED) or len(found) == 1:
            whole[short] = holders[0] if holders else found[0]
    return whole


def _at_edge(short: str, longer: str) -> bool:
    words = longer.replace("-", " ").split()
    return (len(words) == 1 and not longer.isascii()) or set(short.split()) <= set(words)


class _Question:
    """What the question says about its candidates."""

    def __init__(self, message: str, references: Sequence[Reference], extractor: EntityExtractor) -> None:
        self._folded = fold(message)
        self._words = set(pack_of(message).content_words(message)) if message else set()
        kinds = {reference.kind for reference in references}
        self._kind = next((kind for kind in _FITS if kind in kinds), "")
        names = [e for e in extractor.extract(message) if e.kind not in UNNAMED] if message else []
        self._shared = {
            "points_back": float(bool(kinds)),
            "unspaced": float(bool(message) and not pack_of(message).joiner),
            "names_itself": float(bool(names)),
            "question_words": min(1.0, len(self._words) / 6),
        }

    def features(self, key: str, entity: Entity) -> dict[str, float]:
        """Return how a candidate fits the question."""
        fits = _FITS[self._kind].get(entity.kind, -1.0) if self._kind else 0.0
        words = set(pack_of(key).content_words(key))
        said = key in self._folded or (bool(words) and words <= self._words)
        return {**self._shared, "fits_pronoun": float(fits), "in_question": float(said)}
