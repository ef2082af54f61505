"""Where settings come from: which source wins, and whose names are ours."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from llama_index_condense_plus import CondensePlusChatEngine, CondensePlusSettings, ConfigurationError
from tests.fakes import PlainQueryEngine

SOURCES = ("argument", "environment", "dotenv", "named file", "from_toml", "process")


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("first", range(len(SOURCES)), ids=SOURCES)
def test_the_first_source_that_speaks_wins(first: int, monkeypatch: pytest.MonkeyPatch) -> None:
    speaking = {name: number for number, name in enumerate(SOURCES, 10) if number >= 10 + first}
    overrides: dict[str, Any] = {}
    if "argument" in speaking:
        overrides = {"cache": {"max_entries": 10}}
    if "environment" in speaking:
        monkeypatch.setenv("CONDENSE_PLUS_CACHE__MAX_ENTRIES", "11")
    if "dotenv" in speaking:
        Path(".env").write_text("CONDENSE_PLUS_CACHE__MAX_ENTRIES=12\n")
    if "named file" in speaking:
        Path("named.toml").write_text("[cache]\nmax_entries = 13\n")
        monkeypatch.setenv("CONDENSE_PLUS_CONFIG", "named.toml")
    lines = "[cache]\nmax_entries = 14\n" if "from_toml" in speaking else ""
    Path("given.toml").write_text(f"{lines}[fusion]\ntop_k = 3\n")
    CondensePlusSettings.set_default(cache={"max_entries": 15, "namespace": "acme"})
    settings = CondensePlusSettings.from_toml("given.toml", **overrides)
    assert settings.cache.max_entries == 10 + first
    assert (settings.cache.namespace, settings.fusion.top_k) == ("acme", 3)


def test_a_file_holds_for_the_settings_that_name_it_alone() -> None:
    Path("given.toml").write_text("enabled = false\n")
    assert not CondensePlusSettings.from_toml("given.toml").enabled
    assert CondensePlusSettings().enabled


def test_a_section_object_leaves_the_options_that_it_does_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONDENSE_PLUS_CACHE__TTL_S", "7")
    base = CondensePlusSettings(cache={"max_entries": 5})
    monkeypatch.setenv("CONDENSE_PLUS_CACHE__TTL_S", "8")
    settings = CondensePlusSettings(fusion=base.fusion, log=CondensePlusSettings().log)
    assert (settings.cache.ttl_s, settings.cache.max_entries) == (8.0, 1024)
    assert base.to_toml(exclude_unset=True) == "[cache]\nmax_entries = 5\nttl_s = 7.0\n"


@pytest.mark.parametrize(
    "lines",
    [
        b"OPENAI_API_KEY=sk-1\nenabled=nonsense\nRETRIEVAL=x\nLOG__PATH=/x\nexport A=1\nno variable at all\nB\n",
        "OTHER=r\xe9sum\xe9 \x00\n".encode("latin-1"),
        "OTHER=中文\n".encode("gb18030"),
        b"\xef\xbb\xbfA=1\nCONDENSE_PLUS_DATA=/x\nCONDENSE_PLUS_LLM_URL=http://localhost\n",
    ],
)
def test_lines_of_others_in_dotenv_stop_no_engine(lines: bytes) -> None:
    Path(".env").write_bytes(lines + b"CONDENSE_PLUS_FUSION__TOP_K=4\n")
    engine = CondensePlusChatEngine.from_defaults(PlainQueryEngine())
    assert engine.settings.fusion.top_k == 4
    assert engine.settings.enabled


def test_dotenv_names_the_file_and_an_empty_or_unreadable_one_is_none() -> None:
    Path("own.toml").write_text("[fusion]\ntop_k = 4\n")
    Path(".env").write_text("condense_plus_config=own.toml\n")
    assert CondensePlusSettings().fusion.top_k == 4
    Path(".env").unlink()
    Path(".env").mkdir()
    assert CondensePlusSettings().fusion.top_k is None


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("CONDENSE_PLUS_RETREIVAL__DUAL=never", "CONDENSE_PLUS_RETREIVAL__DUAL names no option. Did you mean RETR"),
        ("CONDENSE_PLUS_RETRIEVAL__DUL=never", "Unknown option retrieval.dul. Did you mean dual?"),
        ("CONDENSE_PLUS_FUSION__TOP_K=many", "Option fusion.top_k: "),
        ("CONDENSE_PLUS_REWRITE__CHAIN=rules,original", "lists and tables are JSON"),
    ],
)
@pytest.mark.parametrize("where", ["environment", "dotenv"])
def test_a_wrong_variable_of_ours_is_named_with_its_remedy(
    line: str, words: str, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if where == "environment":
        monkeypatch.setenv(*line.split("=", 1))
    else:
        Path(".env").write_text(f"{line}\n")
    with pytest.raises(ConfigurationError) as raised:
        CondensePlusSettings()
    assert words in str(raised.value)


@pytest.mark.parametrize(("value", "off"), [("off", True), (" FALSE ", True), ("0", True), ("on", False)])
def test_an_operator_switches_off_over_everything(value: str, off: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONDENSE_PLUS_ENABLED", value)
    assert CondensePlusSettings(enabled=True).enabled is not off


@pytest.mark.parametrize("name", ["prompt_file", "shots_file", "weights_file", "path"])
def test_home_is_expanded_and_what_can_be_no_file_is_refused(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    section = {"weights_file": "trigger", "path": "log"}.get(name, "rewrite")
    monkeypatch.setenv("HOME", str(tmp_path))
    settings = CondensePlusSettings(**{section: {name: "~/own.file"}})
    assert getattr(getattr(settings, section), name) == tmp_path / "own.file"
    for path, words in (
        (tmp_path, "a directory"),
        ("", "a directory"),
        ("a\0b", "without NUL"),
        ("~nobody-here/x", "home"),
    ):
        with pytest.raises(ConfigurationError, match=f"Option {section}.{name}: .*{words}"):
            CondensePlusSettings(**{section: {name: path}})


@pytest.mark.parametrize(
    "sections",
    [
        {"guards": {"profile": "strict", "doubt_threshold": 0.4, "instruction": {"enabled": False}}},
        {"guards": {"diff_ratio": {"metric": "symmetric", "max_symmetric": 0.3}}},
        {"retrieval": {"blend": "vector", "doubted_weights": {"original": 0.3}, "variant_weight": 0.2}},
        {"retrieval": {"synonyms": [{"when_any": ["报销"], "replace": [["流程", "SOP"], "费用"]}]}},
        {"retrieval": {"synonyms": [{"replace": [["流程", "SOP"]]}]}},
        {"answer": {"mode": "history"}, "rewrite": {"cascade": 0.9, "on_ambiguous": "ask"}},
        {"languages": {"zh": {"pronouns_add": ["咱"]}}, "aliases": {"小红": "红隼"}},
    ],
)
def test_settings_survive_a_file(sections: dict[str, Any]) -> None:
    settings = CondensePlusSettings(**sections)
    Path("own.toml").write_text(settings.to_toml(), encoding="utf-8")
    assert CondensePlusSettings.from_toml("own.toml") == settings
    Path("own.toml").write_text(settings.to_toml(exclude_unset=True), encoding="utf-8")
    assert CondensePlusSettings.from_toml("own.toml") == settings


@pytest.mark.parametrize("value", [None, "off"])
def test_cascade_off_is_none(value: str | None) -> None:
    assert CondensePlusSettings(rewrite={"cascade": value}).rewrite.cascade is None
