"""Threads used up, a process forked, a loop closed, an interpreter that ends: the engine works, or says why not."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from llama_index.core.memory import Memory

from llama_index_condense_plus import CondensePlusChatEngine, ConversationBusyError, workers
from llama_index_condense_plus.turn import lock
from tests.conftest import FIRST_ROUND, PRICE
from tests.fakes import ScriptedLLM
from tests.modes import LIMIT_S, MODES, Mode, in_thread, said

Make = Callable[..., CondensePlusChatEngine]
FOLLOW_UP = "and its price?"
BEFORE = [(message.role.value, message.content) for message in FIRST_ROUND]
ROOT = Path(__file__).parents[2]


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-m", "tests.faults.leaving", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)


def test_turn_without_a_thread_to_be_had_goes_on_or_fails_cleanly(
    make_engine: Make, mode: Mode, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = make_engine()
    monkeypatch.setattr(workers, "MAX_WORKERS", 0)
    if mode.name == "stream_chat":
        with pytest.raises(workers.WorkersExhaustedError, match="running or hung"):
            mode.ask(engine, FOLLOW_UP)
        assert said(engine) == BEFORE
    else:
        assert mode.ask(engine, FOLLOW_UP).text == "the answer"
    monkeypatch.undo()
    assert mode.ask(engine, "and its warranty?").text == "the answer"  # the conversation is free


def test_asynchronous_turn_needs_no_thread_of_the_event_loop(make_engine: Make, mode: Mode) -> None:
    if not mode.is_async:
        pytest.skip("asks in the calling thread")
    engine, gate, pool = make_engine(), threading.Event(), ThreadPoolExecutor(1)
    mode.loop.set_default_executor(pool)
    pool.submit(gate.wait, LIMIT_S)
    try:
        assert mode.ask(engine, FOLLOW_UP).query == PRICE
    finally:
        gate.set()
        pool.shutdown()


def test_verbose_line_that_cannot_be_printed_frees_the_conversation(
    make_engine: Make, mode: Mode, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = make_engine(verbose=True)

    def closed(*_: Any) -> None:
        raise BrokenPipeError

    with monkeypatch.context() as patched:
        patched.setattr("builtins.print", closed)
        with pytest.raises(BrokenPipeError):
            mode.ask(engine, FOLLOW_UP)
    assert said(engine) == BEFORE
    assert mode.ask(engine, FOLLOW_UP).text == "the answer"


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_event_loop_closed_under_a_stream_leaves_the_conversation_to_the_next_turn(
    make_engine: Make, mode: Mode
) -> None:
    llm = ScriptedLLM(rewrite=PRICE, answer="one two", token_delay_s=30.0)
    engine = make_engine(llm=llm)
    gone = asyncio.new_event_loop()
    gone.run_until_complete(engine.astream_chat(FOLLOW_UP))
    gone.close()
    llm.token_delay_s = 0.0
    assert mode.ask(engine, "and its warranty?").text == "one two"
    assert said(engine) == [*BEFORE, ("user", "and its warranty?"), ("assistant", "one two")]


def test_turn_that_waits_is_let_through_when_the_loop_before_it_is_closed(
    make_engine: Make, mode: Mode, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lock, "LOOK_S", 0.02)
    llm = ScriptedLLM(rewrite=PRICE, answer="one two", token_delay_s=30.0)
    engine = make_engine(llm=llm)
    gone = asyncio.new_event_loop()
    gone.run_until_complete(engine.astream_chat(FOLLOW_UP))
    llm.token_delay_s = 0.0
    waiting = in_thread(lambda: mode.ask(engine, "and its warranty?"))
    Mode("chat").wait_until(lambda: bool(engine._conversation.lock._waiting))  # type: ignore[attr-defined]
    gone.close()
    assert waiting().text == "one two"


def test_threads_that_wait_for_one_another_end_with_an_error_that_names_the_remedy(
    make_engine: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All threads of the loop wait for an asynchronous turn, which needs such a thread itself."""
    monkeypatch.setattr(lock, "PATIENCE_S", 0.2)
    monkeypatch.setattr(lock, "LOOK_S", 0.05)
    began = asyncio.Event()

    class NeedsThread(ScriptedLLM):
        async def achat(self, messages: Any, **kwargs: Any) -> Any:
            if began.is_set():  # the answer, after the rewrite
                return await super().achat(messages, **kwargs)
            began.set()
            while not engine._conversation.lock._waiting:  # type: ignore[attr-defined]  # noqa: ASYNC110
                await asyncio.sleep(0.005)
            await asyncio.to_thread(int)  # as the look-up of a host name
            return await super().achat(messages, **kwargs)

    engine = make_engine(llm=NeedsThread(rewrite=PRICE))

    async def both() -> list[Any]:
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(1))
        first = asyncio.create_task(engine.achat(FOLLOW_UP))
        await began.wait()
        blocked = asyncio.to_thread(engine.chat, "and its warranty?")
        return await asyncio.wait_for(asyncio.gather(first, blocked, return_exceptions=True), LIMIT_S)

    answered, refused = asyncio.run(both())
    assert str(answered) == "the answer"
    assert isinstance(refused, ConversationBusyError)
    assert "achat" in str(refused)


async def test_threads_that_wait_for_a_turn_do_not_keep_it_from_its_memory(make_engine: Make) -> None:
    """Core's memory uses threads of the loop, and all of them wait for the turn."""
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(2))
    engine = make_engine(llm=ScriptedLLM(rewrite=PRICE, delay_s=0.01))
    blocking = (asyncio.to_thread(engine.chat, f"and its price in {2000 + number}?") for number in range(4))
    answers = await asyncio.wait_for(asyncio.gather(engine.achat(FOLLOW_UP), *blocking), LIMIT_S)
    assert [str(answer) for answer in answers] == ["the answer"] * 5
    assert len(said(engine)) == 12


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_forked_child_asks_in_every_mode(tmp_path: Path) -> None:
    done = run("fork", str(tmp_path / "log.jsonl"))
    assert done.stdout.split("\n")[:-1] == [f"{name} 0 4" for name in MODES], done.stderr
    assert done.returncode == 0
    rows = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text(encoding="utf-8").splitlines()]
    assert len(rows) == 3 * len(MODES)  # the parent's turn and the child's two


def test_interpreter_ends_promptly_with_streams_open_and_loses_no_row_of_the_log(tmp_path: Path) -> None:
    done = run("streams", str(tmp_path / "log.jsonl"))
    assert (done.returncode, done.stdout) == (0, "main ends 1\n"), done.stderr
    assert "Traceback" not in done.stderr
    assert len((tmp_path / "log.jsonl").read_text(encoding="utf-8").splitlines()) == 1


async def test_memory_of_a_cancelled_turn_is_whole_with_cores_default(make_engine: Make) -> None:
    """A cancelled database driver drops its connection, and what is in memory only would be gone."""
    memory = Memory.from_defaults(token_limit=10_000)
    await memory.aput_messages(list(FIRST_ROUND))
    engine = make_engine(memory=memory)
    for steps in range(0, 60, 3):
        stored = len(await memory.aget_all())
        task = asyncio.create_task(engine.achat(FOLLOW_UP))
        for _ in range(steps):
            await asyncio.sleep(0.0002)
        task.cancel()
        await asyncio.wait({task}, timeout=LIMIT_S)
        assert len(await memory.aget_all()) - stored in (0, 2), steps
