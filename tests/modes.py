"""The four entry points of a chat engine behind one face, so that each behaviour is tested in all of them."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from llama_index.core.chat_engine.types import BaseChatEngine, StreamingAgentChatResponse

PATIENCE = float(os.environ.get("TEST_PATIENCE", "1"))
"""Factor by which a busy machine may be slower before a test counts as hanging."""
LIMIT_S = 20.0 * PATIENCE
"""Longest that anything in a test may be waited for."""
_THREADS = ThreadPoolExecutor(64)
"""Of its own: a turn that waits must not take asyncio's threads from the others."""
MODES = ("chat", "achat", "stream_chat", "astream_chat")


@dataclass
class Reply:
    """What an entry point returned, read to its end."""

    text: str
    response: Any

    @property
    def query(self) -> str:
        return str(self.response.sources[0].raw_input["query"])

    @property
    def node_ids(self) -> list[str]:
        return [node.node.node_id for node in self.response.source_nodes]


@dataclass
class Mode:
    """One of the four entry points; asynchronous ones run on one event loop of their own."""

    name: str
    loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.new_event_loop)

    @property
    def is_async(self) -> bool:
        return self.name.startswith("a")

    @property
    def streams(self) -> bool:
        return "stream" in self.name

    def run(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        return self.loop.run_until_complete(asyncio.wait_for(coroutine, LIMIT_S))

    def begin(self, engine: BaseChatEngine, message: Any, *history: Any) -> Any:
        """Call the entry point; a stream is not read."""
        result = getattr(engine, self.name)(message, *history)
        return self.run(result) if self.is_async else result

    def read(self, response: Any) -> str:
        """Read a response to its end."""
        if not isinstance(response, StreamingAgentChatResponse):
            return str(response)
        if not self.is_async:
            return "".join(response.response_gen)

        async def read() -> str:
            return "".join([part async for part in response.async_response_gen()])

        return str(self.run(read()))

    def ask(self, engine: BaseChatEngine, message: Any, *history: Any) -> Reply:
        response = self.begin(engine, message, *history)
        return Reply(self.read(response), response)

    def wait_until(self, condition: Callable[[], bool]) -> None:
        """Let threads and tasks run until a condition holds; fails if it never does.

        The condition must not read LlamaIndex's default memory: a write may be under way on the loop, which stands
        still meanwhile, and the read would wait for it.
        """
        deadline = time.monotonic() + LIMIT_S
        while not condition():
            assert time.monotonic() < deadline, "waited in vain"
            if self.is_async:
                self.loop.run_until_complete(asyncio.sleep(0.005))
            else:
                time.sleep(0.005)

    def close(self) -> None:
        pending = asyncio.all_tasks(self.loop)
        for task in pending:
            task.cancel()
        if pending:
            self.loop.run_until_complete(asyncio.wait(pending, timeout=2))
        self.loop.close()


async def aask(engine: BaseChatEngine, name: str, message: str) -> Reply:
    """Call any of the four entry points from a task."""
    if name == "achat":
        response: Any = await engine.achat(message)
        return Reply(str(response), response)
    if name == "astream_chat":
        response = await engine.astream_chat(message)
        return Reply("".join([part async for part in response.async_response_gen()]), response)
    return await asyncio.get_running_loop().run_in_executor(_THREADS, Mode(name).ask, engine, message)


def in_thread(call: Callable[[], Any]) -> Callable[[], Any]:
    """Begin a call in a thread; the function returned waits for its result."""
    outcome: list[Any] = []

    def run() -> None:
        try:
            outcome.append((call(), None))
        except BaseException as error:  # noqa: BLE001 - raised again by whoever waits
            outcome.append((None, error))

    thread = threading.Thread(target=run, daemon=True)
    thread.start()

    def result() -> Any:
        thread.join(LIMIT_S)
        assert outcome, "the thread hangs"
        value, error = outcome[0]
        if error is not None:
            raise error
        return value

    return result


def said(engine: Any) -> list[tuple[str, str]]:
    """Return the stored conversation as (role, text) pairs."""
    return [(message.role.value, message.content) for message in engine.chat_history]
