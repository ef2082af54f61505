"""What several queries cost: time of turns, of four queries, of planning and fusion, and nodes held."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from statistics import median

from _data import table
from llama_index.core import Settings
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, CompletionResponse
from llama_index.core.chat_engine import CondenseQuestionChatEngine
from llama_index.core.llms.mock import MockLLM
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from llama_index_condense_plus import CondensePlusChatEngine, CondensePlusSettings
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
UNCACHED = CondensePlusSettings(cache={"enabled": False})
MARK = "zzpassage"
"""What every passage holds, by which the model tells an answer call from a rewrite."""
POINTS, TOP_K = 1_000_000, 10


class SlowLLM(MockLLM):
    """Rewrites in 300 ms; answers at once."""

    def complete(self, prompt: str, formatted: bool = False, **kwargs: object) -> CompletionResponse:  # noqa: ARG002
        if MARK not in prompt:
            time.sleep(REWRITE_S)
            return CompletionResponse(text=STANDALONE)
        return CompletionResponse(text="Two years.")

    async def acomplete(self, prompt: str, formatted: bool = False, **kwargs: object) -> CompletionResponse:
        if MARK not in prompt:
            await asyncio.sleep(REWRITE_S)
            return CompletionResponse(text=STANDALONE)
        return self.complete(prompt, formatted, **kwargs)

    async def achat(self, messages: Sequence[ChatMessage], **kwargs: object) -> ChatResponse:
        prompt = self.messages_to_prompt(messages)
        done = await self.acomplete(prompt, formatted=True, **kwargs)
        return ChatResponse(message=ChatMessage(content=done.text, role="assistant"))


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
            NodeWithScore(node=TextNode(text=f"{MARK} {start + i}", id_=str(start + i)), score=1 - i / 100)
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


def _side_by_side(ours: Callable[[], object], base: Callable[[], object], rounds: int) -> tuple[float, float]:
    """Return the median times of two calls made in turn, so that the machine's other work hits both alike."""
    times = [(_median_time(ours, 1), _median_time(base, 1)) for _ in range(rounds)]
    return median(one for one, _ in times), median(other for _, other in times)


def _turns(rounds: int) -> list[tuple[str, float, float]]:
    history = [ChatMessage(content=text, role=role) for role, text in TALK]
    engine = RetrieverQueryEngine.from_args(SlowRetriever(), llm=Settings.llm)
    stock = CondenseQuestionChatEngine.from_defaults(engine, llm=Settings.llm)
    ours = CondensePlusChatEngine.from_defaults(engine, llm=Settings.llm, settings=UNCACHED)
    with closing(asyncio.new_event_loop()) as loop:
        sync = _side_by_side(lambda: ours.chat(FOLLOW_UP, history), lambda: stock.chat(FOLLOW_UP, history), rounds)
        both = _side_by_side(
            lambda: loop.run_until_complete(ours.achat(FOLLOW_UP, history)),
            lambda: loop.run_until_complete(stock.achat(FOLLOW_UP, history)),
            rounds,
        )
    return [
        ("a turn, dual against the stock engine, sync (limit 1.02)", *sync),
        ("a turn, dual against the stock engine, async (limit 1.02)", *both),
    ]


def _plan(queries: int) -> QueryPlan:
    return QueryPlan(tuple(PlannedQuery(f"query {i}", QueryRole.VARIANT) for i in range(queries)))


def _four_queries(rounds: int) -> list[tuple[str, float, float]]:
    one, four = (PlanRetriever(SlowRetriever(), plan=_plan(n)) for n in (1, 4))
    with closing(asyncio.new_event_loop()) as loop:
        sync = _side_by_side(lambda: four.retrieve("query 0"), lambda: one.retrieve("query 0"), rounds)
        both = _side_by_side(
            lambda: loop.run_until_complete(four.aretrieve("query 0")),
            lambda: loop.run_until_complete(one.aretrieve("query 0")),
            rounds,
        )
    return [
        ("four queries against one, sync (limit 1.15)", *sync),
        ("four queries against one, async (limit 1.15)", *both),
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
