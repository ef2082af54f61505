"""The rewrite log: one JSON line a turn, written beside the turn, safe for several processes."""

from __future__ import annotations

import atexit
import hashlib
import json
import logging
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any
from weakref import WeakSet

from llama_index_condense_plus import workers
from llama_index_condense_plus._version import __version__
from llama_index_condense_plus.errors import CondensePlusError, ConfigurationError
from llama_index_condense_plus.observability.clean import json_line
from llama_index_condense_plus.observability.line_file import LineFile
from llama_index_condense_plus.observability.redaction import redact
from llama_index_condense_plus.observability.trace import CondenseTrace, with_words
from llama_index_condense_plus.settings.sections import LogSettings

DEFAULT_PATH = Path("condense-plus.jsonl")
QUEUE_SIZE = 4096
"""Rows that may wait for the disk; further ones are dropped and counted, never waited for."""
CLOSE_TIMEOUT_S = 5.0
"""Longest wait for the disk when a log is closed, or rows are deleted."""
MB = 1024 * 1024
logger: logging.Logger = logging.getLogger(__name__)
_open: WeakSet[RewriteLog] = WeakSet()


class RewriteLog:
    """Writes rows in the background; a slow or full disk never slows a turn.

    Args:
        settings: the ``log`` section.

    Raises:
        ConfigurationError: the file cannot be opened.
    """

    def __init__(self, settings: LogSettings) -> None:
        self._settings = settings
        self._versions = {"condense_plus": __version__, "llama_index_core": version("llama-index-core")}
        path = settings.path or DEFAULT_PATH
        try:
            self._file = LineFile(path.absolute(), int(settings.max_mb * MB), settings.backups)
        except OSError as error:
            raise ConfigurationError(f"log.path: cannot write {path}: {error}") from None
        self.dropped: int = 0
        """Rows lost because the disk was full, or so slow that too many waited."""
        self._start_anew()
        _open.add(self)

    def _start_anew(self) -> None:
        self._waiting: deque[str] = deque()
        self._changed = threading.Condition()
        self._is_writing = False

    def write(self, trace: CondenseTrace, conversation: str = "", namespace: str = "", **extra: Any) -> None:
        """Log a turn; of its conversation's key and its tenant only hashes are written."""
        self._put(self._row(trace) | _owner(conversation, namespace) | extra)

    def feedback(self, turn_id: str, *, good: bool, note: str = "") -> None:
        """Log what a user thought of a turn: thumbs up or down, and a note in the user's words."""
        self._put({"kind": "feedback", "turn_id": turn_id, "good": good, "note": self._words(note)})

    def delete(self, conversation: str, namespace: str = "") -> int:
        """Take a conversation's rows, and the feedback on them, out of the file and its backups; return how many.

        Args:
            conversation: the conversation's key.
            namespace: its tenant; the rows of another tenant's conversation with an equal key stay.

        Raises:
            CondensePlusError: the disk is full or does not answer; rows may still be there, and no other is lost.
        """
        owner = _owner(conversation, namespace)

        def chosen_from(lines: Iterator[bytes]) -> Callable[[bytes], bool]:
            turns = {row["turn_id"] for row in map(_row_of, lines) if row.items() >= owner.items()}
            return lambda line: _row_of(line).get("turn_id") in turns

        try:
            if not self._drained():
                raise OSError("the disk does not answer")
            return self._file.erase(chosen_from)
        except OSError as error:
            raise CondensePlusError(
                f"log.path: rows of the conversation are still in {self._file.path}, and no other is lost: {error}. "
                "Delete the conversation again when the disk can be written."
            ) from None

    def close(self) -> None:
        """Write what waits; a hung disk is given up after ``CLOSE_TIMEOUT_S``."""
        if not self._drained():
            self.dropped += len(self._waiting)

    def _drained(self) -> bool:
        """Wait until every row is on the disk; return False if the disk hangs."""
        self._start(or_write_here=True)
        with self._changed:
            return self._changed.wait_for(lambda: not self._waiting, CLOSE_TIMEOUT_S)

    def _put(self, row: dict[str, Any]) -> None:
        line = json_line({"time": round(time.time(), 3), "versions": self._versions, **row})
        with self._changed:
            if len(self._waiting) >= QUEUE_SIZE:
                self.dropped += 1
                return
            self._waiting.append(line)
        self._start()

    def _start(self, *, or_write_here: bool = False) -> None:
        with self._changed:
            if self._is_writing or not self._waiting:
                return
            self._is_writing = True
        try:
            workers.spawn(self._write_waiting, "log")
        except (workers.WorkersExhaustedError, RuntimeError):  # no more threads: the row waits for the next one
            if or_write_here:
                self._write_waiting()
            self._is_writing = False

    def _write_waiting(self) -> None:
        while True:
            with self._changed:
                if not self._waiting:
                    self._is_writing = False
                    self._changed.notify_all()
                    return
                line = self._waiting[0]
            try:
                self._file.append(line)
            except Exception as error:  # noqa: BLE001 - nobody's turn ends because of the log, nor are words repeated
                if not self.dropped:
                    logger.warning("The rewrite log cannot be written, rows are lost: %s", type(error).__name__)
                self.dropped += 1
            with self._changed:
                self._waiting.popleft()

    def _row(self, trace: CondenseTrace) -> dict[str, Any]:
        told = trace.to_dict()
        rewrite, plan, _, searched = (told.pop(name) for name in ("rewrite", "plan", "message", "search_query"))
        row = {
            **told,
            **rewrite,
            "kind": "turn",
            "rewritten": searched,
            "content": self._settings.content,
            "entities": told["window"]["entities"],
            "summary": told["window"]["summary"],
            "queries": plan["queries"],
            "nodes": [node["id"] for node in told["nodes"]],
        }
        window = [{"role": message.role, "content": self._words(message.text)} for message in trace.window.messages]
        return {**with_words(row, self._words), "window": window, "warnings": told["warnings"]}

    def _words(self, text: str) -> str:
        if self._settings.content == "none" or not text:
            return ""
        if self._settings.content == "hashed":
            return hash_of(text)
        return redact(text) if self._settings.redact else text


def hash_of(text: str) -> str:
    """Return a short hash by which equal texts can be told, and no text be read; nothing of nothing."""
    return text and hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]


def _owner(conversation: str, namespace: str) -> dict[str, str]:
    return {"conversation": hash_of(conversation), "namespace": hash_of(namespace)}


def _row_of(line: bytes) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):  # a line that a full disk cut short
        return {}
    return row if isinstance(row, dict) and isinstance(row.get("turn_id"), str) else {}


@atexit.register
def _close_all() -> None:  # the thread that writes ends with the interpreter
    for log in tuple(_open):
        log.close()


def _start_all_anew() -> None:  # a forked child has no thread that writes, and its parent writes what waits
    for log in tuple(_open):
        log._start_anew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_all_anew)
