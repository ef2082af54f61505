"""Putting the full name in the place of a short one that the conversation gave in full (佐助 → 宇智波佐助)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from llama_index_condense_plus.lexicons.text import fold, has_han
from llama_index_condense_plus.protocols import EntityExtractor
from llama_index_condense_plus.rewriting.noun_phrases import noun_phrases
from llama_index_condense_plus.rewriting.persons import person_fit
from llama_index_condense_plus.rewriting.standing import Standing
from llama_index_condense_plus.types import Entity

_NAMES = frozenset({"person", "framed", "name"})


def with_full_names(message: str, rounds: Sequence[Standing], extractor: EntityExtractor) -> str:
    """Return a message with its short names of persons in full, where only one full name was said.

    Args:
        message: the question.
        rounds: the conversation's questions and answers.
        extractor: finds the names.
    """
    entities = [e for r in rounds for text in (r.text, r.answer) for e in extractor.extract(text)]
    known = {e.text: e for e in entities if e.kind in _NAMES}
    known |= {p.text: Entity(p.text, "person") for r in rounds for p in _dotted(r)}
    shorts = {e.text for e in extractor.extract(message) if e.kind in _NAMES}
    shorts |= {p.text for p in noun_phrases(message) if p.kind == "name"}
    for short in shorts:
        longer = [e for e in known.values() if _extends(e.text, short) and person_fit(e, rounds) > 0]
        if len({e.text for e in longer}) == 1:
            message = message.replace(short, longer[0].text, 1)
    return message


def _dotted(standing: Standing) -> list[Entity]:
    return [
        Entity(p.text, "person")
        for text in (standing.text, standing.answer)
        for p in (noun_phrases(text) if "·" in text else ())
        if "·" in p.text
    ]


def _extends(full: str, short: str) -> bool:
    """Return True if a full name ends, or in Latin begins, with a short one."""
    if len(short) < 2 or fold(full) == fold(short):  # noqa: PLR2004 - a letter is no name
        return False
    if has_han(short):
        return full.endswith(short)
    return re.search(rf"(?:^{re.escape(short)} | {re.escape(short)}$)", full) is not None
