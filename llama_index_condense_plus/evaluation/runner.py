"""Running engines over cases: parallel, resumable, and never stopped by a case that fails."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from llama_index.core.instrumentation.event_handlers import BaseEventHandler
from llama_index.core.instrumentation.events import BaseEvent
from llama_index.core.instrumentation.events.llm import LLMChatEndEvent, LLMCompletionEndEvent
from llama_index_instrumentation import get_dispatcher

from llama_index_condense_plus.evaluation.cases import Case, Dataset
from llama_index_condense_plus.evaluation.engines import EngineContext, Factory, Observed, Outcome

Progress = Callable[[int], object]
"""Called with the number of cases that are newly done."""
_calls: ContextVar[list[int] | None] = ContextVar("condense_plus_evaluation_calls", default=None)


def run_engine(
    factory: Factory,
    dataset: Dataset,
    context: EngineContext,
    *,
    workers: int = 2,
    rows: Path | None = None,
    key: str = "",
    progress: Progress = lambda _: None,
) -> list[Outcome]:
    """Run one engine over a data set.

    Args:
        factory: makes the engine; called once for each worker.
        dataset: the cases.
        context: what the engine is made from.
        workers: cases that run at the same time.
        rows: file that each finished case is appended to; cases found there are not run again.
        key: what the rows depend on beside the data set; rows of another key are dropped.
        progress: told about finished cases.

    Returns:
        One outcome a case, in the data set's order. A case whose engine raised has its ``error`` set.
    """
    Observed(factory, context)  # a factory that cannot work fails here, before anything is written
    header = {"dataset": dataset.fingerprint(), "key": key}
    done = _finished(rows, header)
    remaining = [case for case in dataset.cases if case.id not in done]
    progress(len(dataset.cases) - len(remaining))
    own = threading.local()

    def work(case: Case) -> Outcome:
        if not hasattr(own, "engine"):
            own.engine = Observed(factory, context)
        return _observe(own.engine, case)

    with _counting(), _appending(rows, header, done) as write, ThreadPoolExecutor(workers) as pool:
        for future in as_completed([pool.submit(work, case) for case in remaining]):
            outcome = future.result()
            done[outcome.case_id] = outcome
            write(asdict(outcome))
            progress(1)
    return [done[case.id] for case in dataset.cases]


class _CallHandler(BaseEventHandler):
    """Counts each finished call of a model for the case that made it."""

    @classmethod
    def class_name(cls) -> str:
        return "CondensePlusEvaluationCalls"

    def handle(self, event: BaseEvent, **_: Any) -> None:
        calls = _calls.get()
        if calls is not None and isinstance(event, (LLMChatEndEvent, LLMCompletionEndEvent)):
            calls.append(1)  # a list, for calls may end in threads that share a copied context


@contextmanager
def _counting() -> Iterator[None]:
    dispatcher, handler = get_dispatcher(), _CallHandler()
    dispatcher.add_event_handler(handler)
    try:
        yield
    finally:
        dispatcher.event_handlers.remove(handler)


def _observe(engine: Observed, case: Case) -> Outcome:
    calls: list[int] = []
    token, started = _calls.set(calls), time.perf_counter()
    try:
        outcome = engine.run(case)
    except Exception as error:  # noqa: BLE001, a failed case counts as zero and stays in the report
        outcome = Outcome(case_id=case.id, error=f"{type(error).__name__}: {error}")
    finally:
        _calls.reset(token)
    return replace(outcome, latency_s=time.perf_counter() - started, llm_calls=len(calls))


def _finished(rows: Path | None, header: dict[str, str]) -> dict[str, Outcome]:
    """Return the finished cases of an earlier run of the same kind; a line cut off by a crash is passed over."""
    if rows is None or not rows.exists():
        return {}
    first, *lines = rows.read_text(encoding="utf-8", errors="replace").split("\n")
    done = {}
    try:
        if json.loads(first) != header:
            return {}
    except ValueError:
        return {}
    for line in lines:
        try:
            outcome = Outcome.from_dict(json.loads(line))
        except (ValueError, TypeError, KeyError):
            continue
        if not outcome.error:
            done[outcome.case_id] = outcome
    return done


@contextmanager
def _appending(rows: Path | None, header: dict[str, str], done: dict[str, Outcome]) -> Iterator[Callable[[Any], None]]:
    if rows is None:
        yield lambda _: None
        return
    rows.parent.mkdir(parents=True, exist_ok=True)
    with rows.open("w", encoding="utf-8") as handle:

        def write(value: Any) -> None:
            handle.write(json.dumps(value, ensure_ascii=False) + "\n")
            handle.flush()

        for value in (header, *map(asdict, done.values())):
            write(value)
        yield write
