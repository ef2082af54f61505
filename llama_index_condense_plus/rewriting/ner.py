"""An entity extractor on a named-entity model, for those who install ``llama-index-condense-plus[ner]``."""

from __future__ import annotations

from typing import Any

from llama_index_condense_plus.errors import ConfigurationError
from llama_index_condense_plus.languages.text import clip, remembered
from llama_index_condense_plus.rewriting.entities import DefaultEntityExtractor
from llama_index_condense_plus.types import Entity

_KINDS = {"PERSON": "person", "PER": "person", "ORG": "organisation", "WORK_OF_ART": "title"}
_KINDS |= dict.fromkeys(("GPE", "LOC", "FAC"), "place") | dict.fromkeys(("PRODUCT", "EVENT", "LAW"), "name")
_MARKED = frozenset({"title", "quoted", "code"})


class SpacyEntityExtractor:
    """Finds names with a spaCy pipeline, and titles, codes and terms by patterns.

    Args:
        model: a loaded pipeline, or the name of an installed one.

    Raises:
        ConfigurationError: spaCy or the named pipeline is not installed.
    """

    def __init__(self, model: Any = "en_core_web_sm") -> None:
        self._model = _load(model) if isinstance(model, str) else model
        self._patterns = DefaultEntityExtractor()
        self._found = remembered(self._find)

    def extract(self, text: str) -> list[Entity]:
        """Return the entities of a text in order of position; none overlaps another."""
        return list(self._found(clip(text)))

    def _find(self, text: str) -> tuple[Entity, ...]:
        by_pattern = self._patterns.extract(text)
        named = [Entity(e.text, _KINDS[e.label_], e.start_char) for e in self._model(text).ents if e.label_ in _KINDS]
        taken, kept = bytearray(len(text)), []
        for entity in (*(e for e in by_pattern if e.kind in _MARKED), *named, *by_pattern):
            end = entity.start + len(entity.text)
            if entity.text.strip() and taken.find(1, entity.start, end) < 0:
                taken[entity.start : end] = b"\x01" * len(entity.text)
                kept.append(entity)
        return tuple(sorted(kept, key=lambda entity: entity.start))


def _load(name: str) -> Any:
    try:
        import spacy  # noqa: PLC0415 - optional

        return spacy.load(name)
    except (ImportError, OSError):
        remedy = f"pip install 'llama-index-condense-plus[ner]'; python -m spacy download {name}"
        raise ConfigurationError(
            f"SpacyEntityExtractor needs spaCy and its pipeline {name!r}. Install: {remedy}."
        ) from None
