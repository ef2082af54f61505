"""What the examples share: a small shop's passages, searched and answered without any key or download."""

from __future__ import annotations

from uuid import NAMESPACE_URL, uuid5

from llama_index.core import VectorStoreIndex
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import TextNode

from llama_index_condense_plus import CondensePlusSettings
from llama_index_condense_plus.demo.embedding import load_embedding
from llama_index_condense_plus.demo.quoting import QuoteSynthesizer

PASSAGES = {
    "kestrel-price": "The Kestrel drone costs 449 euros in the online shop.",
    "kestrel-warranty": "The warranty of the Kestrel drone is two years, batteries included.",
    "heron-price": "The Heron drone costs 899 euros in the online shop.",
    "heron-warranty": "The warranty of the Heron drone is three years, without the batteries.",
    "returns": "A drone can be returned within 30 days if its seal is unbroken.",
    "红隼-价格": "红隼无人机在网店的售价是 3499 元。",
    "红隼-保修": "红隼无人机的保修期为两年，电池也在内。",
    "苍鹭-价格": "苍鹭无人机在网店的售价是 6999 元。",
}
BY_RULES = CondensePlusSettings(rewrite={"chain": ["rules", "original"]})
"""Rewrites by rules, for there is no language model in the examples. Leave it out where you have one."""


def nodes() -> list[TextNode]:
    """Return the passages as nodes."""
    return [TextNode(id_=str(uuid5(NAMESPACE_URL, name)), text=text) for name, text in PASSAGES.items()]


def index() -> VectorStoreIndex:
    """Return an index over the passages; yours has an embedding model of your own."""
    return VectorStoreIndex(nodes(), embed_model=load_embedding())


def quoting(retriever: object, **kwargs: object) -> RetrieverQueryEngine:
    """Return a query engine that quotes the best passage; yours would be ``index.as_query_engine()``."""
    return RetrieverQueryEngine(retriever, QuoteSynthesizer(), **kwargs)  # type: ignore[arg-type]
