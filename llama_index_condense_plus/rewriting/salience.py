"""Which of the things mentioned a follow-up most likely means."""

from __future__ import annotations

from collections.abc import Sequence

from llama_index_condense_plus.languages.text import fold
from llama_index_condense_plus.protocols import EntityExtractor
from llama_index_condense_plus.types import Entity, HistoryWindow, WindowMessage

DECAY = 0.9
"""What a mention is worth one message later."""
FIRST_SUBJECT_BONUS = 1.5
"""Added to what the first round of the conversation (or topic) is about."""
LOOK_BACK = 40
"""Messages read; an older mention would weigh less than 0.9^40 = 0.015. The first round is always read."""
KIND_WEIGHTS = {
    "title": 1.3,
    "framed": 1.3,
    "person": 0.8,
    "name": 1.0,
    "organisation": 0.8,
    "place": 0.7,
    "code": 1.2,
    "quoted": 0.7,
    "term": 0.15,
    "number": 0.0,
}
"""How likely a thing of each kind is asked about."""


def rank_entities(
    source: HistoryWindow | Sequence[WindowMessage], extractor: EntityExtractor
) -> list[tuple[Entity, float]]:
    """Return everything mentioned with its salience, highest first.

    A name counts under the longest form that was used (佐助 → 宇智波佐助).
    """
    messages = source.all_messages if isinstance(source, HistoryWindow) else tuple(source)
    total = len(messages)
    first = max(0, total - LOOK_BACK)
    indices = [*range(min(2, first)), *range(first, total)]
    scores: dict[str, float] = {}
    shown: dict[str, Entity] = {}
    last_seen: dict[str, int] = {}
    for index in indices:
        seen: set[str] = set()
        for entity in extractor.extract(messages[index].full_text):
            key = fold(entity.text)
            weight = KIND_WEIGHTS.get(entity.kind, 1.0) * (0.5 if key in seen else 1.0)
            if weight <= 0 or not key.strip():
                continue
            score = weight * DECAY ** (total - 1 - index)
            if index == 0 and key not in seen and entity.kind in ("title", "framed", "name", "person", "place"):
                score += FIRST_SUBJECT_BONUS if not scores else 0.0
            scores[key] = scores.get(key, 0.0) + score
            last_seen[key] = index
            seen.add(key)
            if key not in shown or KIND_WEIGHTS.get(shown[key].kind, 1.0) < KIND_WEIGHTS.get(entity.kind, 1.0):
                shown[key] = entity
    _merge_into_longest(scores, shown)
    ranked = [(shown[key], score) for key, score in scores.items()]
    return sorted(ranked, key=lambda pair: (-pair[1], -last_seen[fold(pair[0].text)]))


def _merge_into_longest(scores: dict[str, float], shown: dict[str, Entity]) -> None:
    for key in sorted(scores, key=len):
        if shown[key].kind == "term":
            continue
        longer = [k for k in scores if len(k) > len(key) and key in k and shown[k].kind != "term"]
        if longer:
            target = max(longer, key=lambda k: scores[k])
            scores[target] += scores.pop(key)
