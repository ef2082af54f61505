"""One search with the mean of a plan's vectors, and embedding the queries of a turn in one call."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, cast

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.schema import NodeWithScore, QueryBundle

from llama_index_condense_plus import _compat, workers
from llama_index_condense_plus.retrieval.parallel import Job, deepened

Vector = list[float]


class QueryEmbedder(BaseRetriever):
    """Embeds a query in place of searching it: all that a blended search can use of what begins before the plan."""

    def __init__(self, model: BaseEmbedding) -> None:
        super().__init__()
        self._model = model

    def retrieve(self, str_or_query_bundle: Any) -> Any:
        """Return the query's vector."""
        return self._model.get_query_embedding(str_or_query_bundle.query_str)

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        raise NotImplementedError


def prefetcher(retriever: BaseRetriever, blend: str) -> BaseRetriever:
    """Return what begins the original's search while the rewrite is being made.

    Args:
        retriever: who is going to search the plan.
        blend: ``retrieval.blend``.
    """
    model = blending_model(retriever, blend)
    return deepened(retriever, 2) if model is None else QueryEmbedder(model)


def embed(jobs: Sequence[Job], blend: str, timeout_s: float | None) -> list[Job]:
    """Embed the queries of one turn together, and join those of a retriever that searches by vector.

    Where it fails, the jobs stay as they are and each retrieval embeds its own query.

    Args:
        jobs: what is going to be searched.
        blend: ``retrieval.blend``.
        timeout_s: deadline in seconds.
    """
    for job in _begun(jobs, blend):
        with suppress(Exception):
            job.bundle.embedding = cast("Future[Vector]", job.started).result(timeout_s)
        job.started = None
    for model, group, texts in _missing(jobs, blend):
        with suppress(Exception):
            _spread(group, texts, workers.submit(partial(_embedded, model, texts), "embedding").result(timeout_s))
    return _joined(jobs, blend)


async def aembed(jobs: Sequence[Job], blend: str, timeout_s: float | None) -> list[Job]:
    """Do what ``embed`` does, on the running loop."""
    for job in _begun(jobs, blend):
        with suppress(Exception):
            job.bundle.embedding = await asyncio.wait_for(cast("Any", job.started), timeout_s)
        job.started = None
    for model, group, texts in _missing(jobs, blend):
        with suppress(Exception):
            embedding = asyncio.wrap_future(workers.submit(partial(_embedded, model, texts), "embedding"))
            _spread(group, texts, await asyncio.wait_for(embedding, timeout_s))
    return _joined(jobs, blend)


def weighted_mean(vectors: Sequence[Vector], weights: Iterable[float]) -> Vector:
    """Return the weighted mean of the vectors' directions, at the length of the first."""
    lengths = [math.hypot(*vector) or 1.0 for vector in vectors]
    scales = [weight / length for weight, length in zip(weights, lengths, strict=True)]
    mean = [sum(scale * x for scale, x in zip(scales, column, strict=True)) for column in zip(*vectors, strict=True)]
    length = math.hypot(*mean) or 1.0
    return [x * lengths[0] / length for x in mean]


def blending_model(retriever: BaseRetriever, blend: str) -> BaseEmbedding | None:
    """Return the model of a retriever that a plan's queries are blended for; None if it searches each of them."""
    if blend == "lists" or (blend == "auto" and not _compat.searches_by_vector_alone(retriever)):
        return None
    return _compat.embed_model_of(retriever)


def _begun(jobs: Sequence[Job], blend: str) -> list[Job]:
    return [job for job in jobs if job.started is not None and blending_model(job.retriever, blend) is not None]


def _missing(jobs: Sequence[Job], blend: str) -> list[tuple[BaseEmbedding, list[Job], list[str]]]:
    """Return each model with what it embeds before the search: in a single call, or for a blend."""
    groups: dict[int, tuple[BaseEmbedding, list[Job], list[str]]] = {}
    for job in jobs if len(jobs) > 1 else ():
        model = _compat.embed_model_of(job.retriever)
        if model is None or job.bundle.embedding is not None or job.started is not None:
            continue
        if _batches(model) or blending_model(job.retriever, blend) is not None:
            _, group, texts = groups.setdefault(id(model), (model, [], []))
            group.append(job)
            texts.extend(text for text in job.bundle.embedding_strs if text not in texts)
    return list(groups.values())


def _batches(model: BaseEmbedding) -> bool:
    return hasattr(model, "get_query_embedding_batch") or _compat.embeds_queries_as_texts(model)


def _embedded(model: BaseEmbedding, texts: list[str]) -> list[Vector]:
    """Embed in one call where the model can: LlamaIndex has none for queries, but a model may offer one."""
    if len(texts) == 1 or not _batches(model):
        return [model.get_query_embedding(text) for text in texts]
    own = getattr(model, "get_query_embedding_batch", None)
    return cast("list[Vector]", (own or model.get_text_embedding_batch)(texts))


def _spread(jobs: Sequence[Job], texts: Sequence[str], vectors: Sequence[Vector]) -> None:
    known = dict(zip(texts, vectors, strict=True))
    for job in jobs:
        own = [known[text] for text in job.bundle.embedding_strs]
        job.bundle.embedding = [sum(column) / len(own) for column in zip(*own, strict=True)]


def _joined(jobs: Sequence[Job], blend: str) -> list[Job]:
    """Make one job of those for the same retriever that can be blended."""
    groups: dict[str, list[Job]] = {}
    for job in jobs:
        groups.setdefault(job.source, []).append(job)
    joined: list[Job] = []
    for group in groups.values():
        vectors = [job.bundle.embedding for job in group if job.bundle.embedding is not None]
        if len(vectors) < max(2, len(group)) or blending_model(group[0].retriever, blend) is None:
            joined += group
        else:
            bundle = replace(group[0].bundle, embedding=weighted_mean(vectors, [job.query.weight for job in group]))
            joined.append(replace(group[0], bundle=bundle, blended=tuple(job.query for job in group[1:])))
    return joined
