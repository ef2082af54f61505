from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from llama_index_condense_plus.evaluation import reading
from llama_index_condense_plus.evaluation.reading import DataFileError, read_json, read_json_lines


def written(folder: Path, content: bytes, name: str = "file.jsonl") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


@pytest.mark.parametrize(
    ("content", "rows"),
    [
        (b'{"a": 1}\n\n  {"a": 2}\r\n', [(1, {"a": 1}), (3, {"a": 2})]),
        (b'\xef\xbb\xbf{"a": "\xe4\xbd\xa0"}', [(1, {"a": "你"})]),
    ],
)
@pytest.mark.parametrize("name", ["file.jsonl", "file.jsonl.gz"])
def test_lines_are_read_with_their_numbers(tmp_path: Path, content: bytes, rows: object, name: str) -> None:
    path = written(tmp_path, gzip.compress(content) if name.endswith("gz") else content, name)
    assert list(read_json_lines(path)) == rows


@pytest.mark.parametrize(
    ("content", "line", "reason"),
    [
        (b'{"a": 1}\n{"a": ', 2, "not JSON"),
        (b'{"a": 1}\n[1]\n', 2, "a JSON object is expected"),
        (b"17", 1, "a JSON object is expected"),
        ('{"a": 1}\n{"a": "价格"}'.encode("gbk"), 2, "not UTF-8 at byte 8"),
        ('{"a": 1}'.encode("utf-16"), 1, "not UTF-8"),
        (b'{"a": 1}\n"' + b"x" * 900_000, 2, "longer than 700000 bytes"),
        (b'{"a":' * 100_000, 1, "nested too deeply"),
        (b"", None, "empty"),
        (b"\n \n", None, "empty"),
    ],
)
def test_what_is_wrong_has_line_and_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes, line: int | None, reason: str
) -> None:
    monkeypatch.setattr(reading, "MAX_LINE_BYTES", 700_000)
    path = written(tmp_path, content)
    with pytest.raises(DataFileError, match=reason) as caught:
        list(read_json_lines(path))
    assert (caught.value.path, caught.value.line) == (path, line)


def test_a_missing_file_and_a_broken_archive_cannot_be_read(tmp_path: Path) -> None:
    cut = written(tmp_path, gzip.compress(b'{"a": 1}' * 99)[:-9], "cut.jsonl.gz")
    for path in (tmp_path / "missing.jsonl", cut):
        with pytest.raises(DataFileError, match="cannot be read"):
            list(read_json_lines(path))


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b'[\n{"a": 1},\n{"a": ', "line 3"),
        (b"[\n1,\n\xff]", "line 3: not UTF-8"),
        (b"  \n", "empty"),
    ],
)
def test_a_document_is_read_or_its_fault_named(tmp_path: Path, content: bytes, reason: str) -> None:
    assert read_json(written(tmp_path, b"\xef\xbb\xbf[1]")) == [1]
    with pytest.raises(DataFileError, match=reason):
        read_json(written(tmp_path, content))
