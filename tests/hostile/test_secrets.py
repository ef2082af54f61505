"""Secrets in exceptions of models, retrievers and stores never reach traces, logs, events or reprs."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from llama_index_condense_plus import CondensePlusChatEngine, CondensePlusSettings
from tests.conftest import PRICE
from tests.fakes import ScriptedLLM, WordRetriever
from tests.modes import Mode

SECRET = "sk-proj-4f9aT0pS3cretK3y"  # noqa: S105 - the secret of these tests
LEAK = f"401: Incorrect API key provided: {SECRET}. Authorization: Bearer {SECRET}"


class LeakingRetriever(WordRetriever):
    """Fails on one of the queries with a message that quotes the key."""

    def _found(self, query: str) -> list[Any]:
        if query == PRICE:
            raise ConnectionError(LEAK)
        return super()._found(query)


def everything_said(trace: Any, events: list[Any], caplog: pytest.LogCaptureFixture) -> str:
    logged = "\n".join(record.getMessage() + str(record.exc_info) for record in caplog.records)
    ours = [event for event in events if type(event).__module__.startswith("llama_index_condense_plus")]
    assert ours
    return "\n".join([json.dumps(trace.to_dict()), repr(trace), trace.summary(), logged, repr(ours)])


def test_a_failing_model_leaks_no_secret(
    mode: Mode,
    make_engine: Callable[..., CondensePlusChatEngine],
    events: list[Any],
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG, "llama_index_condense_plus")
    engine = make_engine(llm=ScriptedLLM(rewrite=ConnectionError(LEAK)))
    reply = mode.ask(engine, "and its price?")
    trace = engine.trace_of(reply.response)
    assert trace is not None
    assert trace.rewrite.attempts[0].error
    assert SECRET not in everything_said(trace, events, caplog)
    assert SECRET not in repr(engine) + repr(reply.response)


def test_a_failing_search_leaks_no_secret(
    mode: Mode,
    make_engine: Callable[..., CondensePlusChatEngine],
    events: list[Any],
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG, "llama_index_condense_plus")
    engine = make_engine(retriever=LeakingRetriever(["the GTE-3000 costs 99"]), retrieval={"dual": "always"})
    reply = mode.ask(engine, "and its price?")
    trace = engine.trace_of(reply.response)
    assert trace is not None
    assert any(warning.startswith("retrieval failed") for warning in trace.warnings)
    assert SECRET not in everything_said(trace, events, caplog)


def test_the_rewrite_log_holds_no_secret(tmp_path: Path, make_engine: Callable[..., CondensePlusChatEngine]) -> None:
    path = tmp_path / "log.jsonl"
    engine = make_engine(
        llm=ScriptedLLM(rewrite=ConnectionError(LEAK)),
        settings=CondensePlusSettings(log={"enabled": True, "path": path}),
    )
    engine.chat("and its price?")
    engine._log.close()  # type: ignore[union-attr]
    written = path.read_text(encoding="utf-8")
    assert '"kind": "turn"' in written
    assert SECRET not in written
