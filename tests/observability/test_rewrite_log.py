import json
import logging
import threading
from pathlib import Path
from typing import Any

import pytest

from llama_index_condense_plus import CondensePlusChatEngine, CondensePlusSettings, ConfigurationError
from llama_index_condense_plus.observability.rewrite_log import QUEUE_SIZE, RewriteLog
from llama_index_condense_plus.settings.sections import LogSettings
from tests.fakes import ScriptedLLM, query_engine

pytest.importorskip("concurrent_log_handler")
REWRITE = "What is the warranty of the GTE-3000?"


def talk(path: Path, **log: Any) -> list[dict[str, Any]]:
    """Run a first turn, a follow-up and a thumb, and return the logged rows."""
    settings = CondensePlusSettings(log={"enabled": True, "path": path, **log})
    engine = CondensePlusChatEngine.from_defaults(query_engine(llm=ScriptedLLM(rewrite=REWRITE)), settings=settings)
    engine.chat("How much is the GTE-3000? Write to me@example.com")
    response = engine.chat("And its warranty?")
    trace = engine.trace_of(response)
    assert trace is not None
    engine.feedback(trace.turn_id, good=True, note="quick")
    engine._log.close()  # type: ignore[union-attr]  # what the interpreter's exit does
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_log_writes_what_was_searched_and_why(tmp_path: Path) -> None:
    first, follow_up, thumb = talk(tmp_path / "log.jsonl")
    assert first["status"] == "skipped"
    assert first["original"].endswith("<email>")
    assert (follow_up["original"], follow_up["rewritten"]) == ("And its warranty?", REWRITE)
    assert follow_up["decision"]["rewrite"] is True
    assert follow_up["attempts"][0]["prompt_hash"]
    assert follow_up["queries"][0]["role"] == "rewritten"
    assert follow_up["retrievals"][0]["nodes"]
    assert thumb == {**thumb, "kind": "feedback", "turn_id": follow_up["turn_id"], "good": True, "note": "quick"}


@pytest.mark.parametrize("content", ["hashed", "none"])
def test_log_holds_nobodys_words_if_told_so(tmp_path: Path, content: str) -> None:
    talk(tmp_path / "log.jsonl", content=content)
    written = (tmp_path / "log.jsonl").read_text(encoding="utf-8")
    for word in ("warranty", "GTE-3000", "How much", "quick"):
        assert word not in written


def test_log_keeps_a_message_on_its_line(tmp_path: Path) -> None:
    log = RewriteLog(LogSettings(path=tmp_path / "log.jsonl"))
    log.feedback("x", good=False, note='line one\n{"kind": "forged"}\r\n\u2028')
    log.close()
    (line,) = (tmp_path / "log.jsonl").read_text(encoding="utf-8").split("\n")[:-1]
    assert json.loads(line)["note"].startswith("line one\n")


def test_log_rotates_and_keeps_the_backups_it_was_told(tmp_path: Path) -> None:
    log = RewriteLog(LogSettings(path=tmp_path / "log.jsonl", max_mb=0.001, backups=2))
    for number in range(200):
        log.feedback(str(number), good=True)
    log.close()
    assert len(list(tmp_path.glob("log.jsonl*"))) == 3


def test_log_drops_and_counts_rows_when_the_disk_hangs(tmp_path: Path) -> None:
    log = RewriteLog(LogSettings(path=tmp_path / "log.jsonl"))
    (handler,) = log._listener.handlers
    gate = threading.Event()
    write = handler.emit

    def hang(record: logging.LogRecord) -> None:
        gate.wait(10)
        write(record)

    handler.emit = hang  # type: ignore[method-assign]
    for number in range(QUEUE_SIZE + 100):
        log.feedback(str(number), good=True)
    assert log.dropped >= 99
    gate.set()
    log.close()


def test_log_names_the_option_whose_path_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigurationError, match=r"log\.path"):
        RewriteLog(LogSettings(path=tmp_path / "file" / "log.jsonl"))


def test_shadow_rewrites_skipped_turns_for_labels(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    settings = CondensePlusSettings(trigger={"mode": "never"}, log={"enabled": True, "path": path, "shadow_rate": 1.0})
    llm = ScriptedLLM(rewrite=REWRITE)
    engine = CondensePlusChatEngine.from_defaults(query_engine(llm=llm), settings=settings)
    engine.chat("How much is the GTE-3000?")
    response = engine.chat("And its warranty?")
    assert response.sources[0].raw_input == {"query": "And its warranty?"}
    for thread in threading.enumerate():
        if thread.name == "condense-plus-shadow":
            thread.join(10)
    engine._log.close()  # type: ignore[union-attr]
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    (shadow,) = [row for row in rows if row["kind"] == "shadow"]
    assert shadow["rewritten"] == REWRITE
