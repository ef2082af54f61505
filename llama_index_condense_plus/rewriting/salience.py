"""Which of the things mentioned a follow-up most likely means."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from llama_index_condense_plus.languages.text import fold
from llama_index_condense_plus.protocols import EntityExtractor
from llama_index_condense_plus.types import Entity, HistoryWindow, WindowMessage

LOOK_BACK = 40
"""Messages read; an older mention would weigh less than 0.9^40 = 0.015. The first round is always read."""
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
    """The weights of the ranking, tuned on the development half of KdConv."""

    decay: float = 0.88
    """What a mention is worth one message later."""
    first_subject: float = 0.5
    """Added to what the first message of the conversation (or topic) is about."""
    crowding: float = 0.5
    """Exponent: a mention among n others in its message counts 1 / n^crowding."""
    repeat: float = 0.0


DEFAULT_WEIGHTS = SalienceWeights()


def rank_entities(
    source: HistoryWindow | Sequence[WindowMessage],
    extractor: EntityExtractor,
    weights: SalienceWeights = DEFAULT_WEIGHTS,
) -> list[tuple[Entity, float]]:
    """Return everything mentioned with its salience, highest first.

    A name found anywhere counts wherever it is written, and under the longest form that was used (佐助 → 宇智波佐助).
    """
    messages = source.all_messages if isinstance(source, HistoryWindow) else tuple(source)
    total = len(messages)
    first = max(0, total - LOOK_BACK)
    indices = [*range(min(2, first)), *range(first, total)]
    texts = {index: fold(messages[index].full_text) for index in indices}
    best: dict[str, Entity] = {}
    for index in indices:
        for entity in extractor.extract(messages[index].full_text):
            key = fold(entity.text).strip()
            if (
                key and KIND_WEIGHTS.get(entity.kind, 1.0) > KIND_WEIGHTS.get(best[key].kind, 1.0)
                if key in best
                else key
            ):
                best[key] = entity
    keys = sorted(best, key=len, reverse=True)
    scores = dict.fromkeys(keys, 0.0)
    last = dict.fromkeys(keys, -1)
    subject_found = False
    for index in indices:
        text, present = texts[index], []
        for key in keys:
            if key in text:
                text = text.replace(key, "\x00")
                present.append(key)
        named = [k for k in present if best[k].kind not in ("term", "number")]
        if named and not subject_found and index <= 1:
            subject = min(named, key=lambda k: (-KIND_WEIGHTS.get(best[k].kind, 1.0), texts[index].find(k)))
            scores[subject] += weights.first_subject
            subject_found = True
        for key in present:
            weight = KIND_WEIGHTS.get(best[key].kind, 1.0)
            weight /= max(1, len(named)) ** weights.crowding
            scores[key] += weight * weights.decay ** (total - 1 - index)
            last[key] = index
    ranked = [(best[key], score) for key, score in _merged(scores, best).items() if score > 0]
    return sorted(ranked, key=lambda pair: (-pair[1], -last[fold(pair[0].text).strip()]))


def _merged(scores: dict[str, float], best: dict[str, Entity]) -> dict[str, float]:
    """Add the score of a short form to the longest name that holds it."""
    merged = dict(scores)
    for key in sorted(scores, key=len):
        common = best[key].kind == "term"
        longer = [k for k in merged if len(k) > len(key) and key in k and (best[k].kind == "term") is common]
        if longer and best[key].kind != "number":
            merged[max(longer, key=lambda k: merged[k])] += merged.pop(key)
    return merged
