"""Wrong settings are named, with the nearest valid name or the remedy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from llama_index_condense_plus import CondensePlusChatEngine, CondensePlusSettings, ConfigurationError
from tests.fakes import PlainQueryEngine


@pytest.mark.parametrize(
    ("sections", "words"),
    [
        ({"retreival": {}}, "Unknown option retreival. Did you mean retrieval?"),
        ({"retrieval": {"dul": "never"}}, "Unknown option retrieval.dul. Did you mean dual?"),
        ({"guards": {"diff_ratio": {"metrics": ""}}}, "Unknown option guards.diff_ratio.metrics. Did you mean metric?"),
        ({"retrieval": {"doubted_weights": {"orignal": 1}}}, "Did you mean original?"),
        ({"retrieval": {"synonyms": [{"replaces": ["x"]}]}}, "Did you mean replace?"),
        ({"retrieval": {"synonyms": [{"replace": ["x"]}]}}, "synonyms.0: Input should have when_any"),
        ({"languages": {"zh": {"pronoun_add": []}}}, "Did you mean pronouns_add?"),
        ({"cache": {"zzzz": 1}}, "Unknown option cache.zzzz. Valid here: enabled, max_entries, ttl_s, namespace."),
        ({"cache": {"a\nb": 1}}, "Unknown option cache.'a\\nb'."),
        ({"retrieval": {"max_queries": 99}}, "Option retrieval.max_queries: "),
        ({"retrieval": {"dual": "sometimes"}}, "not 'sometimes'."),
        ({"rewrite": {"cascade": 2}}, "Option rewrite.cascade: "),
        ({"rewrite": {"chain": "rules"}}, "Option rewrite.chain: Input should be a list, not 'rules'."),
        ({"rewrite": {"timezone": "Mars/X"}}, "Option rewrite.timezone: Input should be an IANA time zone"),
        ({"rewrite": {"timezone": "../etc"}}, "not '../etc'."),
        ({"cache": {"ttl_s": -1.0}, "log": {"backups": -1}}, "not -1.0.\nOption log.backups: "),
    ],
)
def test_wrong_option_is_named_with_its_remedy(sections: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigurationError) as raised:
        CondensePlusSettings(**sections)
    assert words in str(raised.value)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"trigger": {"mode": "never"}}, "must be CondensePlusSettings, not dict"),
        (CondensePlusSettings(languages={"cn": {}}), "languages.cn: no such language. Did you mean zh?"),
        (CondensePlusSettings(languages={"en-GB": {}}), "mean en?"),
        (CondensePlusSettings(languages={"xx": {}}), "Known: de, en,"),
    ],
)
def test_engine_refuses_what_the_settings_alone_cannot_know(settings: Any, words: str) -> None:
    with pytest.raises(ConfigurationError) as raised:
        CondensePlusChatEngine.from_defaults(PlainQueryEngine(), settings=settings)
    assert words in str(raised.value)


@pytest.mark.parametrize("table", ["", "[tool]\na = 1\n[condense_plus]\n"])
def test_file_holds_the_options_at_its_top_level_or_in_a_table_of_their_own(tmp_path: Path, table: str) -> None:
    file = tmp_path / "settings.toml"
    file.write_bytes(b"\xef\xbb\xbf" + f"{table}enabled = false".encode())
    assert not CondensePlusSettings.from_toml(file).enabled


@pytest.mark.parametrize(
    ("content", "words"), [(b"a = ", "is not valid TOML"), (b"\xff", "Cannot read"), (None, "Cannot read")]
)
def test_a_file_that_cannot_be_read_says_what_is_wrong_with_it(
    tmp_path: Path, content: bytes | None, words: str
) -> None:
    file = tmp_path / "settings.toml"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(ConfigurationError, match=words):
        CondensePlusSettings.from_toml(file)
