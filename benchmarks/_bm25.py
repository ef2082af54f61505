"""BM25 as a LlamaIndex retriever, one index for each domain of a corpus: bm25s over words and character pairs."""

from __future__ import annotations

import re
from functools import cache

import bm25s
from bm25s.stopwords import STOPWORDS_EN
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from benchmarks._data import passages

_RUN = re.compile(r"[\u4e00-\u9fff]+|[a-z0-9]+")
_STOP = frozenset(STOPWORDS_EN)


def terms(text: str) -> list[str]:
    """Return the character pairs of Chinese stretches, and lower-cased words without English stop words."""
    found: list[str] = []
    for run in _RUN.findall(text.lower()):
        is_word = run.isascii() or len(run) == 1
        found += [run] * (run not in _STOP) if is_word else [run[i : i + 2] for i in range(len(run) - 1)]
    return found


class Bm25Retriever(BaseRetriever):
    """Searches one domain of a corpus; what it found for a query is kept."""

    def __init__(self, rows: list[tuple[str, str]], similarity_top_k: int = 10) -> None:
        super().__init__()
        self.similarity_top_k = similarity_top_k
        self._nodes = [TextNode(id_=name, text=text) for name, text in rows]
        self._index = bm25s.BM25()
        self._index.index([terms(text) for _, text in rows], show_progress=False)
        self._known: dict[str, list[NodeWithScore]] = {}

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        query = query_bundle.query_str
        if query not in self._known:
            asked = [term for term in terms(query) if term in self._index.vocab_dict]
            k = min(self.similarity_top_k, len(self._nodes))
            found = self._index.retrieve([asked], k=k, show_progress=False) if asked else None
            pairs = zip(found.documents[0], found.scores[0], strict=True) if found else ()
            self._known[query] = [NodeWithScore(node=self._nodes[at], score=float(s)) for at, s in pairs if s > 0]
        return list(self._known[query])


@cache
def bm25(corpus: str, domain: str) -> Bm25Retriever:
    """Return BM25 over one domain of a corpus, for example ``kdconv_zh_corpus``."""
    return Bm25Retriever(passages(corpus, domain))
