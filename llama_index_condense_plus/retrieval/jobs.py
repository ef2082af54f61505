"""One query for one retriever, how deep it looks, and embedding the queries of a turn in one call."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Awaitable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.schema import NodeWithScore, QueryBundle

from llama_index_condense_plus import _compat, workers
from llama_index_condense_plus.retrieval.fusion import depth
from llama_index_condense_plus.types import PlannedQuery

Started = Future[list[NodeWithScore]] | Awaitable[list[NodeWithScore]]
"""A retrieval already under way: a thread's future, or a task on the running loop."""
Vectors = list[list[float]]


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


def embed_together(jobs: Sequence[Job], timeout_s: float | None) -> None:
    """Embed the queries of one turn in one call where the model can; on failure each retrieval embeds its own.

    LlamaIndex has no call for it: a model may offer ``get_query_embedding_batch(texts)`` and its ``a…`` twin; those
    known to embed queries and passages alike are asked for a batch of texts.

    Args:
        jobs: what is going to be searched; their bundles receive the embeddings.
        timeout_s: deadline in seconds.
    """
    for model, group, texts in _batches(jobs):
        with suppress(Exception):  # fails open: batching only saves time
            _spread(group, texts, workers.submit(partial(_embed, model, texts), "embedding").result(timeout_s))


async def aembed_together(jobs: Sequence[Job], timeout_s: float | None) -> None:
    """Do what ``embed_together`` does, on the running loop.

    Args:
        jobs: what is going to be searched; their bundles receive the embeddings.
        timeout_s: deadline in seconds.
    """
    for model, group, texts in _batches(jobs):
        with suppress(Exception):  # fails open: batching only saves time
            _spread(group, texts, await asyncio.wait_for(_aembed(model, texts), timeout_s))


def _batches(jobs: Sequence[Job]) -> Iterator[tuple[BaseEmbedding, list[Job], list[str]]]:
    """Yield each model that can embed several queries in one call, with the jobs that are in need of it."""
    groups: dict[int, tuple[BaseEmbedding, list[Job]]] = {}
    for job in jobs:
        model = _compat.embed_model_of(job.retriever)
        if model is None or job.bundle.embedding is not None or job.bundle.custom_embedding_strs:
            continue
        if hasattr(model, "get_query_embedding_batch") or _compat.embeds_queries_as_texts(model):
            groups.setdefault(id(model), (model, []))[1].append(job)
    for model, group in groups.values():
        texts = list(dict.fromkeys(job.bundle.query_str for job in group))
        if len(texts) > 1:
            yield model, group, texts


def _embed(model: BaseEmbedding, texts: list[str]) -> Vectors:
    own = getattr(model, "get_query_embedding_batch", None)
    return cast("Vectors", (own or model.get_text_embedding_batch)(texts))


async def _aembed(model: BaseEmbedding, texts: list[str]) -> Vectors:
    own = getattr(model, "aget_query_embedding_batch", None)
    if own is None and hasattr(model, "get_query_embedding_batch"):
        return await asyncio.wrap_future(workers.submit(partial(_embed, model, texts), "embedding"))
    return cast("Vectors", await (own or model.aget_text_embedding_batch)(texts))


def _spread(jobs: Sequence[Job], texts: Sequence[str], vectors: Vectors) -> None:
    by_text = dict(zip(texts, vectors, strict=True))
    for job in jobs:
        job.bundle.embedding = list(by_text[job.bundle.query_str])
