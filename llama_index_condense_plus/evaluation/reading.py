"""Strict reading of data files: whatever is wrong is named with file, line and reason."""

from __future__ import annotations

import argparse
import gzip
import json
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, BinaryIO, TypeVar

from pydantic import ConfigDict, StringConstraints, TypeAdapter, ValidationError

from llama_index_condense_plus.errors import CondensePlusError
from llama_index_condense_plus.observability.clean import printable

MAX_LINE_BYTES = 4_000_000
"""A longer line is refused before it is read whole; the longest conversations of the public sets have 0.2 MB."""
STRICT: ConfigDict = ConfigDict(extra="forbid")
"""Configuration of what is read from files: unknown fields are refused."""
Text = Annotated[str, StringConstraints(pattern=r"\S")]
"""A text that is not blank."""
T = TypeVar("T")


class DataFileError(CondensePlusError, ValueError):
    """A data file is wrong; the message gives file, line and reason."""

    def __init__(self, path: Path, line: int | None, reason: str) -> None:
        self.path: Path = path
        self.line: int | None = line
        self.reason: str = reason
        super().__init__(f"{path}{'' if line is None else f', line {line}'}: {reason}")


OnError = Callable[[DataFileError], None]
"""Is told of a bad line, which is then passed over."""


def raise_it(error: DataFileError) -> None:
    """Raise the error: what is done with a bad line unless somebody wants to be told of it."""
    raise error


def pass_over(error: DataFileError) -> None:
    """Tell of a bad line on standard error, and go on."""
    print(f"passed over {printable(str(error))}", file=sys.stderr)


def checked(kind: TypeAdapter[T], path: Path, line: int | None, values: Any) -> T:
    """Return an object of a file as a value of a type.

    Raises:
        DataFileError: a field is missing, unknown or of a wrong type; the message names it.
    """
    try:
        return kind.validate_python(values)
    except ValidationError as error:
        first = error.errors()[0]
        unknown = first["type"] in {"extra_forbidden", "unexpected_keyword_argument"}
        name = ".".join(map(str, first["loc"]))
        raise DataFileError(path, line, f"field {name}: {'unknown field' if unknown else first['msg']}") from None


def read_text(path: Path) -> str:
    """Return the text of a UTF-8 file; a byte order mark is left out.

    Raises:
        DataFileError: the file cannot be read, is empty or not UTF-8.
    """
    with _opened(path) as file:
        raw = file.read()
    if not raw.strip():
        raise DataFileError(path, None, "the file is empty")
    return _decoded(path, 1, raw)


def read_json(path: Path) -> Any:
    """Return the one JSON document that a file holds.

    Raises:
        DataFileError: the file cannot be read, is empty, not UTF-8 or not JSON.
    """
    return _parsed(path, None, read_text(path))


def read_json_lines(path: Path, on_error: OnError = raise_it) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield line number and object of each line that is not blank; a byte order mark is left out.

    Args:
        path: a UTF-8 file of JSON Lines, gzip-compressed if its name ends in ``.gz``.
        on_error: is told of each bad line: not UTF-8, no JSON object, or longer than ``MAX_LINE_BYTES``.

    Raises:
        DataFileError: the file cannot be read, or holds nothing.
    """
    is_empty = True
    with _opened(path) as file:
        for number, raw in enumerate(iter(lambda: file.readline(MAX_LINE_BYTES + 1), b""), 1):
            if not raw.strip():
                continue
            is_empty = False
            try:
                value = _object(path, number, raw)
            except DataFileError as error:
                while raw and not raw.endswith(b"\n"):
                    raw = file.readline(MAX_LINE_BYTES)  # noqa: PLW2901 - the rest of a line that is too long
                on_error(error)
            else:
                yield number, value
    if is_empty:
        raise DataFileError(path, None, "the file is empty")


def _object(path: Path, line: int, raw: bytes) -> dict[str, Any]:
    if len(raw) > MAX_LINE_BYTES:
        raise DataFileError(path, line, f"the line is longer than {MAX_LINE_BYTES} bytes")
    value = _parsed(path, line, _decoded(path, line, raw))
    if not isinstance(value, dict):
        raise DataFileError(path, line, "a JSON object is expected")
    return value


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            yield file  # type: ignore[misc]
    except (OSError, EOFError, zlib.error) as error:
        raise DataFileError(path, None, f"cannot be read: {error}") from None


def _decoded(path: Path, line: int, raw: bytes) -> str:
    try:
        return raw.decode("utf-8-sig" if line == 1 else "utf-8")
    except UnicodeDecodeError as error:
        line += raw.count(b"\n", 0, error.start)
        raise DataFileError(path, line, f"not UTF-8 at byte {error.start + 1}; save the file as UTF-8") from None


def _parsed(path: Path, line: int | None, text: str) -> Any:
    try:
        return json.loads(text)
    except (RecursionError, ValueError) as error:  # a ValueError too for a number of thousands of digits
        nested = isinstance(error, RecursionError)
        raise DataFileError(path, line, f"not JSON: {'nested too deeply' if nested else error}") from None


def positive(text: str) -> int:
    """Return a whole number of at least 1."""
    if (number := int(text)) < 1:
        raise argparse.ArgumentTypeError("at least 1 is expected")
    return number
