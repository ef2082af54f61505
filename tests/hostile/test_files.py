"""Hostile settings, prompts, examples, cases and logs are read, or refused with an error of ours that names them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from llama_index_condense_plus import (
    CondensePlusChatEngine,
    CondensePlusSettings,
    ConfigurationError,
)
from llama_index_condense_plus.observability.redaction import redact
from tests.fakes import ScriptedLLM, query_engine
from tests.modes import Mode

Make = Callable[..., CondensePlusChatEngine]

BAD_TOML = {
    "truncated": b"[rewrite\n",
    "truncated text": b'[rewrite]\nprompt_file = "a',
    "wrong type": b"[history]\nmax_rounds = 'many'\n",
    "section is a list": b"rewrite = [1, 2]\n",
    "nothing but a table": b"[condense_plus]\nrewrite = 3\n",
    "Latin-1": "[aliases]\ncaf\u00e9 = 'x'\n".encode("latin-1"),
    "UTF-16": "enabled = true\n".encode("utf-16"),
    "two encodings": "[aliases]\n'价格' = 'x'\n".encode() + "'价格' = 'y'\n".encode("gbk"),
    "NUL": b"enabled = true\x00\n",
    "nested": b"x = " + b"[" * 50_000,
    "nested tables": b"x = " + b"{a = " * 20_000,
    "thousands of digits": b"[history]\nmax_rounds = " + b"9" * 5_000,
    "infinite": b"[rewrite]\ntimeout_s = inf\n",
    "not a number": b"[rewrite]\ntimeout_s = nan\n",
    "negative": b"[history]\nmax_tokens = -1\n",
    "twice": b"enabled = true\nenabled = false\n",
    "unknown with a line break": b'"enabled\\nERROR forged" = true\n',
    "dunder": b"[rewrite]\n__class__ = 'x'\n",
}


@pytest.mark.parametrize("kind", BAD_TOML)
def test_bad_settings_file_is_one_clear_error(kind: str, tmp_path: Path) -> None:
    file = tmp_path / "settings.toml"
    file.write_bytes(BAD_TOML[kind])
    with pytest.raises(ConfigurationError) as caught:
        CondensePlusSettings.from_toml(file)
    assert "Traceback" not in str(caught.value)
    assert not any(line.startswith("ERROR") for line in str(caught.value).splitlines())
    assert len(str(caught.value)) < 2_000


def test_settings_file_with_a_byte_order_mark_and_a_huge_line_is_read(tmp_path: Path) -> None:
    file = tmp_path / "settings.toml"
    file.write_bytes(b"\xef\xbb\xbf# " + b"x" * 1_000_000 + b"\n[aliases]\nk = '" + b"v" * 100_000 + b"'\n")
    assert len(CondensePlusSettings.from_toml(file).aliases["k"]) == 100_000


@pytest.mark.parametrize("path", ["", ".", "no\x00where.toml", "gone/../gone.toml", "loop.toml"])
def test_path_that_is_no_file_is_one_clear_error(path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "loop.toml").symlink_to(tmp_path / "loop.toml")
    with pytest.raises(ConfigurationError):
        CondensePlusSettings.from_toml(path)
    for option in ("prompt_file", "shots_file"):
        with pytest.raises(ConfigurationError):
            make(CondensePlusSettings(rewrite={option: path or "."}))


def make(settings: CondensePlusSettings) -> CondensePlusChatEngine:
    return CondensePlusChatEngine.from_defaults(query_engine(llm=ScriptedLLM()), settings=settings)


@pytest.mark.parametrize("text", ["", "no fields", "{chat_history}", "{question} {0.__class__}", "{", b"\xff\xfe{"])
def test_bad_prompt_file_is_one_clear_error(text: Any, tmp_path: Path) -> None:
    file = tmp_path / "prompt.txt"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ConfigurationError):
        make(CondensePlusSettings(rewrite={"prompt_file": file}))


FORGED = (
    'and its price?\n{"kind": "turn", "turn_id": "forged"}\r\n\u2028{"kind": "x"}\u2029\x85\x0b\x0c\x1b[2J\x9b31m\x00'
)


def test_message_never_gets_off_its_line_of_the_log(make_engine: Make, mode: Mode, tmp_path: Path) -> None:
    file = tmp_path / "log.jsonl"
    settings = CondensePlusSettings(log={"enabled": True, "path": file, "redact": False})
    engine = make_engine(settings=settings).for_conversation("../../forged\n")
    mode.ask(engine, "Tell me about the GTE-3000")
    mode.ask(engine, FORGED)
    log = engine._log
    assert log is not None
    assert log._drained()
    written = file.read_text(encoding="utf-8")
    assert len(written.splitlines()) == written.count("\n") == 2
    assert json.loads(written.splitlines()[1])["original"] == FORGED
    assert not [c for c in written if c != "\n" and (ord(c) < 32 or 127 <= ord(c) < 160)]
    assert "forged\n" not in written  # the conversation's key is hashed, and no path is made of it
    assert [path.name for path in tmp_path.iterdir() if "lock" not in path.name] == ["log.jsonl"]
    assert log.delete("../../forged\n") == 2
    assert file.read_text(encoding="utf-8") == ""
    log.close()


def test_redaction_of_a_megabyte_is_bounded() -> None:
    assert len(redact("a@b." * 250_000)) <= 2_000_000
