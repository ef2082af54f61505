from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from llama_index_condense_plus.cli import main
from tests.evaluation.test_cases import ROW, written
from tests.evaluation.test_chats import SAMPLE


@pytest.fixture(autouse=True)
def _no_model(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.chdir(tmp_path)


def test_eval_without_arguments_measures_the_shipped_cases(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["eval", "--limit", "30"]) == 0
    out = capsys.readouterr().out
    assert "Right searches ↑" in out
    assert "Model calls" not in out
    assert max(map(len, out.splitlines())) <= 80
    assert not list(Path().iterdir())


def test_one_command_makes_a_report_of_a_chat_log(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["eval", "--cases", str(SAMPLE)]) == 0
    assert "condense-plus-report/report.html" in capsys.readouterr().err
    page = Path("condense-plus-report/report.html").read_text(encoding="utf-8")
    assert "Cases to look at first" in page
    assert page.index("engines differ") < page.index("<h2>All figures")
    assert "Right searches" not in page  # the log has no labels
    assert not re.findall(r"(?:src|href)=", page)


def test_reports_are_escaped(tmp_path: Path) -> None:
    hostile = "<script>alert(1)</script>\u202e\x1b[2J 呢？"
    cases = written(tmp_path, ROW | {"question": hostile}, ROW | {"id": "b"})
    words = ["eval", "--cases", str(cases), "--engine", "plus", "--output", "out"]
    assert main(words) == 0
    page = Path("out/report.html").read_text(encoding="utf-8")
    assert "<script" not in page
    assert not {"\u202e", "\x1b"} & set(page)


def test_engines_are_compared_on_the_same_cases(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["eval", "--limit", "20", "--engine", "plus", "--engine", "as-typed", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["engines"] == ["plus", "as-typed"]
    hit = next(figure for figure in report["figures"] if figure["key"] == "hit@3")
    assert hit["name"] == "Right passage in the top 3"
    assert hit["differences"][0]["n"] == hit["values"][0]["n"]
    outcomes = [case["outcome"] for case in report["cases"]]
    assert outcomes == sorted(outcomes, key=["failed", "engines differ", "all wrong", "same"].index)


def test_thresholds_decide_the_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["eval", "--limit", "20", "--engine", "as-typed", "--fail-under"]
    assert main([*words, "failed_rate=0"]) == 0
    assert main([*words, "accuracy_where_needed=0.9"]) == 1
    assert "at least 0.9 is wanted" in capsys.readouterr().err
    assert main([*words, "nothing=0.9"]) == 1
    assert "nothing was not measured" in capsys.readouterr().err


def test_a_corpus_of_one_s_own_and_settings_are_used(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    written(tmp_path, {"id": "hr-leave-sick", "text": "病假"}, name="p.jsonl")
    Path("s.toml").write_text('[trigger]\nmode = "never"\n', "utf-8")
    words = ["eval", "--passages", "p.jsonl", "--settings", "s.toml", "--limit", "10", "--engine", "plus", "--json"]
    assert main(words) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["dataset"]["passages"] == 1
    assert {row["why"] for case in report["cases"] for row in case["engines"]} <= {"disabled", "no_history"}


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--engine", "nothing"], "none of plus"),
        (["--engine", "stock"], "needs a model"),
        (["--fail-under", "gate_recall"], "--fail-under"),
        (["--settings", "missing.toml"], "missing.toml"),
        (["--cases", "missing.jsonl"], "missing.jsonl: cannot be read"),
        (["--limit", "0"], "--limit"),
        (["--api-base", "http://x"], "needs --model"),
    ],
)
def test_a_wrong_option_is_named_and_nothing_is_written(
    words: list[str], reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        code = main(["eval", *words, "--output", "out"])
    except SystemExit as stop:  # argparse's own refusals
        code = int(stop.code or 0)
    assert code == 2
    assert reason in capsys.readouterr().err
    assert not Path("out").exists()


def test_figures_are_shown_where_the_page_cannot_be_made(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    assert main(["eval", "--cases", str(SAMPLE)]) == 2
    shown = capsys.readouterr()
    assert "Right passage first" in shown.out
    assert "pip install 'llama-index-condense-plus[eval]'" in shown.err
