from __future__ import annotations

import json
from pathlib import Path

import pytest

from llama_index_condense_plus import CondensePlusSettings, cli
from llama_index_condense_plus.gate.trigger import decide_rewrite
from llama_index_condense_plus.linear import LinearModel
from tests.evaluation.log_rows import turn, write

TALK = [{"role": "user", "content": "What is the GTE-3000?"}, {"role": "assistant", "content": "A printer."}]
ROWS = [
    {"message": "And its price?", "history": TALK, "need": True},
    {"message": "How high is Mont Blanc in metres?", "history": TALK, "need": False},
]


def train(tmp_path: Path, *rows: object, words: tuple[str, ...] = ()) -> int:
    return cli.main(["train", str(write(tmp_path / "rows.jsonl", rows)), "--out", str(tmp_path / "w.toml"), *words])  # type: ignore[arg-type]


def test_train_says_how_the_weights_are_used(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert train(tmp_path, *ROWS) == 0
    shown = capsys.readouterr().out
    (tmp_path / "settings.toml").write_text(shown[shown.index("[trigger]") :])
    settings = CondensePlusSettings.from_toml(tmp_path / "settings.toml")
    assert settings.trigger.weights_file == tmp_path / "w.toml"
    assert LinearModel.load(tmp_path / "w.toml").trained_on[-1] == "2 turns of your own"
    assert decide_rewrite("And its price?", [("user", "What is the GTE-3000?")], settings).rewrite


def test_many_turns_of_one_kind_move_the_gate(tmp_path: Path) -> None:
    question = "Where is the nearest car park in Turin?"
    always = [{"message": question, "history": TALK, "need": True}] * 300
    assert train(tmp_path, *always, ROWS[1]) == 0
    settings = CondensePlusSettings(trigger={"mode": "learned", "weights_file": tmp_path / "w.toml"})
    history = [(message["role"], message["content"]) for message in TALK]
    before = decide_rewrite(question, history, CondensePlusSettings(trigger={"mode": "learned"})).score
    after = decide_rewrite(question, history, settings).score
    assert before is not None
    assert after is not None
    assert after > max(before, 0.5)


def test_train_reads_a_rewrite_log(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [turn("a"), turn("b", status="skipped"), turn("c", status="unchanged")]
    assert train(tmp_path, *rows, words=("--json",)) == 0
    result = json.loads(capsys.readouterr().out)
    assert (result["rows"], result["need"]) == (2, 1)


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
    line: str, reason: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = tmp_path / "rows.jsonl"
    rows.write_text(json.dumps(ROWS[0]) + "\n" + line + "\n")
    assert cli.main(["train", str(rows), "--out", str(tmp_path / "w.toml")]) == cli.USAGE_ERROR
    error = capsys.readouterr().err
    assert f"{rows}, line 2:" in error
    assert reason in error
    assert not (tmp_path / "w.toml").exists()


def test_train_refuses_rows_of_one_label(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert train(tmp_path, ROWS[0]) == cli.USAGE_ERROR
    assert "need none" in capsys.readouterr().err
