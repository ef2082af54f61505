from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import pytest

from llama_index_condense_plus.errors import CondensePlusError
from llama_index_condense_plus.evaluation.commands import add_eval_parser, run_eval


def evaluate(*words: str) -> int:
    parser = argparse.ArgumentParser()
    add_eval_parser(parser.add_subparsers())
    return run_eval(parser.parse_args(["eval", *words]))


def test_eval_without_arguments_measures_the_shipped_cases(capsys: pytest.CaptureFixture[str]) -> None:
    assert evaluate("--limit", "30") == 0
    out = capsys.readouterr().out
    assert "rewrite_accuracy" in out
    assert "as-typed" in out


def test_eval_writes_three_reports_and_resumes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--limit", "20", "--engine", "condense-plus", "--output", str(tmp_path / "out"))
    assert evaluate(*words) == 0
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names == {"report.json", "report.md", "report.html", "rows"}
    first = json.loads((tmp_path / "out/report.json").read_text("utf-8"))
    assert evaluate(*words, "--json") == 0
    second = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert second["engines"]["condense-plus"]["latencies_s"] == first["engines"]["condense-plus"]["latencies_s"]


def test_eval_exits_by_thresholds(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--limit", "20", "--engine", "as-typed", "--fail-under")
    assert evaluate(*words, "gate_skip=1") == 0
    assert evaluate(*words, "gate_recall=0.98") == 1
    assert "gate_recall is 0.000, at least 0.98 is wanted" in capsys.readouterr().err


def test_eval_checks_cases(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert evaluate("--check") == 0
    row: dict[str, Any] = {"id": "a", "lang": "en", "category": "x", "history": [], "question": "q"}
    (tmp_path / "cases.jsonl").write_text(json.dumps(row | {"needs_rewrite": True}), "utf-8")
    assert evaluate("--check", "--data", str(tmp_path / "cases.jsonl")) == 1
    assert "a: needs a rewrite but has no history" in capsys.readouterr().out


def test_eval_reads_a_public_data_set(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "corpus.txt").write_text("我想养猫\t养猫很好\t它贵吗\t猫贵吗\n", "utf-8")
    assert evaluate("--data", str(tmp_path / "corpus.txt"), "--json", "--engine", "condense-plus") == 0
    report = json.loads(capsys.readouterr().out)
    assert report["dataset"]["passages"] == 0
    assert "hit@1" not in report["engines"]["condense-plus"]["figures"]


def test_eval_takes_a_corpus_and_settings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "p.jsonl").write_text(json.dumps({"id": "hr-leave-sick", "text": "病假"}), "utf-8")
    (tmp_path / "s.toml").write_text('[trigger]\nmode = "never"\n', "utf-8")
    words = ("--passages", str(tmp_path / "p.jsonl"), "--settings", str(tmp_path / "s.toml"), "--limit", "10")
    assert evaluate(*words, "--json", "--engine", "condense-plus") == 0
    report = json.loads(capsys.readouterr().out)
    assert report["dataset"]["passages"] == 1
    assert report["engines"]["condense-plus"]["figures"]["gate_recall"]["mean"] == 0.0


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("--engine", "nothing"), "none of condense-plus"),
        (("--engine", "stock"), "needs a model"),
        (("--answers",), "needs a model"),
        (("--fail-under", "gate_recall"), "not FIGURE=VALUE"),
        (("--settings", "missing.toml"), "cannot read missing.toml"),
        (("--data", "missing.jsonl"), "missing.jsonl: cannot be read"),
        (("--limit", "0"), "--limit is at least 1"),
        (("--workers", "0"), "at least 1"),
        (("--api-base", "http://x"), "needs --model"),
    ],
)
def test_eval_names_a_wrong_option_and_writes_nothing(
    words: tuple[str, ...], reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(CondensePlusError, match=reason):
        evaluate(*words, "--output", str(tmp_path / "out"))
    assert not (tmp_path / "out").exists()
