import importlib
import json
from pathlib import Path

import pytest

from llama_index_condense_plus import CondensePlusSettings, cli
from llama_index_condense_plus.evaluation.train import train_trigger
from llama_index_condense_plus.rewriting.learned import LinearModel, read_model_file
from tests.evaluation.log_rows import turn, write

TALK = [{"role": "user", "content": "What is the GTE-3000?"}, {"role": "assistant", "content": "A printer."}]
ROWS = [
    {"message": "And its price?", "history": TALK, "need": True},
    {"message": "How high is Mont Blanc in metres?", "history": TALK, "need": False},
]


@pytest.fixture
def trained(monkeypatch: pytest.MonkeyPatch) -> list[list[object]]:
    """Replace the training, which takes seconds, by a note of its rows."""
    seen: list[list[object]] = []

    def note(rows: list[object], output: Path) -> LinearModel:
        seen.append(list(rows))
        model = LinearModel({"en": {"x": 1.0, "": 0.5}})
        model.dump(output)
        return model

    monkeypatch.setattr(importlib.import_module("llama_index_condense_plus.cli.train"), "train_trigger", note)
    monkeypatch.setattr(
        importlib.import_module("llama_index_condense_plus.cli.train"), "require", lambda *_, **__: None
    )
    return seen


def test_train_says_how_the_weights_are_used(
    trained: list[object], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows, output = write(tmp_path / "rows.jsonl", ROWS), tmp_path / "gate.json"
    assert cli.main(["train", str(rows), "--output", str(output)]) == 0
    shown = capsys.readouterr().out
    (tmp_path / "settings.toml").write_text(shown[shown.index("[trigger]") :])
    settings = CondensePlusSettings.from_toml(tmp_path / "settings.toml")
    assert settings.trigger.weights_file == output
    assert read_model_file(output).sum("en", ()) == 0.5
    assert trained == [ROWS]


def test_train_reads_a_rewrite_log(
    trained: list[list[dict[str, object]]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = write(tmp_path / "log.jsonl", [turn("a"), turn("b", status="skipped"), turn("c", status="unchanged")])
    assert cli.main(["train", str(log), "--output", str(tmp_path / "gate.json"), "--json"]) == 0
    assert [row["need"] for row in trained[0]] == [True, False]
    assert json.loads(capsys.readouterr().out)["rows"] == 2


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"history": [], "need": true}', "message"),
        ('{"message": "x", "history": []}', "need"),
        ('{"message": "x", "history": [{"role": "user"}], "need": true}', "history"),
        ("{", "not JSON"),
    ],
)
def test_train_names_the_line_that_is_wrong(
    trained: list[object], line: str, reason: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = tmp_path / "rows.jsonl"
    rows.write_text(json.dumps(ROWS[0]) + "\n" + line + "\n")
    assert cli.main(["train", str(rows), "--output", str(tmp_path / "gate.json")]) == cli.USAGE_ERROR
    error = capsys.readouterr().err
    assert f"{rows}, line 2:" in error
    assert reason in error
    assert not (tmp_path / "gate.json").exists()


def test_train_says_which_extra_is_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    requirements = importlib.import_module("llama_index_condense_plus.cli.options")
    monkeypatch.setattr(requirements.importlib.util, "find_spec", lambda _: None)
    rows = write(tmp_path / "rows.jsonl", ROWS)
    assert cli.main(["train", str(rows), "--output", str(tmp_path / "gate.json")]) == cli.USAGE_ERROR
    assert "[train]" in capsys.readouterr().err


def test_train_refuses_rows_of_one_label(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("sklearn")
    rows = write(tmp_path / "rows.jsonl", ROWS[:1])
    assert cli.main(["train", str(rows), "--output", str(tmp_path / "gate.json")]) == cli.USAGE_ERROR
    assert "label" in capsys.readouterr().err


def test_a_trained_gate_decides_as_its_rows_do(tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    model = train_trigger(ROWS, tmp_path / "gate.json")
    assert len(model) > 100
    assert read_model_file(tmp_path / "gate.json").weights
