"""Sixty turns with a real model behind any OpenAI-compatible server: is what was said in turn 2 still known at turn 60?

    CONDENSE_PLUS_LLM_URL=http://127.0.0.1:8000/v1 python -m benchmarks.summary [--turns 60] [--language zh]

The model rewrites and summarises; answers quote the passage that was found, so that the run stays short. Printed are
what the last question was searched with, the largest prompts, and how often each message was summarised.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import sys
from collections import Counter
from collections.abc import Sequence
from typing import Any

import httpx
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, CompletionResponse, LLMMetadata
from llama_index.core.llms import CustomLLM
from llama_index.core.memory import Memory
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from llama_index.llms.openai_like import OpenAILike
from pydantic import PrivateAttr

from benchmarks._data import table
from llama_index_condense_plus import CondensePlusChatEngine, CondensePlusSettings
from llama_index_condense_plus.lexicons.text import fold
from llama_index_condense_plus.memory.summary import summary_block
from llama_index_condense_plus.rewriting.cutting import estimate_tokens
from llama_index_condense_plus.turn import keeping

NAMES = ("Kestrel K7", "Heron H2", "Osprey O5", "Pelican P1", "Merlin M9", "Plover L3", "Gannet G4", "Avocet A8")
TEXTS = {
    "en": {
        "hello": ("Hello, I am looking for a drone for my farm.", "Welcome. What do you want to know?"),
        "price": ("How much does the {name} cost?", "The {name} costs {n} euros."),
        "range": ("How far does the {name} fly on one charge?", "The {name} flies {n} kilometres on one charge."),
        "warranty": ("How long is the warranty of the {name}?", "The warranty of the {name} is {n} months."),
        "noise": ("How loud is the {name} in flight?", "In flight, the {name} is {n} decibels loud."),
        "weight": ("How heavy is the {name}?", "The {name} has a weight of {n} grams; it is {n} grams heavy."),
        "last": "And how heavy is that first model you mentioned?",
    },
    "zh": {
        "hello": ("你好，我想给农场买一架无人机。", "欢迎。想了解什么？"),
        "price": ("{name} 多少钱？", "{name} 的价格是 {n} 欧元，多少钱都不议价。"),
        "range": ("{name} 充一次电能飞多远？", "{name} 充一次电能飞 {n} 公里。"),
        "warranty": ("{name} 的保修期是多久？", "{name} 的保修期是 {n} 个月。"),
        "noise": ("{name} 飞行时的噪音有多大？", "{name} 飞行时的噪音是 {n} 分贝。"),
        "weight": ("{name} 有多重？", "{name} 有多重？重量是 {n} 克，含电池。"),
        "last": "最早说的那一款有多重？",
    },
}
ASKED = ("price", "range", "warranty", "noise")
SUMMARY_CHARS = 1200
"""The cap of a summary, in characters (``summary.max_chars``)."""
REFRESH_S = 180.0
"""How long a refresh of the summary is waited for, in seconds."""


class Words(BaseRetriever):
    """Finds the passages that share most pairs of characters with a query."""

    def __init__(self, texts: dict[str, Any]) -> None:
        super().__init__()
        facts = [(name, kind) for name in NAMES for kind in (*ASKED, "weight")]
        self.passages = {f"{n}/{k}": texts[k][1].format(name=n, n=17 * i + 20) for i, (n, k) in enumerate(facts)}

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        asked = _pairs(query_bundle.query_str)
        scores = {key: float(len(asked & _pairs(text))) for key, text in self.passages.items()}
        best = sorted(scores, key=lambda key: -scores[key])[:3]
        return [NodeWithScore(node=TextNode(text=self.passages[key], id_=key), score=scores[key]) for key in best]


def _pairs(text: str) -> set[str]:
    folded = fold(text)
    return {folded[i : i + 2] for i in range(len(folded) - 1)}


class Quoting(CustomLLM):
    """Answers with the first passage."""

    @property
    def metadata(self) -> LLMMetadata:
        """Describe the model."""
        return LLMMetadata(model_name="quoting")

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        """Quote what stands first in the context."""
        del formatted, kwargs
        return CompletionResponse(text=prompt.split("---------------------\n")[1].split("\n", 1)[0])

    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:
        """Return the whole in one piece."""
        yield self.complete(prompt, formatted, **kwargs)


class Recording(OpenAILike):
    """Keeps the prompts of its chat calls."""

    _prompts: list[str] = PrivateAttr(default_factory=list)

    async def achat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        """Ask, and keep the prompt."""
        self._prompts.append("\n".join(str(message.content) for message in messages))
        return await super().achat(messages, **kwargs)


async def converse(llm: Recording, language: str, n_turns: int) -> list[list[str]]:
    """Hold the conversation; return the table's lines."""
    texts = TEXTS[language]
    memory = Memory.from_defaults(session_id="long", token_limit=1_000_000)
    settings = CondensePlusSettings(
        summary={"enabled": True, "max_chars": SUMMARY_CHARS}, rewrite={"timeout_s": 120}, cache={"enabled": False}
    )
    query_engine = RetrieverQueryEngine.from_args(Words(texts), llm=Quoting())
    engine = CondensePlusChatEngine.from_defaults(query_engine, memory=memory, llm=llm, settings=settings)
    block = summary_block(memory)
    assert block is not None
    facts = [(name, kind) for kind in ASKED for name in NAMES]
    asked = [texts[kind][0].format(name=name) for name, kind in (facts * 2)[: n_turns - 2]]
    hello, welcome = texts["hello"]
    await memory.aput_messages([ChatMessage(hello, role="user"), ChatMessage(welcome, role="assistant")])
    for message in asked:
        await engine.achat(message)
        if keeping._tasks:  # the refresh beside the turn
            await asyncio.wait(keeping._tasks, timeout=REFRESH_S)
    state, messages = await block.astate("long"), await memory.aget_all()
    before = len(llm._prompts)
    trace = engine.trace_of(await engine.achat(texts["last"]))
    assert trace is not None
    summaries = [prompt for prompt in llm._prompts if "<summary>" in prompt]
    rewrites = [prompt for prompt in llm._prompts if "<summary>" not in prompt]
    said = Counter(line for prompt in summaries for line in _lines(prompt))
    held = Counter(str(message.content) for message in messages[: state.n_messages])
    found = [node.node.node_id for node in trace.nodes]
    first = NAMES[0]
    code = fold(first.split()[-1])  # by which a model may name it, too
    print(f"Summary:\n{trace.window.summary}\n\n{texts['last']}")
    for attempt in trace.rewrite.attempts:
        print(
            f"  {attempt.rewriter}: {attempt.raw}",
            attempt.error,
            *(v.guard for v in attempt.verdicts if not v.passed),
            sep="  ",
        )
    return [
        ["turns, messages", f"{n_turns}, {len(messages) + 2}", ""],
        ["summarised messages", str(state.n_messages), f"≥ {2 * n_turns - 18}"],
        ["of these, not summarised exactly once", str(sum((held - said).values()) + sum((said - held).values())), "0"],
        ["requests for a summary", str(len(summaries)), ""],
        ["summary, characters", str(len(trace.window.summary)), f"≤ {SUMMARY_CHARS}"],
        ["largest prompt of a summary, tokens", str(max(map(estimate_tokens, summaries), default=0)), ""],
        ["largest prompt of a rewrite, tokens", str(max(map(estimate_tokens, rewrites), default=0)), "≤ 4096"],
        ["first model in the summary", str(code in fold(trace.window.summary)), "True"],
        ["the last question was rewritten", f"{trace.rewrite.status.value} by {trace.rewrite.rewriter}", "rewritten"],
        ["calls for it", str(len(llm._prompts) - before), ""],
        ["searched at the last turn", trace.search_query, f"names {first}"],
        ["fact of turn 2 resolved", str(code in fold(trace.search_query)), "True"],
        ["its passage was found first", str(found[:1] == [f"{first}/weight"]), "True"],
    ]


def _lines(prompt: str) -> list[str]:
    """Return the messages that a request for a summary shows."""
    conversation = prompt.rsplit("<conversation>\n", 1)[1].split("\n</conversation>", 1)[0]
    return re.split(r"(?:^|\n)(?:User: |Assistant: |用户：|助手：)", conversation)[1:]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=60)
    parser.add_argument("--language", choices=sorted(TEXTS), default="en")
    given = parser.parse_args()
    url = os.environ.get("CONDENSE_PLUS_LLM_URL")
    if not url:
        print("Set CONDENSE_PLUS_LLM_URL to an OpenAI-compatible server; nothing was measured.")
        sys.exit(0)
    served = httpx.get(f"{url.rstrip('/')}/models", timeout=30)
    name = served.json()["data"][0]["id"] if served.is_success else "default"
    llm = Recording(model=name, api_base=url, api_key="x", is_chat_model=True, context_window=8192, timeout=300.0)
    lines = asyncio.run(converse(llm, given.language, given.turns))
    table(f"A long conversation, {name}, {given.language}", ["", "measured", "wanted"], lines)


if __name__ == "__main__":
    main()
