"""The rewrite log: one JSON line a turn, written beside the turn, safe for several processes."""

from __future__ import annotations

import atexit
import hashlib
import io
import json
import logging
import os
import queue
import re
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from logging.handlers import QueueHandler, QueueListener
from pathlib import Path
from typing import Any
from weakref import WeakSet

from llama_index_condense_plus._version import __version__
from llama_index_condense_plus.errors import CondensePlusError, ConfigurationError
from llama_index_condense_plus.observability.redaction import redact
from llama_index_condense_plus.observability.trace import CondenseTrace
from llama_index_condense_plus.settings.sections import LogSettings

DEFAULT_PATH = Path("condense-plus.jsonl")
logger = logging.getLogger(__name__)

QUEUE_SIZE = 4096
"""Rows that may wait for the disk; further ones are dropped and counted, never waited for."""
CLOSE_TIMEOUT_S = 5.0
"""Longest wait for the disk when a log is closed, or rows are deleted."""
MB = 1024 * 1024
_BREAKS = re.compile(r"[\x7f-\x9f\u2028\u2029]")
"""Line breaks and control characters that JSON leaves as they are, and terminals and readers of lines do not."""
_open: WeakSet[RewriteLog] = WeakSet()


class RewriteLog:
    """Writes rows in the background; a slow or full disk never slows a turn.

    Args:
        settings: the ``log`` section.
        clock: wall-clock seconds; replaceable for tests.

    Raises:
        ConfigurationError: the file cannot be opened, or the extra is not installed.
    """

    def __init__(self, settings: LogSettings, clock: Callable[[], float] = time.time) -> None:
        self._settings = settings
        self._clock = clock
        self._versions = {"condense_plus": __version__, "llama_index_core": version("llama-index-core")}
        self.dropped = 0
        """Rows lost because the disk was full, or so slow that the queue was."""
        self._closed = False
        handler = _file_handler(settings)
        handler.handleError = self._lost  # type: ignore[method-assign]  # logging's own prints the row to stderr
        self._begin(handler)

    def _begin(self, handler: logging.Handler) -> None:
        self._pid = os.getpid()
        self._queue: queue.Queue[logging.LogRecord] = queue.Queue(QUEUE_SIZE)
        self._listener = QueueListener(self._queue, handler)
        self._listener.start()
        self._handler = QueueHandler(self._queue)
        _open.add(self)

    def write(self, trace: CondenseTrace, conversation: str = "", **extra: Any) -> None:
        """Log a turn.

        Args:
            trace: the turn.
            conversation: its conversation's key; only a hash of it is written.
            **extra: further fields, for example ``shadow``.
        """
        self._put(self._row(trace, conversation) | extra)

    def feedback(self, turn_id: str, *, good: bool, note: str = "") -> None:
        """Log what a user thought of a turn.

        Args:
            turn_id: ``CondenseTrace.turn_id``.
            good: thumbs up or down.
            note: the user's words.
        """
        self._put({"kind": "feedback", "turn_id": turn_id, "good": good, "note": self._words(note)})

    def delete(self, conversation: str) -> int:
        """Take a conversation's rows, and the feedback on them, out of the file and its backups.

        Args:
            conversation: the conversation's key.

        Returns:
            How many rows went.

        Raises:
            CondensePlusError: the disk does not answer; nothing was deleted.
        """
        if not self._drained():
            raise CondensePlusError("log.path: the disk does not answer; the conversation's rows are still there.")
        handler: Any = self._listener.handlers[0]
        path = Path(handler.baseFilename)
        files = [file for file in path.parent.glob(f"{path.name}*") if file.is_file()]
        handler._do_lock()
        try:
            rows = {file: list(io.StringIO(file.read_text("utf-8", errors="replace"))) for file in files}
            wanted = hash_of(conversation)
            turns = {
                row["turn_id"]
                for lines in rows.values()
                for row in map(_row_of, lines)
                if row.get("conversation") == wanted
            }
            n_deleted = 0
            for file, lines in rows.items():
                kept = [line for line in lines if _row_of(line).get("turn_id") not in turns]
                n_deleted += len(lines) - len(kept)
                if len(kept) < len(lines):
                    file.write_text("".join(kept), "utf-8")
        finally:
            handler._do_unlock()
        return n_deleted

    def close(self) -> None:
        """Write what waits and close the file; a hung disk is given up after ``CLOSE_TIMEOUT_S``."""
        if self._closed or self._pid != os.getpid():  # what waits is its parent's to write
            return
        self._closed = True
        if not self._drained():
            self.dropped += self._queue.unfinished_tasks
            return
        self._listener.stop()
        for handler in self._listener.handlers:
            handler.close()

    def _drained(self) -> bool:
        """Wait until every row is on the disk; return False if the disk hangs."""
        deadline = time.monotonic() + CLOSE_TIMEOUT_S
        while self._queue.unfinished_tasks and time.monotonic() < deadline:
            time.sleep(0.005)
        return not self._queue.unfinished_tasks

    def _lost(self, record: logging.LogRecord) -> None:  # noqa: ARG002 - nobody's words are repeated
        if not self.dropped:
            logger.warning("The rewrite log cannot be written: %s", getattr(sys.exc_info()[0], "__name__", "unknown"))
        self.dropped += 1

    def _row(self, trace: CondenseTrace, conversation: str) -> dict[str, Any]:
        row = trace.to_dict()
        rewrite, window = row["rewrite"], trace.window
        return {
            "kind": "turn",
            "turn_id": trace.turn_id,
            "conversation": hash_of(conversation) if conversation else "",
            "original": self._words(trace.message),
            "rewritten": self._words(trace.search_query),
            "content": self._settings.content,
            "window": [{"role": message.role, "content": self._words(message.text)} for message in window.messages],
            "summary": self._words(window.summary),
            "entities": [self._words(entity.text) for entity in window.entities],
            "decision": {**row["decision"], "cues": [self._cue(cue) for cue in row["decision"]["cues"]]},
            "status": rewrite["status"],
            "rewriter": rewrite["rewriter"],
            "ambiguous": rewrite["ambiguous"],
            "cache_hit": rewrite["cache_hit"],
            "attempts": [self._attempt(attempt) for attempt in rewrite["attempts"]],
            "queries": [{**query, "text": self._words(query["text"])} for query in row["plan"]["queries"]],
            "retrievals": [
                {key: ranked[key] for key in ("source", "used", "elapsed_s", "nodes")}
                | {"role": ranked["query"]["role"]}
                for ranked in row["retrievals"]
            ],
            "nodes": [node["id"] for node in row["nodes"]],
            "timings": row["timings"],
            "warnings": row["warnings"],
        }

    def _attempt(self, attempt: dict[str, Any]) -> dict[str, Any]:
        kept = ("rewriter", "accepted", "error", "prompt_hash", "prompt_tokens", "completion_tokens", "elapsed_s")
        verdicts = [{**verdict, "detail": self._words(verdict["detail"])} for verdict in attempt["verdicts"]]
        return {key: attempt[key] for key in kept} | {"raw": self._words(attempt["raw"]), "verdicts": verdicts}

    def _cue(self, cue: dict[str, Any]) -> dict[str, Any]:
        return {**cue, "text": self._words(cue["text"])}

    def _words(self, text: str) -> str:
        if self._settings.content == "none" or not text:
            return ""
        if self._settings.content == "hashed":
            return hash_of(text)
        return redact(text) if self._settings.redact else text

    def _put(self, row: dict[str, Any]) -> None:
        if self._pid != os.getpid():  # a forked child has no thread that writes
            self._begin(self._listener.handlers[0])
        if self._closed:
            self.dropped += 1
            return
        stamped = {"time": round(self._clock(), 3), "versions": self._versions, **row}
        line = json.dumps(stamped, ensure_ascii=False, default=str).encode("utf-8", "replace").decode("utf-8")
        line = _BREAKS.sub(lambda found: f"\\u{ord(found[0]):04x}", line)
        record = logging.LogRecord("condense_plus.rewrite_log", logging.INFO, "", 0, line, None, None)
        try:
            self._handler.enqueue(record)
        except queue.Full:
            self.dropped += 1


@atexit.register
def _close_all() -> None:
    """Write what waits before the interpreter ends: the thread that writes ends with it."""
    for log in tuple(_open):
        log.close()


def _row_of(line: str) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except ValueError:  # a line that a full disk cut short
        return {}
    return row if isinstance(row, dict) else {}


def hash_of(text: str) -> str:
    """Return a short hash by which equal texts can be told, and no text be read."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]


def _file_handler(settings: LogSettings) -> logging.Handler:
    try:
        from concurrent_log_handler import ConcurrentRotatingFileHandler  # noqa: PLC0415 - an extra
    except ImportError:
        raise ConfigurationError(
            "log.enabled needs the log extra: pip install 'llama-index-condense-plus[log]'."
        ) from None
    path = settings.path or DEFAULT_PATH
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handler = ConcurrentRotatingFileHandler(
            str(path), maxBytes=int(settings.max_mb * MB), backupCount=settings.backups, encoding="utf-8"
        )
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"log.path: cannot write {path}: {error}") from None
    handler.setFormatter(logging.Formatter("%(message)s"))
    return handler
