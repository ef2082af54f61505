"""How deep retrievers look, and what is embedded together: sync and async."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from llama_index.core import VectorStoreIndex
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.schema import QueryBundle, TextNode

from llama_index_condense_plus.retrieval.jobs import Job, aembed_together, deepened, embed_together
from llama_index_condense_plus.types import PlannedQuery, QueryRole
from tests.retrieval.parts import BatchEmbedding, FakeRetriever, vector


class Alike(BaseEmbedding):
    """Embeds queries and texts by one engine, as OpenAI's models may; notes each batch of texts."""

    _query_engine: str = "small"
    _text_engine: str = "small"
    _batches: list[list[str]] = []  # noqa: RUF012 - a private attribute of pydantic's

    def get_text_embedding_batch(self, texts: list[str], **_: Any) -> list[list[float]]:
        self._batches.append(texts)
        return [vector(text) for text in texts]

    async def aget_text_embedding_batch(self, texts: list[str], **_: Any) -> list[list[float]]:
        return self.get_text_embedding_batch(texts)

    def _get_query_embedding(self, query: str) -> list[float]:
        return vector(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return vector(query)

    def _get_text_embedding(self, text: str) -> list[float]:
        return vector(text)


class AsyncBatch(BatchEmbedding):
    """Has an asynchronous batch of its own."""

    async def aget_query_embedding_batch(self, texts: list[str]) -> list[list[float]]:
        self._calls.append(["async", *texts])
        return [vector(text) for text in texts]


@pytest.fixture(params=["sync", "async"])
def embed(request: pytest.FixtureRequest) -> Callable[..., None]:
    def go(*jobs: Job, timeout_s: float | None = None) -> None:
        if request.param == "sync":
            embed_together(jobs, timeout_s)
        else:
            asyncio.run(aembed_together(jobs, timeout_s))

    return go


def searching(model: BaseEmbedding) -> BaseRetriever:
    return VectorStoreIndex([TextNode(text="aab")], embed_model=model).as_retriever(similarity_top_k=3)


def job(retriever: BaseRetriever, text: str, **bundle: Any) -> Job:
    return Job(PlannedQuery(text, QueryRole.REWRITTEN), QueryBundle(text, **bundle), retriever)


def test_embed_together_asks_each_model_once_for_its_own_queries(embed: Callable[..., None]) -> None:
    one, other = BatchEmbedding(), BatchEmbedding()
    first, second = searching(one), searching(other)
    jobs = [job(first, "a"), job(second, "b"), job(first, "c"), job(second, "d")]
    embed(*jobs)
    assert (one.calls, other.calls) == ([["a", "c"]], [["b", "d"]])
    assert [each.bundle.embedding for each in jobs] == [vector(text) for text in "abcd"]


def test_embed_together_embeds_equal_words_once_and_shares_no_list(embed: Callable[..., None]) -> None:
    model = BatchEmbedding()
    jobs = [job(searching(model), text) for text in ("a", "b", "a")]
    embed(*jobs)
    assert model.calls == [["a", "b"]]
    assert jobs[0].bundle.embedding == jobs[2].bundle.embedding
    assert jobs[0].bundle.embedding is not jobs[2].bundle.embedding


@pytest.mark.parametrize("given", [{"embedding": [1.0]}, {"custom_embedding_strs": ["a passage"]}])
def test_embed_together_leaves_alone_what_brings_its_own(embed: Callable[..., None], given: dict[str, Any]) -> None:
    model = BatchEmbedding()
    retriever = searching(model)
    own = job(retriever, "own", **given)
    embed(own, job(retriever, "a"), job(retriever, "b"))
    assert model.calls == [["a", "b"]]
    assert own.bundle.embedding == given.get("embedding")


def test_embed_together_calls_no_model_for_a_single_text_or_none_that_embeds(embed: Callable[..., None]) -> None:
    model = BatchEmbedding()
    plain = FakeRetriever(lambda words: [])
    embed(job(searching(model), "a"), job(plain, "b"), job(plain, "c"))
    assert model.calls == []


def test_embed_together_asks_a_model_of_one_engine_for_texts(embed: Callable[..., None]) -> None:
    model = Alike()
    jobs = [job(searching(model), text) for text in "ab"]
    model._batches.clear()  # those of the index
    embed(*jobs)
    assert model._batches == [["a", "b"]]
    assert [each.bundle.embedding for each in jobs] == [vector("a"), vector("b")]


def test_aembed_together_prefers_an_asynchronous_batch() -> None:
    model = AsyncBatch()
    asyncio.run(aembed_together([job(searching(model), text) for text in "ab"], None))
    assert model.calls == [["async", "a", "b"]]


def test_embed_together_goes_on_without_a_model_that_is_late(embed: Callable[..., None]) -> None:
    class Slow(BatchEmbedding):
        def get_query_embedding_batch(self, texts: list[str]) -> list[list[float]]:
            released.wait(20)
            return super().get_query_embedding_batch(texts)

    import threading  # noqa: PLC0415

    released = threading.Event()
    jobs = [job(searching(Slow()), text) for text in "ab"]
    try:
        embed(*jobs, timeout_s=0.05)
        assert [each.bundle.embedding for each in jobs] == [None, None]
    finally:
        released.set()


def test_deepened_copies_llama_indexs_own_retriever_only() -> None:
    own = searching(BatchEmbedding())
    deep = deepened(own, 2)
    assert (own.similarity_top_k, deep.similarity_top_k) == (3, 6)  # type: ignore[attr-defined]
    assert deepened(own, 1) is own
    users = FakeRetriever(lambda words: [], similarity_top_k=3)
    assert deepened(users, 2) is users


def test_aembed_together_goes_on_without_an_asynchronous_batch_that_hangs() -> None:
    class Hanging(BatchEmbedding):
        async def aget_query_embedding_batch(self, texts: list[str]) -> list[list[float]]:
            await asyncio.Event().wait()
            return []

    jobs = [job(searching(Hanging()), text) for text in "ab"]
    asyncio.run(asyncio.wait_for(aembed_together(jobs, 0.05), 20))
    assert [each.bundle.embedding for each in jobs] == [None, None]
