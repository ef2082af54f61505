import json
from pathlib import Path
from typing import Any

import pytest

from llama_index_condense_plus.evaluation.log_summary import summarise
from llama_index_condense_plus.evaluation.logged import as_case, as_training_row, files_of, read_turns
from llama_index_condense_plus.evaluation.reading import DataFileError
from tests.evaluation.log_rows import feedback, shadow, turn, write


def read(tmp_path: Path, *rows: dict[str, Any]) -> list[Any]:
    return read_turns([write(tmp_path / "log.jsonl", rows)])


@pytest.mark.parametrize(
    ("rows", "need"),
    [
        ([turn("a")], True),
        ([turn("a", status="unchanged")], False),
        ([turn("a", status="skipped")], None),
        ([turn("a", status="failed")], None),
        ([turn("a", status="skipped"), shadow("a")], True),
        ([shadow("a", status="unchanged"), turn("a", status="skipped")], False),
        ([turn("a", status="skipped"), feedback("a", good=True)], False),
        ([turn("a"), feedback("a", good=True), feedback("a", good=False)], None),
        ([turn("a", status="unchanged", refused_by="diff_ratio.retention")], None),
    ],
)
def test_need_is_what_the_log_shows(tmp_path: Path, rows: list[dict[str, Any]], need: bool | None) -> None:
    (read_one,) = read(tmp_path, *rows)
    assert read_one.need is need


def test_read_turns_reads_rotated_files_oldest_first(tmp_path: Path) -> None:
    for name in ("log.jsonl.10", "log.jsonl.2", "log.jsonl.1", "log.jsonl"):
        write(tmp_path / name, [turn(name)])
    (tmp_path / "log.jsonl.lock").touch()
    found = [one.row["turn_id"] for one in read_turns([tmp_path / "log.jsonl"])]
    assert found == ["log.jsonl.10", "log.jsonl.2", "log.jsonl.1", "log.jsonl"]


def test_files_of_a_log_that_was_just_rotated_are_the_rotated_ones(tmp_path: Path) -> None:
    write(tmp_path / "log.jsonl.1", [turn("a")])
    assert files_of(tmp_path / "log.jsonl") == [tmp_path / "log.jsonl.1"]


def test_read_turns_tells_of_bad_lines_and_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    good = json.dumps(turn("a")).encode()
    lines = [b'{"kind": "tur', b"\xff\xfe", b'{"kind": "other", "time": 1}', b'{"kind": "turn"}', b"[1]", good]
    path.write_bytes(b"\n".join(lines) + b"\n")
    errors: list[DataFileError] = []
    assert [t.row["turn_id"] for t in read_turns([path], errors.append)] == ["a"]
    assert [error.line for error in errors] == [1, 2, 3, 4, 5]
    assert all(str(path) in str(error) and error.reason for error in errors)
    with pytest.raises(DataFileError, match="line 1: not JSON"):
        read_turns([path])


@pytest.mark.parametrize("change", [{"content": "hashed"}, {"window": []}, {"status": "rejected"}])
def test_a_turn_without_words_history_or_label_is_not_exported(tmp_path: Path, change: dict[str, Any]) -> None:
    (read_one,) = read(tmp_path, turn("a") | change)
    assert as_case(read_one) is None
    assert as_training_row(read_one) is None


def test_summary_groups_by_reason_guard_reference_and_entity(tmp_path: Path) -> None:
    summary = summarise(
        read(
            tmp_path,
            turn("a"),
            turn("b", refused_by="new_entity"),
            turn("c", status="skipped", reason="self_contained", rewritten="And its price?", cues=[]),
            shadow("c"),
            feedback("a", good=True),
        )
    )
    assert summary["turns"] == 3
    assert summary["reason"] == {"pronoun": 2, "self_contained": 1}
    assert summary["guards"] == {"new_entity": 1}
    assert summary["references"] == {"its": 2}
    assert summary["entities"] == {"GTE-3000": 2}
    assert summary["shadow"] == {"turns": 1, "missed": 1}
    assert summary["feedback"] == {"good": 1, "bad": 0}
