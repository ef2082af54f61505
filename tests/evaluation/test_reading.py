from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

from llama_index_condense_plus.evaluation import reading
from llama_index_condense_plus.evaluation.reading import DataFileError, Fields, read_json, read_json_lines, read_lines


def written(folder: Path, content: bytes, name: str = "file.jsonl") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def refused(path: Path) -> DataFileError:
    with pytest.raises(DataFileError) as caught:
        list(read_json_lines(path))
    assert str(path) in str(caught.value)
    return caught.value


def test_read_json_lines_gives_numbers_and_passes_over_blank_lines(tmp_path: Path) -> None:
    path = written(tmp_path, b'{"a": 1}\n\n  {"a": 2}\r\n')
    assert list(read_json_lines(path)) == [(1, {"a": 1}), (3, {"a": 2})]


def test_read_json_lines_accepts_a_byte_order_mark(tmp_path: Path) -> None:
    assert list(read_json_lines(written(tmp_path, b'\xef\xbb\xbf{"a": "\xe4\xbd\xa0"}'))) == [(1, {"a": "你"})]


def test_read_json_lines_reads_gzip(tmp_path: Path) -> None:
    path = written(tmp_path, gzip.compress(b'{"a": 1}'), "file.jsonl.gz")
    assert list(read_json_lines(path)) == [(1, {"a": 1})]


@pytest.mark.parametrize(
    ("content", "line", "reason"),
    [
        (b'{"a": 1}\n{"a": ', 2, "not JSON at column"),
        (b'{"a": 1}\n[1]\n', 2, "an object is expected, not a list"),
        (b"17", 1, "not a number"),
        ('{"a": 1}\n{"a": "价格"}'.encode("gbk"), 2, "not UTF-8 at byte 8"),
        ('{"a": 1}'.encode("utf-16"), 1, "not UTF-8"),
        (b"", None, "empty"),
        (b"\n \n", None, "empty"),
    ],
)
def test_read_json_lines_names_line_and_reason(tmp_path: Path, content: bytes, line: int | None, reason: str) -> None:
    error = refused(written(tmp_path, content))
    assert error.line == line
    assert reason in error.reason


def test_read_json_lines_refuses_a_long_line_before_reading_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MAX_LINE_BYTES", 50)
    error = refused(written(tmp_path, b'{"a": 1}\n"' + b"x" * 1000))
    assert (error.line, "longer than 50 bytes" in error.reason) == (2, True)


def test_read_json_lines_names_a_missing_file_and_a_broken_archive(tmp_path: Path) -> None:
    assert "cannot be read" in refused(tmp_path / "missing.jsonl").reason
    assert "cannot be read" in refused(written(tmp_path, gzip.compress(b'{"a": 1}' * 99)[:-9], "cut.jsonl.gz")).reason


def test_read_lines_refuses_deeply_nested_json(tmp_path: Path) -> None:
    assert "nested too deeply" in refused(written(tmp_path, b'{"a":' * 100_000)).reason


def test_read_json_names_the_line_of_a_truncated_document(tmp_path: Path) -> None:
    with pytest.raises(DataFileError) as caught:
        read_json(written(tmp_path, b'[\n{"a": 1},\n{"a": '))
    assert caught.value.line == 3


@pytest.mark.parametrize("content", [b"", b"  \n"])
def test_read_json_refuses_an_empty_file(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(DataFileError, match="empty"):
        read_json(written(tmp_path, content))


def test_read_json_refuses_a_file_beyond_its_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MAX_FILE_BYTES", 10)
    with pytest.raises(DataFileError, match="longer than 10 bytes"):
        read_json(written(tmp_path, b"[1, 2, 3, 4, 5]"))


def test_read_lines_yields_text(tmp_path: Path) -> None:
    assert list(read_lines(written(tmp_path, "一\t二\n".encode()))) == [(1, "一\t二")]


@pytest.mark.parametrize(
    ("method", "value", "reason"),
    [
        ("text", 3, "a text is expected, not a number"),
        ("text", "  ", "blank"),
        ("text", None, "not nothing"),
        ("truth", "yes", "true or false is expected, not a text"),
        ("texts", ["a", 1], "a list of texts"),
        ("table", {"a": 1}, "an object of texts"),
        ("objects", {}, "a list of objects is expected, not an object"),
    ],
)
def test_fields_name_the_field_of_a_wrong_type(method: str, value: Any, reason: str) -> None:
    fields = Fields(Path("f.jsonl"), 4, {"x": value})
    with pytest.raises(DataFileError, match=f"f.jsonl, line 4: field x.*{reason}"):
        getattr(fields, method)("x")
