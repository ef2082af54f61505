"""Strict reading of data files: whatever is wrong is named with file, line and reason."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, cast

from llama_index_condense_plus.errors import CondensePlusError

MAX_LINE_BYTES = 4_000_000
"""A longer line is refused before it is read whole; the longest conversations of the public sets have 0.2 MB."""
MAX_FILE_BYTES = 1_000_000_000
"""A JSON document, which has to be read whole, is refused beyond this size."""


class DataFileError(CondensePlusError, ValueError):
    """A data file is wrong; the message gives file, line and reason."""

    def __init__(self, path: Path, line: int | None, reason: str) -> None:
        self.path, self.line, self.reason = path, line, reason
        super().__init__(f"{path}{'' if line is None else f', line {line}'}: {reason}")


OnError = Callable[["DataFileError"], None]
"""Is told of a bad line, which is then passed over."""


def read_lines(path: Path, on_error: OnError | None = None) -> Iterator[tuple[int, str]]:
    """Yield number and text of each line that is not blank; a byte order mark is passed over.

    Args:
        path: a UTF-8 file, gzip-compressed if its name ends in ``.gz``.
        on_error: is told of bad lines; none: the first one is raised.

    Raises:
        DataFileError: the file cannot be read, a line is not UTF-8, or longer than ``MAX_LINE_BYTES``.
    """
    try:
        with _open(path) as handle:
            number = 0
            while raw := handle.readline(MAX_LINE_BYTES + 1):
                number += 1
                try:
                    if len(raw) > MAX_LINE_BYTES:
                        raise DataFileError(path, number, f"the line is longer than {MAX_LINE_BYTES} bytes")
                    text = _decoded(path, number, raw).strip()
                except DataFileError as error:
                    _refuse(error, on_error)
                    while raw and not raw.endswith(b"\n"):
                        raw = handle.readline(MAX_LINE_BYTES)
                    continue
                if text:
                    yield number, text
    except (OSError, EOFError, zlib.error) as error:
        raise DataFileError(path, None, f"cannot be read: {error}") from None


def read_json_lines(path: Path, on_error: OnError | None = None) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield line number and object of each line of a JSON Lines file.

    Args:
        path: the file.
        on_error: is told of bad lines; none: the first one is raised.

    Raises:
        DataFileError: a line is no JSON object, or the file holds none.
    """
    found = False
    for number, text in read_lines(path, on_error):
        found = True
        try:
            value = _parsed(path, number, text)
            if not isinstance(value, dict):
                raise DataFileError(path, number, f"an object is expected, not {_name(value)}")
        except DataFileError as error:
            _refuse(error, on_error)
            continue
        yield number, value
    if not found:
        raise DataFileError(path, None, "the file is empty")


def read_json(path: Path) -> Any:
    """Return the one JSON document that a file holds.

    Raises:
        DataFileError: the file is missing, empty, too long, not UTF-8 or not JSON.
    """
    try:
        with _open(path) as handle:
            raw = handle.read(MAX_FILE_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise DataFileError(path, None, f"cannot be read: {error}") from None
    if len(raw) > MAX_FILE_BYTES:
        raise DataFileError(path, None, f"the file is longer than {MAX_FILE_BYTES} bytes")
    lines = raw.splitlines()
    for number, line in enumerate(lines, 1):
        _decoded(path, number, line)
    text = raw.decode("utf-8-sig")
    if not text.strip():
        raise DataFileError(path, None, "the file is empty")
    return _parsed(path, None, text)


class Fields:
    """Typed access to an object read from a file; each refusal names the field."""

    def __init__(self, path: Path, line: int | None, values: Mapping[str, Any], place: str = "") -> None:
        self._path, self._line, self._values, self._place = path, line, values, place

    def error(self, reason: str) -> DataFileError:
        """Return an error at this place."""
        return DataFileError(self._path, self._line, reason)

    def text(self, name: str, default: str | None = None) -> str:
        """Return a text that is not blank."""
        value = self._values.get(name, default)
        if not isinstance(value, str):
            raise self.error(f"field {self._place}{name}: a text is expected, not {_name(value)}")
        if not value.strip() and value != default:
            raise self.error(f"field {self._place}{name}: the text is blank")
        return value

    def truth(self, name: str) -> bool | None:
        """Return true or false, None if the field is missing."""
        value = self._values.get(name)
        if name not in self._values:
            return None
        if not isinstance(value, bool):
            raise self.error(f"field {self._place}{name}: true or false is expected, not {_name(value)}")
        return value

    def texts(self, name: str) -> tuple[str, ...]:
        """Return a list of texts, empty if the field is missing."""
        value = self._values.get(name, [])
        if not isinstance(value, list) or not all(isinstance(item, str) and item.strip() for item in value):
            raise self.error(f"field {self._place}{name}: a list of texts is expected")
        return tuple(value)

    def table(self, name: str) -> dict[str, str]:
        """Return a text → text object, empty if the field is missing."""
        value = self._values.get(name, {})
        if not isinstance(value, dict) or not all(isinstance(item, str) for item in value.values()):
            raise self.error(f"field {self._place}{name}: an object of texts is expected")
        return value

    def objects(self, name: str) -> list[Fields]:
        """Return a list of objects, empty if the field is missing."""
        value = self._values.get(name, [])
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            raise self.error(f"field {self._place}{name}: a list of objects is expected, not {_name(value)}")
        return [Fields(self._path, self._line, item, f"{self._place}{name}[{i}].") for i, item in enumerate(value)]

    def refuse_unknown(self, known: Sequence[str]) -> None:
        """Raise if there is a field of another name."""
        if unknown := sorted(set(self._values) - set(known)):
            raise self.error(f"unknown field {self._place}{unknown[0]}; known are {', '.join(known)}")


def _refuse(error: DataFileError, on_error: OnError | None) -> None:
    if on_error is None:
        raise error
    on_error(error)


def _open(path: Path) -> BinaryIO:
    return cast(BinaryIO, gzip.open(path, "rb")) if path.suffix == ".gz" else path.open("rb")


def _decoded(path: Path, number: int, raw: bytes) -> str:
    try:
        return raw.decode("utf-8-sig" if number == 1 else "utf-8")
    except UnicodeDecodeError as error:
        reason = f"not UTF-8 at byte {error.start + 1} (0x{raw[error.start]:02x}); save the file as UTF-8"
        raise DataFileError(path, number, reason) from None


def _parsed(path: Path, number: int | None, text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        line = number if number is not None else error.lineno
        raise DataFileError(path, line, f"not JSON at column {error.colno}: {error.msg}") from None
    except RecursionError:
        raise DataFileError(path, number, "not JSON: nested too deeply") from None
    except ValueError as error:  # a number of thousands of digits
        raise DataFileError(path, number, f"not JSON: {error}") from None


def _name(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "a text", bool: "true or false", type(None): "nothing"}
    return names.get(type(value), "a number")
