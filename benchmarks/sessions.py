"""Measures what a conversation costs: what is held once it is over, its time and memory, and how both grow.

The engine's own share is the processor time of a turn without the model, the retriever and the
memory's reading and writing.
"""

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
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.llms import MockLLM
from llama_index.core.memory import BaseMemory, ChatMemoryBuffer, Memory
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from llama_index.core.storage.chat_store import SimpleChatStore

from benchmarks._data import table
from llama_index_condense_plus import CondensePlusChatEngine, CondensePlusSettings

FOLLOW_UPS = (
    "And how long does it take?",
    "那它的价格呢？",
    "What about the second one?",
    "Where can I get the Kestrel K7?",
)
ANSWER = "The Kestrel K{i} costs {price} euros. Falkner & Sons sell it:\n1. in blue, K{i}-B\n2. in red, K{i}-R"


class TimedMemory(ChatMemoryBuffer):
    """Adds up the time that it takes itself."""

    spent_s: float = 0.0

    def get(self, *args: Any, **kwargs: Any) -> list[ChatMessage]:
        """Read, timed."""
        return self._timed(lambda: super(TimedMemory, self).get(*args, **kwargs))  # type: ignore[no-any-return]

    def put_messages(self, messages: list[ChatMessage]) -> None:
        """Write, timed."""
        self._timed(lambda: super(TimedMemory, self).put_messages(messages))

    def _timed(self, call: Callable[[], Any]) -> Any:
        began = time.thread_time()
        try:
            return call()
        finally:
            self.spent_s += time.thread_time() - began


class OneNode(BaseRetriever):
    """Finds the same passage at once."""

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:  # noqa: ARG002
        return [NodeWithScore(node=TextNode(text="The Kestrel K7 costs 99 euros.", id_="n"), score=1.0)]


def make_engine() -> CondensePlusChatEngine:
    """Return an engine whose parts take no time."""
    llm = MockLLM(max_tokens=8)
    settings = CondensePlusSettings(cache={"enabled": False}, rewrite={"chain": ["rules", "original"]})
    query_engine = RetrieverQueryEngine.from_args(OneNode(), llm=llm)
    memory = TimedMemory.from_defaults(token_limit=10**9)
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


def shares(sizes: tuple[int, ...], repeats: int) -> list[list[str]]:
    """Return the engine's own share by history length; the sizes take turns, so that a busy machine hits all alike."""
    engine, engines = make_engine(), {}
    for size in sizes:
        history = []
        for i in range(size // 2):
            asked = f"What does the Kestrel K{i} cost, and who sells it in Basel?"
            history += [
                ChatMessage(content=asked),
                ChatMessage(role="assistant", content=ANSWER.format(i=i, price=i + 90)),
            ]
        store = SimpleChatStore()
        memory = TimedMemory.from_defaults(
            chat_history=history, token_limit=10**9, chat_store=store, chat_store_key=str(size)
        )
        engines[size] = engine.for_conversation(memory), memory, history
    spent: dict[int, list[float]] = {size: [] for size in sizes}
    for question in FOLLOW_UPS * repeats:
        for size, (one, memory, history) in engines.items():
            memory.spent_s, began = 0.0, time.thread_time()
            one.chat(question)
            spent[size].append((time.thread_time() - began - memory.spent_s) * 1e3)
            memory.set(history)
    medians = {size: statistics.median(times) for size, times in spent.items()}
    return [
        [f"{size:,}", f"{median:.2f}", f"{min(spent[size]):.2f}", f"{median / medians[sizes[0]]:.2f}"]
        for size, median in medians.items()
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
    arguments.add_argument("--repeats", type=int, default=25)
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
    heads = ["messages", "own share, median ms", "least ms", "× the 10-message one"]
    table("What a turn costs as the history grows", heads, shares((10, 100, 1000), given.repeats))


if __name__ == "__main__":
    main()
