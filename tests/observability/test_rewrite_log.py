"""The rewrite log: what is written, who can read it, what erasing takes, and what a full disk costs."""

from __future__ import annotations

import errno
import json
import os
import stat
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from llama_index_condense_plus import (
    CondensePlusChatEngine,
    CondensePlusError,
    CondensePlusSettings,
    ConfigurationError,
)
from llama_index_condense_plus.observability.rewrite_log import QUEUE_SIZE, RewriteLog
from llama_index_condense_plus.settings.sections import LogSettings
from tests.fakes import ScriptedLLM, query_engine
from tests.modes import Mode

REWRITE = "What is the warranty of the GTE-3000?"
Make = Callable[..., CondensePlusChatEngine]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "log.jsonl"


def logging_engine(path: Path, namespace: str = "", **log: Any) -> CondensePlusChatEngine:
    settings = CondensePlusSettings(log={"enabled": True, "path": path, **log}, cache={"namespace": namespace})
    return CondensePlusChatEngine.from_defaults(query_engine(llm=ScriptedLLM(rewrite=REWRITE)), settings=settings)


def close(engine: CondensePlusChatEngine) -> None:
    engine._log.close()  # type: ignore[union-attr]  # what the interpreter's exit does


def rows_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def full_disk(monkeypatch: pytest.MonkeyPatch, room: int) -> None:
    """Let only so many further bytes be written."""
    real, left = os.write, [room]

    def write(descriptor: int, data: bytes) -> int:
        if left[0] <= 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        written = real(descriptor, data[: left[0]])
        left[0] -= written
        return written

    monkeypatch.setattr(os, "write", write)


def test_log_writes_what_was_searched_and_why(path: Path) -> None:
    engine = logging_engine(path)
    engine.chat("How much is the GTE-3000? Write to me@example.com")
    trace = engine.trace_of(engine.chat("And its warranty?"))
    assert trace is not None
    engine.feedback(trace.turn_id, good=True, note="quick")
    close(engine)
    first, follow_up, thumb = rows_of(path)
    assert first["status"] == "skipped"
    assert first["original"].endswith("<email>")
    assert (follow_up["original"], follow_up["rewritten"]) == ("And its warranty?", REWRITE)
    assert follow_up["decision"]["rewrite"] is True
    assert follow_up["trust"] == "trusted"
    assert follow_up["attempts"][0]["prompt_hash"]
    assert follow_up["queries"][0]["role"] == "rewritten"
    assert follow_up["retrievals"][0]["nodes"]
    assert follow_up["nodes"]
    assert thumb == {**thumb, "kind": "feedback", "turn_id": follow_up["turn_id"], "good": True, "note": "quick"}


@pytest.mark.parametrize("content", ["hashed", "none"])
def test_log_holds_nobodys_words_if_told_so(path: Path, content: str) -> None:
    engine = logging_engine(path, content=content)
    engine.chat("How much is the GTE-3000?")
    engine.chat("And its warranty?")
    engine._log.feedback("x", good=True, note="quick")  # type: ignore[union-attr]
    close(engine)
    for word in ("warranty", "GTE-3000", "How much", "quick", "the answer"):
        assert word not in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("backups", [0, 2])
def test_log_rotates_and_keeps_the_backups_it_was_told(path: Path, backups: int) -> None:
    log = RewriteLog(LogSettings(path=path, max_mb=0.001, backups=backups))
    for number in range(200):
        log.feedback(str(number), good=True)
    log.close()
    assert log.dropped == 0
    assert len(list(path.parent.glob("log.jsonl*"))) == 1 + backups
    assert rows_of(path)[-1]["turn_id"] == "199"


def test_log_drops_and_counts_rows_when_the_disk_hangs(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = RewriteLog(LogSettings(path=path))
    gate, append = threading.Event(), log._file.append
    monkeypatch.setattr(log._file, "append", lambda line: (gate.wait(10), append(line)))
    for number in range(QUEUE_SIZE + 100):
        log.feedback(str(number), good=True)
    assert log.dropped == 100
    gate.set()
    log.close()
    assert len(rows_of(path)) == QUEUE_SIZE


def test_shadow_rewrites_skipped_turns_for_labels(path: Path) -> None:
    settings = CondensePlusSettings(trigger={"mode": "never"}, log={"enabled": True, "path": path, "shadow_rate": 1.0})
    llm = ScriptedLLM(rewrite=REWRITE)
    engine = CondensePlusChatEngine.from_defaults(query_engine(llm=llm), settings=settings)
    engine.chat("How much is the GTE-3000?")
    response = engine.chat("And its warranty?")
    assert response.sources[0].raw_input == {"query": "And its warranty?"}
    for thread in threading.enumerate():
        if thread.name == "condense-plus-shadow":
            thread.join(10)
    close(engine)
    (shadow,) = [row for row in rows_of(path) if row["kind"] == "shadow"]
    assert shadow["rewritten"] == REWRITE


def delete(mode: Mode, engine: CondensePlusChatEngine) -> None:
    if mode.is_async:
        mode.run(engine.adelete_conversation())
    else:
        engine.delete_conversation()


def test_erasing_on_a_full_disk_loses_no_row_and_says_what_to_do(
    path: Path, monkeypatch: pytest.MonkeyPatch, mode: Mode
) -> None:
    engine = logging_engine(path)
    users = [engine.for_conversation(name) for name in ("anna", "bert")]
    for number in range(10):
        mode.ask(users[number % 2], "How much is the GTE-3000?")
    assert engine._log is not None
    assert engine._log._drained()
    before = path.read_bytes()
    with monkeypatch.context() as context:
        full_disk(context, room=1500)
        with pytest.raises(CondensePlusError, match=r"log\.path: .* are still in .*log\.jsonl.*No space left.* again"):
            delete(mode, users[0])
    assert path.read_bytes() == before
    mode.ask(users[1], "How much is the GTE-3000?")
    delete(mode, users[0])
    assert len(rows_of(path)) == 6
    assert sorted(file.name for file in path.parent.iterdir()) == [".log.jsonl.lock", "log.jsonl"]


def test_a_row_on_a_full_disk_is_counted_and_the_next_one_is_whole(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = RewriteLog(LogSettings(path=path))
    log.feedback("first", good=True)
    assert log._drained()
    with monkeypatch.context() as context:
        full_disk(context, room=20)
        log.feedback("lost", good=True)
        assert log._drained()
    log.feedback("next", good=True)
    log.close()
    assert log.dropped == 1
    assert [row["turn_id"] for row in rows_of(path)] == ["first", "next"]


def test_a_torn_last_line_is_closed_before_the_next_row(path: Path) -> None:
    path.write_text('{"kind": "turn", "turn_')
    log = RewriteLog(LogSettings(path=path))
    log.feedback("next", good=True)
    log.close()
    torn, row = path.read_text().splitlines()
    assert torn == '{"kind": "turn", "turn_'
    assert json.loads(row)["turn_id"] == "next"


def test_erasing_takes_one_tenants_conversation_and_its_thumbs(path: Path, mode: Mode) -> None:
    engines = {tenant: logging_engine(path, tenant).for_conversation("anna") for tenant in ("acme", "blue", "")}
    for engine in engines.values():
        trace = engine.trace_of(mode.ask(engine, "How much is the GTE-3000?").response)
        assert trace is not None
        engine.feedback(trace.turn_id, good=True, note="quick")
    for engine in engines.values():
        assert engine._log is not None
        assert engine._log._drained()
    delete(mode, engines["acme"])
    left = rows_of(path)
    assert len(left) == 4
    assert len({row["namespace"] for row in left if row["kind"] == "turn"}) == 2
    assert "acme" not in path.read_text()


@pytest.mark.parametrize("name", ["log.jsonl", "log[1].jsonl", "*", "日志 ?.jsonl"])
def test_erasing_touches_the_log_and_its_numbered_backups_alone(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    engine = logging_engine(path).for_conversation("anna")
    engine.chat("How much is the GTE-3000?")
    assert engine._log is not None
    assert engine._log._drained()
    written, victim = path.read_text(), tmp_path / "victim"
    others = [
        tmp_path / other for other in (f"{name}-other.bak", f"{name}.bak", f"{name}.1.gz", f"x{name}.1", "victim")
    ]
    for file in (path.with_name(f"{name}.1"), path.with_name(f"{name}.12"), *others):
        file.write_text(written)
    path.with_name(f"{name}.2").symlink_to(victim)
    assert engine._log.delete("anna") == 3
    for file in (path, path.with_name(f"{name}.1"), path.with_name(f"{name}.12")):
        assert file.read_text() == ""
    for file in others:
        assert file.read_text() == written


def test_damaged_lines_stay_and_rows_of_another_process_arrive_after_erasing(path: Path) -> None:
    damaged = b'{"kind": "turn", "turn_id"\n\xff\xfe\n[1]\nnull\n{"turn_id": ["x"]}\n'
    path.write_bytes(damaged)
    first, second = logging_engine(path).for_conversation("anna"), logging_engine(path).for_conversation("bert")
    second.chat("How much is the GTE-3000?")
    first.chat("How much is the GTE-3000?")
    first.delete_conversation()
    second.chat("And its warranty?")
    close(second)
    lines = path.read_bytes().splitlines(keepends=True)
    assert b"".join(lines[:5]) == damaged
    assert len(lines) == 7


def test_files_are_readable_by_their_owner_alone(path: Path) -> None:
    before = os.umask(0)
    try:
        engine = logging_engine(path, max_mb=0.0005).for_conversation("anna")
        engine.chat("How much is the GTE-3000?")
        engine.chat("And its warranty?")
        engine.delete_conversation()
    finally:
        os.umask(before)
    assert {stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()} == {0o600}
    assert len(list(path.parent.iterdir())) == 3


@pytest.mark.parametrize("name", ["log.jsonl", ".log.jsonl.lock"])
def test_a_link_is_not_followed_into_anothers_file(path: Path, name: str) -> None:
    victim = path.with_name("victim")
    victim.write_text("words")
    path.with_name(name).symlink_to(victim)
    with pytest.raises(ConfigurationError, match=r"log\.path: cannot write"):
        logging_engine(path)
    path.with_name(name).unlink()
    log = RewriteLog(LogSettings(path=path))
    path.with_name(name).unlink()
    path.with_name(name).symlink_to(victim)  # later: it costs the row, and no file
    log.feedback("x", good=True)
    log.close()
    assert log.dropped == 1
    assert victim.read_text() == "words"


def test_what_is_no_file_is_refused_at_construction(path: Path) -> None:
    os.mkfifo(path)
    with pytest.raises(ConfigurationError, match=r"log\.path"):
        logging_engine(path)
    path.with_name("file").write_text("")
    with pytest.raises(ConfigurationError, match=r"log\.path"):
        logging_engine(path.with_name("file") / "log.jsonl")
