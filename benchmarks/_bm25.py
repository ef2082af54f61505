"""A small BM25 for the benchmarks: character bigrams for Chinese, words for the rest, one index for each domain."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import cache, lru_cache
from typing import Any

import numpy as np
from _data import load
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

K1 = 1.5
B = 0.75
"""The usual constants (Robertson and Zaragoza 2009)."""

_WORD = re.compile(r"[a-z0-9]+")
_RUN = re.compile(r"[\u4e00-\u9fff]+|[a-z0-9]+")


def bigrams(text: str) -> list[str]:
    """Return the character bigrams of the Chinese stretches of a text, and its lower-cased Latin words."""
    found: list[str] = []
    for run in _RUN.findall(text.lower()):
        is_word = run[0] < "\u4e00" or len(run) == 1
        found += [run] if is_word else [run[i : i + 2] for i in range(len(run) - 1)]
    return found


def words(text: str) -> list[str]:
    """Return the lower-cased words of a text."""
    return _WORD.findall(text.lower())


class BM25:
    """An index over (id, text) pairs."""

    def __init__(self, documents: Iterable[tuple[str, str]], tokens: Callable[[str], list[str]]) -> None:
        self.ids: list[str] = []
        self._tokens = tokens
        postings: dict[str, list[tuple[int, int]]] = defaultdict(list)
        lengths = []
        for number, (identifier, text) in enumerate(documents):
            self.ids.append(identifier)
            counts = Counter(tokens(text))
            lengths.append(sum(counts.values()))
            for token, count in counts.items():
                postings[token].append((number, count))
        size = np.array(lengths, dtype=float)
        norm = K1 * (1 - B + B * size / max(size.mean(), 1.0))
        self._weights: dict[str, tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]] = {}
        for token, entries in postings.items():
            docs = np.array([doc for doc, _ in entries])
            tf = np.array([count for _, count in entries], dtype=float)
            idf = math.log(1 + (len(size) - len(docs) + 0.5) / (len(docs) + 0.5))
            self._weights[token] = docs, idf * tf * (K1 + 1) / (tf + norm[docs])

    def search(self, query: str, top_k: int) -> list[tuple[str, float]]:
        """Return the best documents with a score above 0, best first; ties in order of insertion."""
        scores = np.zeros(len(self.ids))
        for token in self._tokens(query):
            if token in self._weights:
                docs, weights = self._weights[token]
                scores[docs] += weights
        best = np.argsort(-scores, kind="stable")[:top_k]
        return [(self.ids[i], float(scores[i])) for i in best if scores[i] > 0]


def by_domain(
    corpus: Sequence[dict[str, Any]], domain: Callable[[dict[str, Any]], str], tokens: Callable[[str], list[str]]
) -> dict[str, BM25]:
    """Return one index for each domain of a corpus."""
    grouped: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for row in corpus:
        grouped[domain(row)].append((row["id"], row["text"]))
    return {name: BM25(documents, tokens) for name, documents in grouped.items()}


def recall(found: Sequence[str], gold: Sequence[str]) -> float:
    """Return the share of the gold documents that were found."""
    return len(set(found) & set(gold)) / len(set(gold)) if gold else 0.0


class Bm25Retriever(BaseRetriever):
    """The index as a LlamaIndex retriever that returns the same node objects each time."""

    def __init__(self, passages: Sequence[dict[str, Any]], *, similarity_top_k: int = 10) -> None:
        super().__init__()
        self.similarity_top_k = similarity_top_k
        is_chinese = sum("\u4e00" <= letter <= "\u9fff" for row in passages[:100] for letter in row["text"]) > 100
        self._index = BM25(((row["id"], row["text"]) for row in passages), bigrams if is_chinese else words)
        self._nodes = {row["id"]: TextNode(id_=row["id"], text=row["text"]) for row in passages}
        self._find = lru_cache(maxsize=100_000)(self._ranked)

    def search(self, query: str, top_k: int | None = None) -> tuple[NodeWithScore, ...]:
        """Return the best passages for a query, cached."""
        return self._find(query)[: top_k or self.similarity_top_k]

    def _ranked(self, query: str) -> tuple[NodeWithScore, ...]:
        return tuple(
            NodeWithScore(node=self._nodes[name], score=score) for name, score in self._index.search(query, 50)
        )

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return list(self.search(query_bundle.query_str))


@cache
def bm25(corpus: str, domain: str) -> Bm25Retriever:
    """Return BM25 over one domain of a corpus, for example ``kdconv_zh_corpus``; KdConv's ids begin with it."""
    return Bm25Retriever([row for row in load(corpus) if row.get("domain", row["id"].split("/")[0]) == domain])
