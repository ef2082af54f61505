"""Holds many streaming conversations at once and looks for errors, crossings and the engine's own share.

Each conversation carries a secret word. The model, a fake OpenAI-compatible server in a process of its own with a
fixed latency, repeats every secret word of its prompt, so that a word of somebody else's in an answer shows a crossing.

The engine's own share of a turn is the processor time of its flow, on its thread: everything that it decides, builds
and checks between asking for the memory, a model call, a search or the answer. Beside it stands the processor time of
the whole process by turn, the OpenAI client and LlamaIndex included.
"""

from __future__ import annotations

import argparse
import asyncio
import contextvars
import statistics
import time
from typing import Any

from _data import table
from _server import running
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from llama_index.llms.openai_like import OpenAILike

from llama_index_condense_plus import CondensePlusChatEngine, chat_engine
from llama_index_condense_plus.turn.drivers import adrive

MESSAGES = (
    "My secret word is {secret}. When is Falkner Hut open?",
    "And how many people can sleep there?",
    "那它的价格呢？",
    "What about the second one?",
    "Where can I rent a Pelican bike?",
)
REWRITES = {
    MESSAGES[1]: "How many people can sleep in Falkner Hut?",
    MESSAGES[2]: "Falkner Hut 的价格是多少？",
    MESSAGES[3]: "What about Falkner Hut?",
}
PASSAGES = (
    "Falkner Hut is open from June to September.",
    "Falkner Hut has 40 beds.",
    "The Pelican costs 20 euros a day.",
)
_share: contextvars.ContextVar[list[float]] = contextvars.ContextVar("share")


class Passages(BaseRetriever):
    """Finds the same passages at once, so that no search is counted."""

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        del query_bundle
        return [NodeWithScore(node=TextNode(text=t, id_=str(i)), score=1.0 - i / 10) for i, t in enumerate(PASSAGES)]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return self._retrieve(query_bundle)


class TimedFlow:
    """A flow whose steps are timed."""

    def __init__(self, flow: Any) -> None:
        self.flow = flow
        self.close = flow.close

    def __next__(self) -> Any:
        return self._timed(self.flow.__next__)

    def send(self, value: Any) -> Any:
        """Go on, timed."""
        return self._timed(self.flow.send, value)

    def throw(self, error: BaseException) -> Any:
        """Go on with an error, timed."""
        return self._timed(self.flow.throw, error)

    @staticmethod
    def _timed(step: Any, *values: Any) -> Any:
        began = time.thread_time()
        try:
            return step(*values)
        finally:
            _share.get().append(time.thread_time() - began)


async def converse(engine: CondensePlusChatEngine, number: int, found: dict[str, list[Any]]) -> None:
    """Hold one conversation; note shares, errors, crossings and lost words."""
    secret = f"zq{number:05}x"
    for text in MESSAGES:
        _share.set([])
        began = time.perf_counter()
        try:
            response = await engine.astream_chat(text.format(secret=secret))
            first = time.perf_counter() - began
            answer = "".join([piece async for piece in response.async_response_gen()])
        except Exception as error:  # noqa: BLE001 - counted
            found["errors"].append(repr(error))
            continue
        found["shares"].append(sum(_share.get()))
        found["firsts"].append(first)
        words = {word for word in answer.split() if word.startswith("zq")}
        found["crossings"] += [word for word in words if word != secret]
        found["lost"] += [] if secret in words else [secret]
    if len(engine.chat_history) != 2 * len(MESSAGES):
        found["errors"].append("history of the wrong length")


async def load(n: int, api_base: str) -> dict[str, list[Any]]:
    """Hold ``n`` conversations at once."""
    llm = OpenAILike(model="fake", api_base=api_base, api_key="none", is_chat_model=True, max_retries=0, timeout=120)
    query_engine = RetrieverQueryEngine.from_args(Passages(), llm=llm)
    memory = ChatMemoryBuffer.from_defaults(token_limit=100_000)
    base = CondensePlusChatEngine.from_defaults(query_engine, memory=memory, llm=llm)
    base.warm_up()
    found: dict[str, list[Any]] = {name: [] for name in ("errors", "crossings", "lost", "shares", "firsts")}
    await asyncio.gather(*(converse(base.for_conversation(f"c{i}"), i, found) for i in range(n)))
    return found


def main() -> None:
    """Run the load and print what was seen."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--conversations", type=int, default=200)
    arguments.add_argument("--latency", type=float, default=0.1, help="seconds of each model call")
    arguments.add_argument("--quick", action="store_true", help="20 conversations")
    given = arguments.parse_args()
    n = 20 if given.quick else given.conversations
    chat_engine.adrive = lambda flow: adrive(TimedFlow(flow))  # type: ignore[assignment,arg-type]
    with running() as server:
        server.configure(rewrite_s=given.latency, answer_s=given.latency, rewrites=REWRITES, echo=r"zq\d{5}x")
        began, used = time.perf_counter(), time.process_time()
        found = asyncio.run(load(n, server.api_base))
        took, used = time.perf_counter() - began, time.process_time() - used
    n_turns, shares = n * len(MESSAGES), sorted(found["shares"])
    rows = [
        ["conversations × turns", f"{n} × {len(MESSAGES)}", ""],
        ["errors", len(found["errors"]), "0"],
        ["crossings", len(found["crossings"]), "0"],
        ["answers without their own word", len(found["lost"]), "0"],
        ["own share, median ms", f"{statistics.median(shares) * 1e3:.1f}", ""],
        ["own share, p95 ms", f"{shares[int(0.95 * len(shares))] * 1e3:.1f}", "≤ 30"],
        ["process, ms a turn", f"{used / n_turns * 1e3:.1f}", ""],
        ["turns a second", f"{n_turns / took:.0f}", ""],
        ["stream begins after, median s", f"{statistics.median(found['firsts']):.2f}", ""],
    ]
    table("Many conversations at once", ["", "measured", "wanted"], rows)
    for error in sorted(set(found["errors"]))[:5]:
        print(error)


if __name__ == "__main__":
    main()
