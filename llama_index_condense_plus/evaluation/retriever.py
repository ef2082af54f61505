"""A small lexical retriever, so that the evaluation runs on a bare install."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.callbacks import CallbackManager
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from llama_index_condense_plus.evaluation.cases import Passage
from llama_index_condense_plus.languages import pack_of

K1 = 1.5
B = 0.75
"""The usual constants of BM25 (Robertson and Zaragoza 2009)."""


class LexicalRetriever(BaseRetriever):
    """BM25 over content words; words of languages without spaces count by their character pairs too.

    Args:
        passages: the corpus.
        similarity_top_k: nodes returned for a query.
    """

    def __init__(self, passages: Sequence[Passage], *, similarity_top_k: int = 5) -> None:
        super().__init__(callback_manager=CallbackManager([]))
        self.similarity_top_k = similarity_top_k
        self._nodes = [TextNode(id_=p.id, text=f"{p.title}\n{p.text}" if p.title else p.text) for p in passages]
        counts = [Counter(terms(node.text)) for node in self._nodes]
        lengths = [sum(count.values()) for count in counts]
        mean = max(sum(lengths) / max(len(lengths), 1), 1.0)
        self._postings: dict[str, list[tuple[int, float]]] = defaultdict(list)
        for number, (count, length) in enumerate(zip(counts, lengths, strict=True)):
            for term, n in count.items():
                weight = n * (K1 + 1) / (n + K1 * (1 - B + B * length / mean))
                self._postings[term].append((number, weight))

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        scores: dict[int, float] = defaultdict(float)
        for term in dict.fromkeys(terms(query_bundle.query_str)):
            found = self._postings.get(term, ())
            idf = math.log(1 + (len(self._nodes) - len(found) + 0.5) / (len(found) + 0.5))
            for number, weight in found:
                scores[number] += idf * weight
        best = sorted(scores.items(), key=lambda item: (-item[1], item[0]))[: self.similarity_top_k]
        return [NodeWithScore(node=self._nodes[number], score=score) for number, score in best]


def terms(text: str) -> list[str]:
    """Return the terms of a text: its content words, and the character pairs of words written without spaces."""
    pack = pack_of(text)
    words = list(pack.content_words(text))
    if pack.joiner:
        return words
    return words + [word[i : i + 2] for word in words if not word.isascii() for i in range(len(word) - 2 + 1)]
