"""Reading settings: what is wrong is said by its name, with the nearest valid one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from llama_index_condense_plus import CondensePlusChatEngine, CondensePlusSettings, ConfigurationError
from llama_index_condense_plus.settings.reading import read_toml
from tests.fakes import PlainQueryEngine


@pytest.mark.parametrize(
    ("sections", "words"),
    [
        ({"retreival": {}}, "Unknown option retreival. Did you mean retrieval?"),
        ({"retrieval": {"dul": "never"}}, "Unknown option retrieval.dul. Did you mean dual?"),
        ({"guards": {"length": {"max_char": 9}}}, "Unknown option guards.length.max_char. Did you mean max_chars?"),
        ({"languages": {"zh": {"pronoun_add": []}}}, "Did you mean pronouns_add?"),
        ({"cache": {"zzzz": 1}}, "Unknown option cache.zzzz. Valid here: enabled, max_entries, ttl_s, namespace."),
        ({"retrieval": {"max_queries": 99}}, "Option retrieval.max_queries: "),
        ({"retrieval": {"dual": "sometimes"}}, "not 'sometimes'."),
        ({"rewrite": {"chain": "rules"}}, "Option rewrite.chain: Input should be a list, not 'rules'."),
        ({"rewrite": {"timezone": "Mars/X"}}, "Option rewrite.timezone: Input should be an IANA time zone"),
        ({"rewrite": {"timezone": "../etc"}}, "not '../etc'."),
    ],
)
def test_wrong_option_is_named_with_its_remedy(sections: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigurationError) as raised:
        CondensePlusSettings(**sections)
    assert words in str(raised.value)


def test_engine_refuses_settings_that_are_a_plain_mapping() -> None:
    with pytest.raises(ConfigurationError, match="must be CondensePlusSettings, not dict"):
        CondensePlusChatEngine.from_defaults(PlainQueryEngine(), settings={"trigger": {"mode": "never"}})  # type: ignore[arg-type]


@pytest.mark.parametrize(("code", "remedy"), [("cn", "mean zh?"), ("en-GB", "mean en?"), ("xx", "Known: de, en,")])
def test_words_for_a_language_that_no_message_can_be_in_are_refused(code: str, remedy: str) -> None:
    settings = CondensePlusSettings(languages={code: {"pronouns_add": ["x"]}})
    with pytest.raises(ConfigurationError) as raised:
        CondensePlusChatEngine.from_defaults(PlainQueryEngine(), settings=settings)
    assert f"languages.{code}" in str(raised.value)
    assert remedy in str(raised.value)


def test_every_wrong_option_has_its_line() -> None:
    with pytest.raises(ConfigurationError) as raised:
        CondensePlusSettings(cache={"ttl_s": -1.0}, log={"backups": -1})
    assert [line.split(":")[0] for line in str(raised.value).splitlines()] == [
        "Option cache.ttl_s",
        "Option log.backups",
    ]


def test_environment_variable_that_names_no_option_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONDENSE_PLUS_DATA", "/somewhere")
    CondensePlusSettings()
    monkeypatch.setenv("condense_plus_retreival__dual", "never")
    with pytest.raises(ConfigurationError, match=r"condense_plus_retreival__dual names no option\. Did you mean RETR"):
        CondensePlusSettings()


def test_read_toml_takes_the_top_level_or_a_table_of_its_own(tmp_path: Path) -> None:
    file = tmp_path / "settings.toml"
    file.write_bytes(b"\xef\xbb\xbfenabled = false")
    assert read_toml(file) == {"enabled": False}
    file.write_text("[tool]\na = 1\n[condense_plus]\nenabled = false", encoding="utf-8")
    assert read_toml(file) == {"enabled": False}


@pytest.mark.parametrize(("content", "words"), [(b"a = ", "is not valid TOML"), (b"\xff", "Cannot read")])
def test_read_toml_says_what_is_wrong_with_a_file(tmp_path: Path, content: bytes, words: str) -> None:
    file = tmp_path / "settings.toml"
    file.write_bytes(content)
    with pytest.raises(ConfigurationError, match=words):
        read_toml(file)
    with pytest.raises(ConfigurationError, match="Cannot read"):
        read_toml(tmp_path / "none.toml")
