import json
from pathlib import Path
from typing import Any

import pytest

from llama_index_condense_plus import CondensePlusChatEngine, CondensePlusSettings, cli
from llama_index_condense_plus.evaluation.cases import load_dataset
from tests.evaluation.log_rows import feedback, shadow, turn, write
from tests.fakes import ScriptedLLM, query_engine


@pytest.fixture
def log(tmp_path: Path) -> str:
    rows = [
        turn("a", time=1_700_000_000, trust="doubted", reasons=["a new name"]),
        turn("b", time=1_750_000_000, refused_by="new_entity"),
        turn("c", time=1_760_000_000, status="skipped", reason="self_contained", rewritten="And its price?", cues=[]),
        shadow("c", time=1_760_000_001),
        feedback("a", good=True),
    ]
    return str(write(tmp_path / "log.jsonl", rows))


def printed_rows(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    assert cli.main(["log", *arguments]) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_log_summary_groups(log: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["log", "summary", log]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("turns: 3, conversations: 1, cached: 0\n2023-11-14")
    for words in ("1  self_contained", "1  new_entity", "2  GTE-3000", "1  missed"):
        assert words in shown
    assert cli.main(["log", "summary", log, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["guards"] == {"new_entity": 1}


def test_log_rows_reads_well(log: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["log", "rows", log]) == 0
    first, second, third = capsys.readouterr().out.splitlines()
    assert "And its price? → What is the price of the GTE-3000?" in first
    assert first.endswith("(pronoun, rewritten by rules, doubted: a new name, thumbs up)")
    assert "new_entity" in second
    assert "missed: What is the price of the GTE-3000?" in third


@pytest.mark.parametrize("options", [["rows"], ["summary"], ["rows", "--json"], ["summary", "--json"], ["cases"]])
def test_log_forges_no_row_and_reaches_no_terminal(
    options: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    forged = "price?\r\n2026-01-01  forged\x1b[2J\x07\x9b31m\u202e\u2028"
    row = {
        **turn("a", original=forged, rewritten=forged, cues=[{"name": "pronoun", "text": forged, "start": 0}]),
        "warnings": [forged],
    }
    file = write(tmp_path / "log.jsonl", [row])
    assert cli.main(["log", options[0], str(file), *options[1:]]) == 0
    shown = capsys.readouterr().out
    assert not [c for c in shown if c != "\n" and (ord(c) < 32 or 127 <= ord(c) < 160 or c in "\u202e\u2028")]
    assert "forged" in shown
    assert not any(line.startswith("2026-01-01  forged") for line in shown.splitlines())


@pytest.mark.parametrize(
    ("options", "ids"),
    [
        (["--guard", "new_entity"], ["b"]),
        (["--reason", "pronoun", "--status", "rewritten"], ["a", "b"]),
        (["--since", "2025-01-01", "--until", "2025-09-01T00:00:00+00:00"], ["b"]),
    ],
)
def test_log_rows_filters(log: str, options: list[str], ids: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert [row["turn_id"] for row in printed_rows(["rows", log, "--json", *options], capsys)] == ids


def test_log_samples_alike_each_time(log: str, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["rows", log, "--json", "--sample", "2"]
    first = printed_rows(arguments, capsys)
    assert len(first) == 2
    assert printed_rows(arguments, capsys) == first


def test_log_writes_cases_that_eval_reads(log: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "cases.jsonl"
    assert cli.main(["log", "cases", log, "--output", str(output)]) == 0
    assert [case.id for case in load_dataset(output).cases] == ["a", "b", "c"]
    assert "3 rows" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir() if path.suffix == ".part"] == []
    assert output.stat().st_mode & 0o777 == 0o600


def test_log_says_which_line_is_bad(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text(json.dumps(turn("a")) + '\n{"kind": "turn", \n')
    assert cli.main(["log", "summary", str(path), "--json"]) == 0
    captured = capsys.readouterr()
    assert f"passed over {path}, line 2: not JSON" in captured.err
    assert json.loads(captured.out)["turns"] == 1


def test_log_names_a_file_that_is_missing(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["log", "summary", "/nowhere.jsonl"]) == cli.USAGE_ERROR
    assert "/nowhere.jsonl" in capsys.readouterr().err


def test_log_reads_what_the_engine_writes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "log.jsonl"
    settings = CondensePlusSettings(log={"enabled": True, "path": path})
    llm = ScriptedLLM(rewrite="What is the warranty of the GTE-3000?")
    engine = CondensePlusChatEngine.from_defaults(query_engine(llm=llm), settings=settings)
    engine.chat("How much is the GTE-3000?")
    engine.chat("And its warranty?")
    engine._log.close()  # type: ignore[union-attr]
    (row,) = printed_rows(["training", str(path)], capsys)
    assert row["message"] == "And its warranty?"
    assert row["need"] is True
    assert row["history"] == [
        {"role": "user", "content": "How much is the GTE-3000?"},
        {"role": "assistant", "content": "the answer"},
    ]
