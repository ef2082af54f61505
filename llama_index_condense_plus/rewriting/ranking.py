"""Which of the things mentioned a question most likely means: a small learned ranker over what was said."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
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
READ_CHARS = 3_000
"""Characters of a message whose words count as said before."""
MAX_PERSON = 3
"""Words of the longest name that looks like a person's."""
KINDS = ("person", "place", "title", "organisation")
"""Kinds with a weight of their own."""
UNNAMED = frozenset({"term", "number"})
_FITS = {
    "person": {"person": 1.0, "name": 0.5, "framed": 0.0, "term": -0.5},
    "place": {"place": 1.0, "organisation": 1.0, "name": 0.5, "framed": 0.5, "term": -0.5},
    "thing": {"title": 1.0, "code": 1.0, "quoted": 0.5, "organisation": 0.5, "name": 0.5, "framed": 0.5, "term": 0.0},
}
"""How well a thing of each kind fits a pronoun of each kind; -1 where nothing is said."""
_NAMED = frozenset({"name", "person", "code"})
_VAGUE = ("term", "name", "framed")
"""Kinds that say little, the least first: a mention that says more takes the place of another."""


class Candidate(NamedTuple):
    """Something mentioned, and what speaks for it."""

    entity: Entity
    """The words as they were said, whole."""
    features: Mapping[str, float]
    """Named features, see ``data/ranker.toml``."""
    article: str = ""
    """The article that stood before each mention."""


class Ranked(NamedTuple):
    """A candidate with its probability among the others and nothing at all."""

    entity: Entity
    """The words as they were said, whole."""
    probability: float
    """Estimated probability in [0, 1] that it is what the question leaves out."""
    salience: float = 0.0
    """What its mentions are worth: equal for two that were always mentioned together."""
    article: str = ""
    """The article that stood before each mention."""

    @property
    def name_in_sentence(self) -> str:
        """The name with its article."""
        return f"{self.article} {self.entity.text}" if self.article else self.entity.text


@cache
def shipped_ranker() -> LinearModel:
    """Return the ranker that comes with the package."""
    return LinearModel.load(WEIGHTS)


def rank(candidates: Sequence[Candidate], model: LinearModel) -> list[Ranked]:
    """Return candidates by probability, best first; what is missing to 1 is that nothing is to be carried over."""
    odds = [(p := model.probability(c.features)) / max(1e-9, 1.0 - p) for c in candidates]
    total = 1.0 + sum(odds)
    ranked = [
        Ranked(c.entity, o / total, c.features["salience"], c.article) for c, o in zip(candidates, odds, strict=True)
    ]
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
    before: str = "",
) -> list[Candidate]:
    """Return what a question may mean with its features, the most salient first.

    Args:
        message: the question, empty if there is none yet.
        references: the words in it that point back.
        messages: the conversation, oldest first; its first round and the newest messages are read.
        extractor: finds the entities.
        before: what the same message says before the question.
    """
    messages = [*messages, WindowMessage("user", before, before)] if before else messages
    newest = max(0, len(messages) - LOOK_BACK)
    read = [*messages[: min(OPENING, newest)], *messages[newest:]]
    found = [_named_once(extractor.extract(m.full_text)) for m in read]
    said = _Said(read, found)
    words = {word for m in read for word in pack_of(m.full_text).content_words(clip(m.full_text, READ_CHARS))}
    asked = _Question(message, references, words, extractor)
    best = sorted(said.salience, key=lambda key: -said.salience[key])[:MAX_CANDIDATES]
    return [
        Candidate(
            said.entity[key],
            said.features(key) | asked.features(key, said.entity[key], said.leads[key]),
            said.article(key),
        )
        for key in best
    ]


def _named_once(entities: Sequence[Entity]) -> dict[str, Entity]:
    named: dict[str, Entity] = {}
    for entity in entities:
        key = fold(entity.text).strip()
        if key and entity.kind != "number" and (key not in named or _tells_more(entity, named[key])):
            named[key] = entity
    return named


def _tells_more(new: Entity, old: Entity) -> bool:
    return old.kind in _VAGUE and new.kind not in _VAGUE[: _VAGUE.index(old.kind) + 1]


class _Said:
    """What was mentioned, where and how often; a short form counts for the one longer name that holds it."""

    def __init__(self, messages: Sequence[WindowMessage], found: Sequence[Mapping[str, Entity]]) -> None:
        self.entity: dict[str, Entity] = {}
        for named in found:
            for key, entity in named.items():
                if key not in self.entity or _tells_more(entity, self.entity[key]):
                    self.entity[key] = entity
        whole = _whole_names(self.entity)
        names = [key for key, entity in self.entity.items() if entity.kind not in UNNAMED]
        self.salience: dict[str, float] = defaultdict(float)
        self.leads: dict[str, set[str]] = defaultdict(set)
        self._place: dict[str, float] = {}
        self._recent: dict[str, float] = {}
        self._opening: set[str] = set()
        for index, (message, named) in enumerate(zip(messages, found, strict=True)):
            worth = DECAY ** (len(messages) - 1 - index)
            folded = fold(clip(message.full_text))
            keys = dict.fromkeys(whole.get(key, key) for key in named)
            keys |= dict.fromkeys(whole.get(key, key) for key in names if key not in named and key in folded)
            n_names = sum(self.entity[key].kind not in UNNAMED for key in keys)
            for key, entity in named.items():
                self.leads[whole.get(key, key)].add(_lead(message.full_text, entity))
            for place, key in enumerate(keys):
                crowd = max(1, n_names if self.entity[key].kind not in UNNAMED else len(keys))
                self.salience[key] += worth / math.sqrt(crowd)
                self._place[key] = 1.0 / (1 + place)
                self._recent[key] = worth
                if index < OPENING and message.role == "user":
                    self._opening.add(key)
        self._opened = DECAY ** max(0, len(messages) - 1)

    def features(self, key: str) -> dict[str, float]:
        """Return what speaks for a candidate apart from the question."""
        kind = self.entity[key].kind
        pack = pack_of(key)
        words, ranks = pack.content_words(key), rarity_classes(pack.code)
        leads = self.leads[key]
        found = {
            "salience": self.salience[key],
            "opening": self._opened if key in self._opening else 0.0,
            "first_in_message": self._place[key],
            "is_name": float(kind not in UNNAMED),
            "set_apart": float(kind in ("title", "quoted", "framed")),
            "several_words": float(len(words) > 1),
            "rarity": max([ranks.get(word, COMMON_CLASS + 1) for word in words], default=0) / (COMMON_CLASS + 1),
            "is_object": float(not leads.isdisjoint(pack.words("object_lead"))),
        }
        found |= {kind_of: float(kind == kind_of) for kind_of in KINDS}
        if not pack.joiner:
            found |= {"salience_unspaced": self.salience[key], "recent_unspaced": self._recent[key]}
        return found

    def article(self, key: str) -> str:
        """Return the definite article if it stood before each mention."""
        definite = pack_of(key).words("definite")
        return definite[0] if definite and self.leads[key] <= set(definite) and self.leads[key] else ""


def _lead(text: str, entity: Entity) -> str:
    """Return the folded word before an entity, empty if a mark or nothing stands there, or a noun follows."""
    end = entity.start + len(entity.text)
    words = text[max(0, entity.start - 20) : entity.start].rpartition(" ")
    after = text[end : end + 20].split(" ")
    is_modifier = len(after) > 1 and not after[0] and bool(pack_of(after[1]).content_words(after[1]))
    return fold(words[0].split(" ")[-1]) if words[1] and not words[2] and not is_modifier else ""


def _whole_names(entities: Mapping[str, Entity]) -> dict[str, str]:
    """Return short form → whole name, where exactly one other candidate holds it, said earlier or by name."""
    order = {key: index for index, key in enumerate(entities)}
    inside: dict[str, list[str]] = defaultdict(list)
    keys = sorted(entities, key=len)[: 4 * MAX_CANDIDATES]
    for index, short in enumerate(keys):
        for longer in keys[index + 1 :]:
            is_first = order[longer] < order[short] or entities[longer].kind in _NAMED
            if is_first and short in longer and len(short) > 1 and _at_edge(short, longer):
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

    def __init__(
        self, message: str, references: Sequence[Reference], said: Collection[str], extractor: EntityExtractor
    ) -> None:
        self._pack = pack_of(message)
        self._folded = fold(message)
        self._words = set(self._pack.content_words(message))
        self._kinds = {reference.kind for reference in references}
        names = [entity for entity in extractor.extract(message) if entity.kind not in UNNAMED]
        ranks = rarity_classes(self._pack.code)
        new = [ranks.get(word, COMMON_CLASS + 1) / (COMMON_CLASS + 1) for word in self._words if word not in said]
        points = bool(self._kinds)
        self._shared = {
            "points_back": float(points),
            "unspaced": float(bool(message) and not self._pack.joiner),
            "names_itself": float(bool(names)),
            "question_words": min(1.0, len(self._words) / 6),
            "rarest_new": max(new, default=0.0),
            "rarest_new_alone": 0.0 if points else max(new, default=0.0),
            "new_words_alone": 0.0 if points else min(1.0, len(new) / 4),
        }

    def features(self, key: str, entity: Entity, leads: Collection[str]) -> dict[str, float]:
        """Return how a candidate fits the question."""
        kind = next((kind for kind in _FITS if kind in self._kinds), "")
        fits = _FITS[kind].get(entity.kind, -1.0) if kind else 0.0
        pack = pack_of(key)
        is_whole = all(token.is_content for token in pack.tokenize(key))  # in "plan A" the letter tells it from plan B
        said = key in self._folded or (is_whole and set(pack.content_words(key)) <= self._words)
        looks = self._looks(entity, leads) if self._pack.joiner else 0.0
        return {**self._shared, "fits_pronoun": float(fits), "looks_like": looks, "in_question": float(said)}

    def _looks(self, entity: Entity, leads: Collection[str]) -> float:
        """Return 1 for what is written like a person after he, or like a place after there, -1 for what is not."""
        words = entity.text.replace(".", "").replace("'", "").split()
        placed = not set(leads).isdisjoint(self._pack.words("place_lead"))
        if "person" in self._kinds:
            capitals = all(word.isalpha() and word[0].isupper() for word in words)
            is_bare = capitals and 1 < len(words) <= MAX_PERSON and entity.kind in ("name", "framed")
            return 1.0 if is_bare and not placed and set(leads).isdisjoint(self._pack.words("determiner")) else -1.0
        return float(placed) if "place" in self._kinds else 0.0
