"""Running engines over cases: parallel, resumable, and never stopped by a case that fails."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, TextIO

from llama_index.core.base.base_retriever import BaseRetriever

from llama_index_condense_plus.evaluation.answers import Judge
from llama_index_condense_plus.evaluation.calls import counting_enabled, tallied
from llama_index_condense_plus.evaluation.cases import Case, Dataset
from llama_index_condense_plus.evaluation.engines import EngineContext, Factory, Observed
from llama_index_condense_plus.evaluation.outcome import Outcome

Progress = Callable[[int], None]
"""Called with the number of cases that are newly done."""


def run_engine(
    factory: Factory,
    dataset: Dataset,
    context: EngineContext,
    *,
    workers: int = 2,
    rows: Path | None = None,
    key: str = "",
    judge: Judge | None = None,
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
        judge: judges answers, if they are wanted.
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
    scored = bool(dataset.passages)

    def work(case: Case) -> Outcome:
        if not hasattr(own, "engine"):
            own.engine = Observed(factory, context)
        outcome = _observe(own.engine, case, judge)
        return replace(outcome, ideal=_ideal(case, context.retriever)) if scored else outcome

    with counting_enabled(), _appending(rows, header, done) as write, ThreadPoolExecutor(workers) as pool:
        for future in as_completed([pool.submit(work, case) for case in remaining]):
            outcome = future.result()
            done[outcome.case_id] = outcome
            write(outcome)
            progress(1)
    return [done[case.id] for case in dataset.cases]


def _observe(engine: Observed, case: Case, judge: Judge | None) -> Outcome:
    started = time.perf_counter()
    try:
        with tallied() as tally:
            outcome = engine.run(case)
        outcome = replace(
            outcome,
            latency_s=time.perf_counter() - started,
            llm_calls=tally.calls,
            prompt_tokens=tally.prompt_tokens,
            completion_tokens=tally.completion_tokens,
        )
        return judge.judged(case, outcome) if judge is not None else outcome
    except Exception as error:  # noqa: BLE001, a failed case counts as zero and stays in the report
        elapsed = time.perf_counter() - started
        return Outcome(case_id=case.id, latency_s=elapsed, error=f"{type(error).__name__}: {error}")


def _ideal(case: Case, retriever: BaseRetriever) -> tuple[str, ...]:
    """Return what the best accepted rewrite finds, to tell a bad query from a passage that cannot be found."""
    if not case.gold or not case.accepted_rewrites:
        return ()
    return tuple(node.node.node_id for node in retriever.retrieve(case.accepted_rewrites[0]))


def _finished(rows: Path | None, header: dict[str, str]) -> dict[str, Outcome]:
    """Return the finished cases of an earlier run of the same kind; a line cut off by a crash is passed over."""
    if rows is None or not rows.exists():
        return {}
    lines = rows.read_text(encoding="utf-8", errors="replace").split("\n")
    done = {}
    for number, line in enumerate(lines):
        try:
            values: Any = json.loads(line)
            if number == 0:
                if values != header:
                    return {}
                continue
            outcome = Outcome.from_dict(values)
        except (ValueError, TypeError):
            continue
        if not outcome.error:
            done[outcome.case_id] = outcome
    return done


@contextmanager
def _appending(
    rows: Path | None, header: dict[str, str], done: dict[str, Outcome]
) -> Iterator[Callable[[Outcome], None]]:
    if rows is None:
        yield lambda _: None
        return
    rows.parent.mkdir(parents=True, exist_ok=True)
    with rows.open("w", encoding="utf-8") as handle:
        _write(handle, [header, *(outcome.to_dict() for outcome in done.values())])
        yield lambda outcome: _write(handle, [outcome.to_dict()])


def _write(handle: TextIO, values: Sequence[Any]) -> None:
    handle.writelines(json.dumps(value, ensure_ascii=False) + "\n" for value in values)
    handle.flush()
