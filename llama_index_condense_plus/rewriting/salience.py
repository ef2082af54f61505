"""Which of the things mentioned a follow-up most likely means."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from llama_index_condense_plus.lexicons.memo import remembered
from llama_index_condense_plus.lexicons.text import clip, fold
from llama_index_condense_plus.protocols import EntityExtractor
from llama_index_condense_plus.rewriting.orders import without_orders
from llama_index_condense_plus.types import Entity, HistoryWindow, WindowMessage

LOOK_BACK = 24
"""Messages read; an older mention would weigh less than 0.88^24 = 0.05. The first round is always read."""
_OPENING = 2
MAX_CANDIDATES = 256
"""Candidates that are compared with each other; the rest are far behind."""
KIND_WEIGHTS = {
    "title": 2.0,
    "framed": 1.3,
    "person": 0.8,
    "name": 0.45,
    "organisation": 1.25,
    "place": 0.7,
    "code": 1.2,
    "quoted": 0.5,
    "term": 0.15,
    "number": 0.0,
}
"""How likely a thing of each kind is asked about."""


@dataclass(frozen=True, slots=True)
class SalienceWeights:
    """Weights of the ranking, tuned on a quarter of KdConv's development questions, checked on another eighth."""

    decay: float = 0.88
    """What a mention is worth one message later."""
    first_subject: float = 0.5
    """Added to what the first message of the conversation (or topic) is about."""
    crowding: float = 0.5
    """Exponent: a mention among n others in its message counts 1 / n^crowding."""


DEFAULT_WEIGHTS = SalienceWeights()


def rank_entities(
    source: HistoryWindow | Sequence[WindowMessage],
    extractor: EntityExtractor,
    weights: SalienceWeights = DEFAULT_WEIGHTS,
) -> list[tuple[Entity, float]]:
    """Return everything mentioned with its salience, highest first.

    A name found anywhere counts wherever it is written, and under the longest form that was used (佐助 → 宇智波佐助).
    What a sentence names that gives the machine orders counts nowhere.
    """
    messages = source.all_messages if isinstance(source, HistoryWindow) else tuple(source)
    read = [*range(min(_OPENING, len(messages) - LOOK_BACK)), *range(max(0, len(messages) - LOOK_BACK), len(messages))]
    dated = tuple(
        (without_orders(messages[index].full_text), len(messages) - 1 - index, index < _OPENING) for index in read
    )
    if isinstance(extractor, Hashable):
        return list(_ranked(dated, extractor, weights))
    return list(_ranked.__wrapped__(dated, extractor, weights))


@lru_cache(maxsize=64)
def _ranked(
    dated: tuple[tuple[str, int, bool], ...], extractor: EntityExtractor, weights: SalienceWeights
) -> tuple[tuple[Entity, float], ...]:
    """Rank what messages mention; each is given as its text, its age in messages, and whether it opened the talk."""
    found = [{fold(e.text).strip(): e for e in reversed(extractor.extract(text))} for text, _, _ in dated]
    best: dict[str, Entity] = {}
    for entities in found:
        for key, entity in entities.items():
            if key and (key not in best or _weight(entity) > _weight(best[key])):
                best[key] = entity
    names = sorted((k for k, e in best.items() if e.kind not in ("term", "number")), key=len, reverse=True)
    scores, last = dict.fromkeys(best, 0.0), dict.fromkeys(best, 0)
    subject = ""
    for (text, age, opening), entities in zip(dated, found, strict=True):
        folded, named = _folded(text), []
        for key in names:
            if key in folded:
                folded = folded.replace(key, "\x00")
                named.append(key)
        if opening and named and not subject:
            subject = min(named, key=lambda k: (-_weight(best[k]), _folded(text).find(k)))
            scores[subject] += weights.first_subject
        terms = [key for key in entities if key in best and best[key].kind == "term"]
        for key in (*named, *terms):
            scores[key] += _weight(best[key]) * weights.decay**age / max(1, len(named)) ** weights.crowding
            last[key] = -age
    leading = dict(sorted(scores.items(), key=lambda pair: -pair[1])[:MAX_CANDIDATES])
    merged = [(key, score) for key, score in _merged(leading, best).items() if score > 0]
    return tuple((best[key], score) for key, score in sorted(merged, key=lambda pair: (-pair[1], -last[pair[0]])))


def _weight(entity: Entity) -> float:
    return KIND_WEIGHTS.get(entity.kind, 1.0)


@remembered
def _folded(text: str) -> str:
    return fold(clip(text))


def _merged(scores: dict[str, float], best: dict[str, Entity]) -> dict[str, float]:
    """Add the score of a short form to the longest name that holds it."""
    merged = dict(scores)
    for key in sorted(scores, key=len):
        common = best[key].kind == "term"
        longer = [k for k in merged if len(k) > len(key) and key in k and (best[k].kind == "term") is common]
        if longer and best[key].kind != "number":
            merged[max(longer, key=lambda k: merged[k])] += merged.pop(key)
    return merged
