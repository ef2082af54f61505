"""Measures what a conversation costs: what is held once it is over, and its time and memory."""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
import statistics
import tempfile
import threading
import time
import tracemalloc
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.llms import MockLLM
from llama_index.core.memory import BaseMemory, ChatMemoryBuffer, Memory
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from benchmarks._data import table
from llama_index_condense_plus import CondensePlusChatEngine, CondensePlusSettings


class OneNode(BaseRetriever):
    """Finds the same passage at once."""

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:  # noqa: ARG002
        return [NodeWithScore(node=TextNode(text="The Kestrel K7 costs 99 euros.", id_="n"), score=1.0)]


def make_engine() -> CondensePlusChatEngine:
    """Return an engine whose parts take no time."""
    llm = MockLLM(max_tokens=8)
    settings = CondensePlusSettings(cache={"enabled": False}, rewrite={"chain": ["rules", "original"]})
    query_engine = RetrieverQueryEngine.from_args(OneNode(), llm=llm)
    memory = ChatMemoryBuffer.from_defaults(token_limit=10**9)
    return CondensePlusChatEngine.from_defaults(query_engine, memory=memory, llm=llm, settings=settings)


def creation(n: int) -> list[str]:
    """Return what one of ``n`` live conversations costs."""
    engine = make_engine()
    engine.for_conversation("warm")
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    live = [engine.for_conversation(f"m{i}") for i in range(n)]
    size = (tracemalloc.get_traced_memory()[0] - before) / n
    tracemalloc.stop()
    times = []
    for i in range(n):
        began = time.perf_counter()
        live.append(engine.for_conversation(f"t{i}"))
        times.append((time.perf_counter() - began) * 1e6)
    return [
        f"{n:,}",
        f"{statistics.median(times):.0f}",
        f"{statistics.quantiles(times, n=20)[-1]:.0f}",
        f"{size / 1e3:.1f}",
    ]


def holdings() -> tuple[int, int, int]:
    """Return this process's threads, open descriptors and resident kB."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    descriptors = len(list(Path("/proc/self/fd").iterdir()))
    return threading.active_count(), descriptors, pages * os.sysconf("SC_PAGE_SIZE") // 1024


async def holding(kind: str, stops: tuple[int, ...], uri: str | None) -> list[list[str]]:
    """Return what the process holds after so many conversations of one turn, each with a memory object of its own."""
    engine, rows = make_engine(), []
    for i in range(1, max(stops) + 1):
        memory: BaseMemory = ChatMemoryBuffer.from_defaults()
        if uri is not None:
            memory = Memory.from_defaults(session_id=f"s{i}", async_database_uri=uri)
        await engine.for_conversation(memory).achat("Where can I get the Kestrel K7?")
        if i in stops:
            rows.append([kind, f"{i:,}", *(f"{number:,}" for number in holdings())])
    return rows


def held(kind: str, stops: tuple[int, ...], uri: str | None) -> list[list[str]]:
    """Run ``holding``: in a process of its own, so that what was held before counts for nobody else."""
    return asyncio.run(holding(kind, stops, uri))


def main() -> None:
    """Print the tables."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--conversations", type=int, default=10_000)
    arguments.add_argument("--hold", type=int, nargs="+", default=[500, 5000], help="conversations to look after")
    arguments.add_argument("--postgres", help="an async database URI, postgresql+asyncpg://…")
    arguments.add_argument("--only-held", action="store_true", help="print what is held, and no times")
    given = arguments.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        uris = {"buffer": None, "SQLite file": f"sqlite+aiosqlite:///{folder}/chat.db", "PostgreSQL": given.postgres}
        for kind, uri in uris.items():
            if kind == "buffer" or uri:
                with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
                    rows += pool.submit(held, kind, tuple(given.hold), uri).result()
    heads = ["memory", "conversations", "threads", "descriptors", "resident kB"]
    table("What is held when conversations are over", heads, rows)
    if given.only_held:
        return
    heads = ["live conversations", "median µs", "p95 µs", "kB each"]
    table("What a conversation costs", heads, [creation(given.conversations)])


if __name__ == "__main__":
    main()
