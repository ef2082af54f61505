"""A file of lines that several processes append to, rotate and erase from; only its owner can read it."""

from __future__ import annotations

import os
import shutil
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

if sys.platform == "win32":
    import msvcrt

    def _lock(descriptor: int, on: bool) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_LOCK if on else msvcrt.LK_UNLCK, 1)
else:
    import fcntl

    def _lock(descriptor: int, on: bool) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX if on else fcntl.LOCK_UN)


SAFELY = os.O_RDWR | os.O_CREAT
for _flag in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"):  # not every system has them
    SAFELY |= getattr(os, _flag, 0)


@contextmanager
def opened_private(path: Path, flags: int = 0) -> Iterator[int]:
    """Open a file made readable by its owner alone; links, pipes and devices raise ``OSError``."""
    descriptor = os.open(path, SAFELY | flags, 0o600)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError("not a regular file")
        yield descriptor
    finally:
        os.close(descriptor)


def write_private(path: Path, lines: Iterable[bytes]) -> None:
    """Write a new file that its owner alone can read, in the place of whatever was there, onto the disk."""
    path.unlink(missing_ok=True)
    with opened_private(path, os.O_EXCL) as descriptor:
        for line in lines:
            _write(descriptor, line)
        os.fsync(descriptor)


class LineFile:
    """Lines in a file and its numbered backups, such as ``log.jsonl``, ``log.jsonl.1``, ``log.jsonl.2``."""

    def __init__(self, path: Path, max_bytes: int, backups: int) -> None:
        self.path = path
        self._max_bytes = max_bytes
        self._backups = backups
        path.parent.mkdir(parents=True, exist_ok=True)
        with self._locked(), opened_private(path):
            pass

    def append(self, line: str) -> None:
        """Add a line, whole or not at all; a torn line before it is closed first."""
        data = f"{line}\n".encode()
        with self._locked():
            size = self.path.stat().st_size if self.path.exists() else 0
            if size and size + len(data) > self._max_bytes:
                self._rotate()
            with opened_private(self.path, os.O_APPEND) as descriptor:
                end = os.lseek(descriptor, 0, os.SEEK_END)
                os.lseek(descriptor, max(end - 1, 0), os.SEEK_SET)
                is_torn = os.read(descriptor, 1) not in (b"\n", b"")
                try:
                    _write(descriptor, b"\n" + data if is_torn else data)
                except OSError:
                    with suppress(OSError):
                        os.ftruncate(descriptor, end)
                    raise

    def erase(self, chosen_from: Callable[[Iterator[bytes]], Callable[[bytes], bool]]) -> int:
        """Take out lines and return how many; the files are written anew, and replaced when all are complete.

        Args:
            chosen_from: is given every line, and returns what is True of a line that goes.
        """
        with self._locked():
            files, fresh, n_gone = self._files(), dict[Path, Path](), 0
            goes = chosen_from(line for file in files for line in _lines(file))
            try:
                for file in files:
                    if n := sum(map(goes, _lines(file))):
                        fresh[file] = file.with_name(f".{file.name}.new")
                        write_private(fresh[file], (line for line in _lines(file) if not goes(line)))
                        shutil.copymode(file, fresh[file])
                        n_gone += n
                for file, beside in fresh.items():
                    beside.replace(file)
            finally:
                for beside in fresh.values():
                    beside.unlink(missing_ok=True)
        return n_gone

    def _files(self) -> list[Path]:
        numbers = (file.name.removeprefix(f"{self.path.name}.") for file in self.path.parent.iterdir())
        backups = [self._backup(int(number)) for number in numbers if number.isascii() and number.isdecimal()]
        return [file for file in (self.path, *backups) if file.is_file() and not file.is_symlink()]

    def _backup(self, number: int) -> Path:
        return self.path.with_name(f"{self.path.name}.{number}") if number else self.path

    def _rotate(self) -> None:
        for number in range(self._backups, 0, -1):
            with suppress(FileNotFoundError):
                self._backup(number - 1).replace(self._backup(number))
        self.path.unlink(missing_ok=True)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        with opened_private(self.path.with_name(f".{self.path.name}.lock")) as descriptor:
            _lock(descriptor, True)
            try:
                yield
            finally:  # a forked child may hold a copy of the descriptor: closing is not enough
                _lock(descriptor, False)


def _lines(file: Path) -> Iterator[bytes]:
    with file.open("rb") as lines:
        yield from lines


def _write(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]
