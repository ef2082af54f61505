"""Running engines over cases: in parallel, and never stopped by a case that fails."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import Any

from llama_index.core.instrumentation.event_handlers import BaseEventHandler
from llama_index.core.instrumentation.events import BaseEvent
from llama_index.core.instrumentation.events.llm import LLMChatEndEvent, LLMCompletionEndEvent
from llama_index_instrumentation import get_dispatcher

from llama_index_condense_plus.evaluation.cases import Case, Dataset, Outcome
from llama_index_condense_plus.evaluation.engines import EngineContext, Factory, Observed

_calls: ContextVar[list[int] | None] = ContextVar("condense_plus_evaluation_calls", default=None)


def run_engine(
    factory: Factory,
    dataset: Dataset,
    context: EngineContext,
    *,
    workers: int = 2,
    progress: Callable[[], object] = lambda: None,
) -> list[Outcome]:
    """Run one engine over a data set.

    Args:
        factory: makes the engine; called once for each worker.
        dataset: the cases.
        context: what the engine is made from.
        workers: cases that run at the same time.
        progress: called after each case.

    Returns:
        One outcome a case, in the data set's order. A case whose engine raised has its ``error`` set.
    """
    Observed(factory, context)  # a factory that cannot work fails here, before anything is written
    own = threading.local()

    def work(case: Case) -> Outcome:
        if not hasattr(own, "engine"):
            own.engine = Observed(factory, context)
        outcome = _observe(own.engine, case)
        progress()
        return outcome

    with _counting(), ThreadPoolExecutor(workers) as pool:
        return list(pool.map(work, dataset.cases))


class _CallHandler(BaseEventHandler):
    """Counts each finished call of a model for the case that made it."""

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
