"""What the retrieval tests share: nodes, lists, retrievers that behave badly, and an embedding without a model."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from pydantic import PrivateAttr

from llama_index_condense_plus.types import HistoryWindow, PlannedQuery, QueryRole, RankedList, WindowMessage


def node(node_id: str, score: float | None = None, text: str | None = None) -> NodeWithScore:
    return NodeWithScore(node=TextNode(id_=node_id, text=text or f"text of {node_id}"), score=score)


def ranked(
    *nodes: NodeWithScore,
    weight: float = 1.0,
    role: QueryRole = QueryRole.REWRITTEN,
    source: str = "",
    used: bool = True,
) -> RankedList:
    return RankedList(PlannedQuery(f"{role.value} {weight}", role, weight), nodes, source=source, used=used)


def window(*texts: str) -> HistoryWindow:
    roles = ("user", "assistant")
    return HistoryWindow(messages=tuple(WindowMessage(roles[i % 2], text, text) for i, text in enumerate(texts)))


class FakeRetriever(BaseRetriever):
    """Answers by a function of the query's words; notes what it was asked, in which thread."""

    def __init__(self, answer: Callable[[str], Sequence[NodeWithScore]], similarity_top_k: int | None = None) -> None:
        super().__init__()
        if similarity_top_k is not None:
            self.similarity_top_k = similarity_top_k
        self._answer = answer
        self.bundles: list[QueryBundle] = []
        self.threads: set[str] = set()

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        self.bundles.append(query_bundle)
        self.threads.add(threading.current_thread().name)
        return self._answer(query_bundle.query_str)  # type: ignore[return-value]


class SingleEmbedding(BaseEmbedding):
    """Embeds letters a to d; notes each call."""

    _calls: list[list[str]] = PrivateAttr(default_factory=list)

    @property
    def calls(self) -> list[list[str]]:
        return self._calls

    def _get_query_embedding(self, query: str) -> list[float]:
        self._calls.append([query])
        return vector(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_query_embedding(query)

    def _get_text_embedding(self, text: str) -> list[float]:
        return vector(text)


class BatchEmbedding(SingleEmbedding):
    """Can embed several queries at once."""

    def get_query_embedding_batch(self, texts: list[str]) -> list[list[float]]:
        self._calls.append(list(texts))
        return [vector(text) for text in texts]


def vector(text: str) -> list[float]:
    counts = [float(text.count(letter)) for letter in "abcd"]
    size = sum(x * x for x in counts) ** 0.5 or 1.0
    return [x / size for x in counts]
