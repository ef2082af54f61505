"""Worker threads: cancelled calls, exhaustion, a system without threads, the end of the process, a fork."""

from __future__ import annotations

import threading

import pytest

from llama_index_condense_plus import workers


def test_submit_returns_a_future_with_the_result_or_the_error() -> None:
    assert workers.submit(lambda: 1, "one").result(20) == 1
    with pytest.raises(KeyError):
        workers.submit(lambda: {}["none"], "error").result(20)


def test_submit_does_not_run_a_call_that_was_cancelled(monkeypatch: pytest.MonkeyPatch) -> None:
    runs: list[object] = []
    calls: list[int] = []
    monkeypatch.setattr(workers, "spawn", lambda run, name: runs.append(run))
    future = workers.submit(lambda: calls.append(1), "call")
    assert future.cancel()
    runs[0]()  # type: ignore[operator]
    assert calls == []


def test_spawn_beyond_the_most_workers_is_refused_and_room_is_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "_live", {})
    monkeypatch.setattr(workers, "MAX_WORKERS", 1)
    hold = threading.Event()
    thread = workers.spawn(lambda: hold.wait(20) and None, "first")
    with pytest.raises(workers.WorkersExhaustedError, match="'second' is not started"):
        workers.spawn(lambda: None, "second")
    hold.set()
    thread.join(20)
    workers.spawn(lambda: None, "third").join(20)


def test_spawn_forgets_a_thread_that_the_system_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(workers, "_live", {})
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refuse)
        with pytest.raises(RuntimeError, match="can't start"):
            workers.spawn(lambda: None, "any", is_writer=True)
    assert workers._live == {}


def test_writers_are_waited_for_at_the_end_of_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    begin, written = threading.Event(), []

    def write() -> None:
        begin.wait(20)
        written.append("the last answer")

    workers.spawn(write, "writer", is_writer=True)
    begin.set()
    workers._let_writers_finish()
    assert written == ["the last answer"]


def test_a_fork_has_none_of_its_parents_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    held = threading.Lock()
    held.acquire()
    monkeypatch.setattr(workers, "_mutex", held)
    monkeypatch.setattr(workers, "_live", {threading.current_thread(): True})
    workers._forget_threads_of_the_parent()
    assert workers._live == {}
    workers.spawn(lambda: None, "in the child").join(20)
