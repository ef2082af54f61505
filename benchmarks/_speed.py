"""What several queries cost: time of turns, of four queries, of planning and fusion, and nodes held."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from statistics import median

from _data import table
from llama_index.core import Settings
from llama_index.core.base.llms.types import ChatMessage, CompletionResponse
from llama_index.core.chat_engine import CondenseQuestionChatEngine
from llama_index.core.llms.mock import MockLLM
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from llama_index_condense_plus import CondensePlusChatEngine
from llama_index_condense_plus.retrieval.fusion import FUSION_METHODS, fuse
from llama_index_condense_plus.retrieval.plan import DefaultQueryPlanner
from llama_index_condense_plus.retrieval.retriever import PlanRetriever
from llama_index_condense_plus.settings.sections import FusionSettings
from llama_index_condense_plus.types import (
    HistoryWindow,
    PlannedQuery,
    QueryPlan,
    QueryRole,
    RankedList,
    RewriteResult,
    RewriteStatus,
    WindowMessage,
)

REWRITE_S, RETRIEVE_S = 0.3, 0.05
TALK = (("user", "How much is the GTE-3000?"), ("assistant", "It is 2,999."))
FOLLOW_UP, STANDALONE = "what about its warranty?", "What about the warranty of the GTE-3000?"
POINTS, TOP_K = 1_000_000, 10


class SlowLLM(MockLLM):
    """Rewrites in 300 ms; answers at once."""

    def complete(self, prompt: str, formatted: bool = False, **kwargs: object) -> CompletionResponse:  # noqa: ARG002
        if "warranty" in prompt and "context" not in prompt.lower():
            time.sleep(REWRITE_S)
            return CompletionResponse(text=STANDALONE)
        return CompletionResponse(text="Two years.")

    async def acomplete(self, prompt: str, formatted: bool = False, **kwargs: object) -> CompletionResponse:
        if "warranty" in prompt and "context" not in prompt.lower():
            await asyncio.sleep(REWRITE_S)
            return CompletionResponse(text=STANDALONE)
        return self.complete(prompt, formatted, **kwargs)


class SlowRetriever(BaseRetriever):
    """Takes 50 ms; a synthetic collection of a million points, made up as they are found."""

    similarity_top_k = TOP_K

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        time.sleep(RETRIEVE_S)
        return self._nodes(query_bundle)

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        await asyncio.sleep(RETRIEVE_S)
        return self._nodes(query_bundle)

    def _nodes(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        start = hash(query_bundle.query_str) % POINTS
        return [
            NodeWithScore(node=TextNode(text=f"passage {start + i}", id_=str(start + i)), score=1 - i / 100)
            for i in range(self.similarity_top_k)
        ]


def speed(rounds: int = 15) -> None:
    """Print what several queries cost."""
    Settings.llm = SlowLLM()
    rows = [(*row, f"{row[-2] / row[-1]:.3f}") for row in (*_turns(rounds), *_four_queries(rounds))]
    table(
        f"Wall time, p50 of {rounds}: rewrite {REWRITE_S * 1000:.0f} ms, retriever {RETRIEVE_S * 1000:.0f} ms",
        ("", "ours, ms", "baseline, ms", "ratio"),
        [(name, f"{ours * 1000:.1f}", f"{base * 1000:.1f}", ratio) for name, ours, base, ratio in rows],
    )
    table("Planning and fusion of 4 × 100 nodes, p50 of 200 (limit 1 ms)", ("method", "ms"), _fusion())
    table(
        f"Nodes held by a turn over {POINTS:,} points, top_k {TOP_K} (limit 4 × top_k)", ("queries", "nodes"), _held()
    )


def _median_time(call: Callable[[], object], rounds: int) -> float:
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return median(times)


def _turns(rounds: int) -> list[tuple[str, float, float]]:
    history = [ChatMessage(content=text, role=role) for role, text in TALK]
    engine = RetrieverQueryEngine.from_args(SlowRetriever(), llm=Settings.llm)
    stock = CondenseQuestionChatEngine.from_defaults(engine, llm=Settings.llm)
    ours = CondensePlusChatEngine.from_defaults(engine, llm=Settings.llm, settings={"cache": {"enabled": False}})
    loop = asyncio.new_event_loop()
    sync = [_median_time(lambda e=e: e.chat(FOLLOW_UP, history), rounds) for e in (ours, stock)]  # type: ignore[misc]
    both = [
        _median_time(lambda e=e: loop.run_until_complete(e.achat(FOLLOW_UP, history)), rounds)  # type: ignore[misc]
        for e in (ours, stock)
    ]
    loop.close()
    return [
        ("a turn, dual against the stock engine, sync (limit 1.02)", sync[0], sync[1]),
        ("a turn, dual against the stock engine, async (limit 1.02)", both[0], both[1]),
    ]


def _plan(queries: int) -> QueryPlan:
    return QueryPlan(tuple(PlannedQuery(f"query {i}", QueryRole.VARIANT) for i in range(queries)))


def _four_queries(rounds: int) -> list[tuple[str, float, float]]:
    loop = asyncio.new_event_loop()
    one, four = (PlanRetriever(SlowRetriever(), plan=_plan(n)) for n in (1, 4))
    sync = [_median_time(lambda r=r: r.retrieve("query 0"), rounds) for r in (four, one)]  # type: ignore[misc]
    both = [
        _median_time(lambda r=r: loop.run_until_complete(r.aretrieve("query 0")), rounds)  # type: ignore[misc]
        for r in (four, one)
    ]
    loop.close()
    return [
        ("four queries against one, sync (limit 1.15)", sync[0], sync[1]),
        ("four queries against one, async (limit 1.15)", both[0], both[1]),
    ]


def _fusion() -> list[tuple[str, str]]:
    nodes = [TextNode(id_=str(i), text=f"passage {i}") for i in range(250)]
    lists = [
        RankedList(query, tuple(NodeWithScore(node=nodes[i * (at + 3) % 250], score=1 - i / 100) for i in range(100)))
        for at, query in enumerate(_plan(4).queries)
    ]
    window = HistoryWindow(messages=tuple(WindowMessage(role, text, text) for role, text in TALK))
    result = RewriteResult(FOLLOW_UP, STANDALONE, RewriteStatus.REWRITTEN)
    planner = DefaultQueryPlanner()
    rows = []
    for method in FUSION_METHODS:
        settings = FusionSettings(method=method)

        def work(settings: FusionSettings = settings) -> None:
            planner.plan(result, window)
            fuse(lists, settings, 400)

        rows.append((method, f"{_median_time(work, 200) * 1000:.2f}"))
    return rows


def _held() -> list[tuple[str, int]]:
    rows = []
    for queries in (1, 2, 3, 4):
        held: list[int] = []
        plan = PlanRetriever(
            SlowRetriever(),
            plan=_plan(queries),
            for_postprocessors=True,
            observe=lambda lists, held=held: held.append(sum(len(ranked.nodes) for ranked in lists)),  # type: ignore[misc]
        )
        found = plan.retrieve("query 0")
        rows.append((str(queries), max(held[0], len(found))))
    return rows
