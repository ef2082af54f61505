"""Performing a plan's retrievals at once: threads in sync, tasks in async, each with its own deadline."""

from __future__ import annotations

import asyncio
import copy
import threading
import time
from collections.abc import Awaitable, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from dataclasses import dataclass
from typing import Any, cast

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle

from llama_index_condense_plus import _compat, workers
from llama_index_condense_plus.errors import RetrievalFailedError
from llama_index_condense_plus.retrieval.fusion import depth
from llama_index_condense_plus.types import PlannedQuery, RankedList

Started = Future[Any] | Awaitable[Any]
"""What is already under way, a thread's future or a task on the running loop: a retrieval or an embedding."""


@dataclass(slots=True)
class Job:
    """One query for one retriever."""

    query: PlannedQuery
    """The planned query."""
    bundle: QueryBundle
    """Its bundle, this job's own."""
    retriever: BaseRetriever
    """Who searches."""
    source: str = ""
    """The retriever's name, where there are several."""
    started: Started | None = None
    """Its retrieval, if it is already under way."""
    failure: Exception | None = None
    """Why it failed, set by who performs it."""
    limit: int | None = None
    """Most nodes taken over from a retrieval that was begun before the plan was known."""
    blended: tuple[PlannedQuery, ...] = ()
    """Queries whose vectors are part of the bundle's embedding."""


def search(jobs: Sequence[Job], timeout_s: float | None = None, max_parallel: int = 16) -> list[RankedList]:
    """Perform retrievals in daemon threads and return their lists in the order of the jobs.

    A single retrieval without a deadline is performed in the calling thread.

    Args:
        jobs: what to search; one that fails or is late becomes an empty list with an error.
        timeout_s: deadline of each retrieval in seconds.
        max_parallel: most threads at a time.
    """
    if len(jobs) == 1 and jobs[0].started is None and timeout_s is None:
        start = time.perf_counter()
        try:
            return [_listed(jobs[0], start, jobs[0].retriever.retrieve(jobs[0].bundle))]
        except Exception as error:  # noqa: BLE001 - reported as every failing query is
            return [_failed(jobs[0], start, error)]
    slots = threading.Semaphore(max_parallel)
    running = [_Running(job, slots, timeout_s) for job in jobs]
    return [one.result() for one in running]


async def asearch(jobs: Sequence[Job], timeout_s: float | None = None, max_parallel: int = 16) -> list[RankedList]:
    """Perform retrievals on the running loop and return their lists in the order of the jobs.

    Args:
        jobs: what to search; one that fails or is late becomes an empty list with an error.
        timeout_s: deadline of each retrieval in seconds.
        max_parallel: most retrievals at a time.
    """
    slots = asyncio.Semaphore(max_parallel)
    tasks = [asyncio.ensure_future(_arun(job, slots, timeout_s)) for job in jobs]
    try:
        return list(await asyncio.gather(*tasks))
    finally:
        for task in tasks:
            task.cancel()


def deepened(retriever: BaseRetriever, n_queries: int) -> BaseRetriever:
    """Return a retriever of LlamaIndex's own as a copy that returns more nodes where several queries are fused.

    A retriever of any other origin is returned as it is: it may hold what must not be copied.

    Args:
        retriever: who searches; never changed.
        n_queries: queries of the plan.
    """
    top_k = getattr(retriever, "similarity_top_k", None)
    if n_queries == 1 or not isinstance(top_k, int) or not type(retriever).__module__.startswith("llama_index."):
        return retriever
    clone: Any = copy.copy(retriever)
    clone.similarity_top_k = depth(top_k, n_queries)
    return cast(BaseRetriever, clone)


def raise_if_all_failed(jobs: Sequence[Job]) -> None:
    """Raise if no retrieval succeeded.

    Args:
        jobs: retrievals that were performed.

    Raises:
        RetrievalFailedError: every one failed; the first failure is its cause.
    """
    failures = [job.failure for job in jobs if job.failure is not None]
    if failures and len(failures) == len(jobs):
        first = failures[0]
        words = f"All {len(jobs)} retrievals failed; the first: {type(first).__name__}: {first}"
        raise RetrievalFailedError(words) from first


async def aretrieve(retriever: BaseRetriever, bundle: QueryBundle) -> list[NodeWithScore]:
    """Retrieve without blocking the loop: a retriever, store or client without an asynchronous side runs in a thread.

    Args:
        retriever: who searches.
        bundle: what is searched.
    """
    if _compat.retrieves_asynchronously(retriever):
        try:
            return await retriever.aretrieve(bundle)
        except (AttributeError, NotImplementedError, ValueError) as error:
            words = str(error).lower()  # of a client that was never given, as QdrantVectorStore without ``aclient``
            lacks_async = "async client" in words or "'nonetype' object" in words
            if not isinstance(error, NotImplementedError) and not lacks_async:
                raise
    return await asyncio.wrap_future(workers.submit(lambda: retriever.retrieve(bundle), "retrieval"))


class _Running:
    """A retrieval in a thread of its own, or one that was started before."""

    def __init__(self, job: Job, slots: threading.Semaphore, timeout_s: float | None) -> None:
        self.job, self.timeout_s, self.start = job, timeout_s, time.perf_counter()
        self.future: Future[list[NodeWithScore]] = Future()
        if job.started is not None:
            self.future = cast("Future[list[NodeWithScore]]", job.started)
        elif not slots.acquire(timeout=timeout_s):
            self.future.set_exception(_late(timeout_s))
        else:
            self.start = time.perf_counter()
            try:
                submit = workers.submit if timeout_s is not None else workers.submit_or_run
                self.future = submit(lambda: job.retriever.retrieve(job.bundle), "retrieval")
            except Exception as error:  # noqa: BLE001 - no thread to be had: this query failed
                self.future.set_exception(error)
            self.future.add_done_callback(lambda _: slots.release())

    def result(self) -> RankedList:
        left = None if self.timeout_s is None else max(0.0, self.start + self.timeout_s - time.perf_counter())
        try:
            return _listed(self.job, self.start, self.future.result(left))
        except FutureTimeoutError as error:
            return _failed(self.job, self.start, error if self.future.done() else _late(self.timeout_s))
        except Exception as error:  # noqa: BLE001 - one failing query does not fail the turn
            return _failed(self.job, self.start, error)


async def _arun(job: Job, slots: asyncio.Semaphore, timeout_s: float | None) -> RankedList:
    start = time.perf_counter()
    try:
        if job.started is not None:
            task = asyncio.ensure_future(cast("Awaitable[list[NodeWithScore]]", job.started))
            return _listed(job, start, await asyncio.wait_for(task, timeout_s))
        async with slots:
            start = time.perf_counter()
            return _listed(job, start, await asyncio.wait_for(aretrieve(job.retriever, job.bundle), timeout_s))
    except (asyncio.TimeoutError, TimeoutError) as error:
        is_ours = timeout_s is not None and time.perf_counter() - start >= timeout_s
        return _failed(job, start, _late(timeout_s) if is_ours else error)
    except Exception as error:  # noqa: BLE001 - one failing query does not fail the turn
        return _failed(job, start, error)


def _listed(job: Job, start: float, nodes: Sequence[NodeWithScore] | None) -> RankedList:
    found, took = tuple((nodes or ())[: job.limit]), time.perf_counter() - start
    return RankedList(job.query, found, took, source=job.source, blended=job.blended)


def _failed(job: Job, start: float, error: Exception) -> RankedList:
    job.failure = error
    words = type(error).__name__  # what others' exceptions say may hold a key
    return RankedList(job.query, (), time.perf_counter() - start, words, job.source, blended=job.blended)


def _late(timeout_s: float | None) -> TimeoutError:
    return TimeoutError(f"the retrieval took longer than {timeout_s:g} s")
