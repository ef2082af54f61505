"""Performing a plan's retrievals at once: threads in sync, tasks in async, each with its own deadline."""

from __future__ import annotations

import asyncio
import copy
import time
from collections.abc import Awaitable, Callable, Sequence
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
    limit: int | None = None
    """Most nodes taken over from a retrieval that was begun before the plan was known."""
    blended: tuple[PlannedQuery, ...] = ()
    """Queries whose vectors are part of the bundle's embedding."""
    failure: Exception | None = None
    """Why it failed, set by who performs it."""

    def listed(self, began: float, nodes: Sequence[NodeWithScore] | None, failure: Exception | None) -> RankedList:
        """Note the outcome and return it as a list; its error is a kind only, for others' words may hold a key."""
        self.failure, error = failure, "" if failure is None else type(failure).__name__
        found, took = tuple((nodes or ())[: self.limit]), time.perf_counter() - began
        return RankedList(self.query, found, took, error, self.source, blended=self.blended)


def search(jobs: Sequence[Job], timeout_s: float | None = None) -> list[RankedList]:
    """Perform retrievals in daemon threads and return their lists in the order of the jobs.

    A single retrieval without a deadline is performed in the calling thread.

    Args:
        jobs: what to search; one that fails or is late becomes an empty list with an error.
        timeout_s: deadline of each retrieval in seconds.
    """

    def begin(job: Job) -> Callable[[float | None], Sequence[NodeWithScore]]:
        if job.started is not None:
            return cast("Future[Sequence[NodeWithScore]]", job.started).result
        if len(jobs) == 1 and timeout_s is None:
            return lambda _: job.retriever.retrieve(job.bundle)
        submit = workers.submit_or_run if timeout_s is None else workers.submit
        try:
            return submit(lambda: job.retriever.retrieve(job.bundle), "retrieval").result
        except Exception as error:  # noqa: BLE001 - no thread to be had: this query failed
            none: Future[Sequence[NodeWithScore]] = Future()
            none.set_exception(error)
            return none.result

    began, lists = time.perf_counter(), []
    for job, wait in [(job, begin(job)) for job in jobs]:
        left = None if timeout_s is None else max(0.0, began + timeout_s - time.perf_counter())
        try:
            lists.append(job.listed(began, wait(left), None))
        except FutureTimeoutError as error:
            is_late = timeout_s is not None and time.perf_counter() - began >= timeout_s
            lists.append(job.listed(began, (), _late(timeout_s) if is_late else error))
        except Exception as error:  # noqa: BLE001 - one failing query does not fail the turn
            lists.append(job.listed(began, (), error))
    return lists


async def asearch(jobs: Sequence[Job], timeout_s: float | None = None) -> list[RankedList]:
    """Perform retrievals on the running loop and return their lists in the order of the jobs.

    Args:
        jobs: what to search; one that fails or is late becomes an empty list with an error.
        timeout_s: deadline of each retrieval in seconds.
    """
    tasks = [asyncio.ensure_future(_arun(job, timeout_s)) for job in jobs]
    try:
        return list(await asyncio.gather(*tasks))
    finally:
        for task in tasks:
            task.cancel()


async def _arun(job: Job, timeout_s: float | None) -> RankedList:
    began = time.perf_counter()
    try:
        searching = cast("Awaitable[Any]", job.started or aretrieve(job.retriever, job.bundle))
        return job.listed(began, await asyncio.wait_for(searching, timeout_s), None)
    except (asyncio.TimeoutError, TimeoutError) as error:
        is_late = timeout_s is not None and time.perf_counter() - began >= timeout_s
        return job.listed(began, (), _late(timeout_s) if is_late else error)
    except Exception as error:  # noqa: BLE001 - one failing query does not fail the turn
        return job.listed(began, (), error)


def _late(timeout_s: float | None) -> TimeoutError:
    return TimeoutError(f"the retrieval took longer than {timeout_s:g} s")


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
            lacks_client = "async client" in words or "'nonetype' object" in words
            if not lacks_client and not isinstance(error, NotImplementedError):
                raise
    return await asyncio.wrap_future(workers.submit(lambda: retriever.retrieve(bundle), "retrieval"))


def deepened(retriever: BaseRetriever, n_queries: int) -> BaseRetriever:
    """Return a retriever of LlamaIndex's own as a copy that returns more nodes where several queries are fused.

    A retriever of any other origin is returned as it is: it may hold what must not be copied.
    """
    top_k = getattr(retriever, "similarity_top_k", None)
    if n_queries == 1 or not isinstance(top_k, int) or not type(retriever).__module__.startswith("llama_index."):
        return retriever
    clone: Any = copy.copy(retriever)
    clone.similarity_top_k = depth(top_k, n_queries)
    return cast(BaseRetriever, clone)


def raise_if_all_failed(jobs: Sequence[Job]) -> None:
    """Raise if no retrieval succeeded.

    Raises:
        RetrievalFailedError: every one failed; the first failure is its cause.
    """
    failures = [job.failure for job in jobs if job.failure is not None]
    if failures and len(failures) == len(jobs):
        first = failures[0]
        words = f"All {len(jobs)} retrievals failed; the first: {type(first).__name__}: {first}"
        raise RetrievalFailedError(words) from first
