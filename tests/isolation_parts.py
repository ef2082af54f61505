"""What the tests of isolation share: documents of two tenants and two years, and engines over them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from llama_index.core import MockEmbedding, VectorStoreIndex
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.schema import TextNode
from llama_index.core.vector_stores.types import MetadataFilter, MetadataFilters

from llama_index_condense_plus import CondensePlusChatEngine
from tests.conftest import FIRST_ROUND
from tests.fakes import ScriptedLLM

Make = Callable[..., CondensePlusChatEngine]
TENANTS, YEARS = ("north", "south"), (2024, 2025)
ALL = {(tenant, year) for tenant in TENANTS for year in YEARS}
EVERYTHING = MetadataFilters(filters=[])


def where(**equal: Any) -> MetadataFilters:
    return MetadataFilters(filters=[MetadataFilter(key=key, value=value) for key, value in equal.items()])


NORTH, NEW = where(tenant="north"), where(year=2025)


@pytest.fixture(scope="module")
def index() -> VectorStoreIndex:
    nodes = [
        TextNode(text=f"the GTE-3000 in {tenant} of {year} costs 99 euros", metadata={"tenant": tenant, "year": year})
        for tenant, year in sorted(ALL)
    ]
    return VectorStoreIndex(nodes, embed_model=MockEmbedding(8))


@pytest.fixture
def make(make_engine: Make, index: VectorStoreIndex, llm: ScriptedLLM) -> Make:
    def made(**options: Any) -> CondensePlusChatEngine:
        if "retrievers" not in options and "query_engine" not in options:
            options["query_engine"] = index.as_query_engine(llm=llm, similarity_top_k=4)
        return make_engine(**options)

    return made


def found(nodes: Any) -> set[tuple[str, int]]:
    return {(node.node.metadata["tenant"], node.node.metadata["year"]) for node in nodes}


def searched(reply: Any) -> set[tuple[str, int]]:
    """What every query of a turn found, the prefetched one included."""
    trace = reply.response.trace
    return found(trace.nodes).union(*(found(ranked.nodes) for ranked in trace.retrievals))


def conversation(engine: Any, **restriction: Any) -> Any:
    memory = ChatMemoryBuffer.from_defaults(chat_history=list(FIRST_ROUND), token_limit=9_000)
    return engine.for_conversation(memory, **restriction)
