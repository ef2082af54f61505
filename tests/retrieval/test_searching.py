"""Performing retrievals: order, deadlines, what is under way already, what fails; sync and async."""

from __future__ import annotations

import asyncio
import itertools
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

import pytest
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.schema import QueryBundle

from llama_index_condense_plus import workers
from llama_index_condense_plus.errors import RetrievalFailedError
from llama_index_condense_plus.retrieval.jobs import Job
from llama_index_condense_plus.retrieval.searching import aretrieve, asearch, raise_if_all_failed, search
from llama_index_condense_plus.types import PlannedQuery, QueryRole, RankedList
from tests.modes import PATIENCE
from tests.retrieval.parts import FakeRetriever, node

Search = Callable[..., list[RankedList]]


@pytest.fixture(params=["sync", "async"])
def found(request: pytest.FixtureRequest) -> Search:
    def go(jobs: list[Job], timeout_s: float | None = None, max_parallel: int = 16) -> list[RankedList]:
        if request.param == "sync":
            return search(jobs, timeout_s, max_parallel)
        return asyncio.run(asearch(jobs, timeout_s, max_parallel))

    return go


def job(text: str, retriever: BaseRetriever, **options: Any) -> Job:
    return Job(PlannedQuery(text, QueryRole.VARIANT), QueryBundle(text), retriever, **options)


def echo(words: str) -> list[Any]:
    if words == "bad":
        raise ValueError("sk-secret is wrong")
    return [node(f"{words}{i}", 1.0) for i in range(3)]


def test_search_lists_what_each_job_found_in_the_order_of_the_jobs(found: Search) -> None:
    jobs = [job("a", FakeRetriever(echo), source="faq"), job("b", FakeRetriever(echo), source="docs")]
    lists = found(jobs)
    assert [(one.query.text, one.source, one.error) for one in lists] == [("a", "faq", ""), ("b", "docs", "")]
    assert [[n.node_id for n in one.nodes] for one in lists] == [["a0", "a1", "a2"], ["b0", "b1", "b2"]]
    assert all(one.elapsed_s >= 0 and one.used for one in lists)
    assert [one.failure for one in jobs] == [None, None]


@pytest.mark.parametrize("others", [[], ["good"]])
def test_search_reports_a_failure_by_its_kind_with_its_source(found: Search, others: list[str]) -> None:
    jobs = [job(text, FakeRetriever(echo), source=f"of {text}") for text in ["bad", *others]]
    failed, *good = found(jobs)
    assert (failed.nodes, failed.error, failed.source) == ((), "ValueError", "of bad")
    assert failed.query.text == "bad"
    assert failed.elapsed_s >= 0
    assert isinstance(jobs[0].failure, ValueError)
    assert [len(one.nodes) for one in good] == [3] * len(others)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_search_gives_up_what_is_late(found: Search, n_jobs: int) -> None:
    released = threading.Event()

    def answer(words: str) -> list[Any]:
        if words == "0":
            released.wait(20)
        return echo(words)

    jobs = [job(str(i), FakeRetriever(answer)) for i in range(n_jobs)]
    try:
        late, *good = found(jobs, timeout_s=0.2 * PATIENCE)
    finally:
        released.set()
    assert late.error == "TimeoutError"
    assert str(jobs[0].failure) == f"the retrieval took longer than {0.2 * PATIENCE:g} s"
    assert [len(one.nodes) for one in good] == [3] * (n_jobs - 1)


def test_search_keeps_a_retrievers_own_time_out_apart_from_its_deadline(found: Search) -> None:
    def answer(words: str) -> list[Any]:
        raise TimeoutError("the store was slow")

    jobs = [job(text, FakeRetriever(answer)) for text in "ab"]
    assert [one.error for one in found(jobs, timeout_s=20.0)] == ["TimeoutError"] * 2
    assert str(jobs[0].failure) == "the store was slow"


def test_search_counts_the_wait_for_a_free_slot_as_late() -> None:
    released = threading.Event()

    def answer(words: str) -> list[Any]:
        released.wait(20)
        return echo(words)

    jobs = [job(text, FakeRetriever(answer)) for text in "ab"]
    try:
        lists = search(jobs, timeout_s=0.1, max_parallel=1)
    finally:
        released.set()
    assert [one.error for one in lists] == ["TimeoutError", "TimeoutError"]
    assert jobs[1].retriever.bundles == []  # type: ignore[attr-defined]


def test_search_frees_a_slot_when_a_retrieval_fails(found: Search) -> None:
    jobs = [job(text, FakeRetriever(echo)) for text in ("bad", "bad", "good")]
    assert [one.error for one in found(jobs, timeout_s=20.0, max_parallel=1)] == ["ValueError", "ValueError", ""]


def test_search_fails_the_query_for_which_no_thread_is_to_be_had(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "MAX_WORKERS", 0)
    jobs = [job(text, FakeRetriever(echo)) for text in "ab"]
    assert [one.error for one in search(jobs, timeout_s=20.0)] == ["WorkersExhaustedError"] * 2


def test_search_takes_over_what_is_under_way_up_to_the_limit() -> None:
    started: Future[Any] = Future()
    started.set_result(echo("early"))
    jobs = [job("a", FakeRetriever(echo), started=started, limit=2), job("b", FakeRetriever(echo), limit=1)]
    early, other = search(jobs)
    assert [n.node_id for n in early.nodes] == ["early0", "early1"]
    assert len(other.nodes) == 1
    assert jobs[0].retriever.bundles == []  # type: ignore[attr-defined]


def test_search_gives_up_what_is_under_way_and_late(found: Search) -> None:
    async def under_way() -> list[RankedList]:
        never = asyncio.get_running_loop().create_future()
        return await asearch([job("a", FakeRetriever(echo), started=never)], timeout_s=0.05)

    assert search([job("a", FakeRetriever(echo), started=Future())], timeout_s=0.05)[0].error == "TimeoutError"
    assert asyncio.run(asyncio.wait_for(under_way(), 20))[0].error == "TimeoutError"


def test_raise_if_all_failed_names_how_many_and_the_first() -> None:
    jobs = [job(text, FakeRetriever(echo)) for text in "abc"]
    raise_if_all_failed([])
    raise_if_all_failed(jobs)
    jobs[0].failure, jobs[2].failure = ValueError("one"), KeyError("three")
    raise_if_all_failed(jobs)
    jobs[1].failure = OSError("two")
    with pytest.raises(RetrievalFailedError, match=r"^All 3 retrievals failed; the first: ValueError: one$") as raised:
        raise_if_all_failed(jobs)
    assert raised.value.__cause__ is jobs[0].failure


@pytest.mark.parametrize(
    "error",
    [
        NotImplementedError("no such method"),
        ValueError("Async client is not initialized"),
        AttributeError("'NoneType' object has no attribute 'search'"),
    ],
)
async def test_aretrieve_asks_in_a_thread_where_there_is_no_async_side(error: Exception) -> None:
    class SyncOnly(FakeRetriever):
        async def _aretrieve(self, query_bundle: QueryBundle) -> list[Any]:
            raise error

    retriever = SyncOnly(echo)
    assert len(await aretrieve(retriever, QueryBundle("a"))) == 3
    assert threading.current_thread().name not in retriever.threads


async def test_aretrieve_uses_the_async_side_on_the_loop() -> None:
    class Both(FakeRetriever):
        async def _aretrieve(self, query_bundle: QueryBundle) -> list[Any]:
            return self._retrieve(query_bundle)

    retriever = Both(echo)
    await aretrieve(retriever, QueryBundle("a"))
    assert retriever.threads == {threading.current_thread().name}


@pytest.mark.parametrize("words", [["a"], ["a", "b"], ["bad"], ["bad", "a"]])
def test_search_measures_from_the_start_of_each_retrieval(
    found: Search, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    ticks = itertools.count(1_000)
    monkeypatch.setattr(time, "perf_counter", lambda: float(next(ticks)))
    lists = found([job(text, FakeRetriever(echo)) for text in words])
    assert all(0 < one.elapsed_s < 900 for one in lists)  # ticks since its start, not since the clock's
