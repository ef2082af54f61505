"""Parts that fail or hang until they are let go."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

from llama_index.core.embeddings import MockEmbedding
from llama_index.core.memory import ChatMemoryBuffer
from pydantic import PrivateAttr

LONGEST_S = 20.0
"""A part that a test forgot to let go ends by itself."""


class Hang:
    """Holds callers up until it is let go; counts them."""

    def __init__(self) -> None:
        self.calls = 0
        self.let_go = threading.Event()

    def here(self) -> None:
        self.calls += 1
        self.let_go.wait(LONGEST_S)

    async def on_loop(self) -> None:
        self.calls += 1
        while not self.let_go.is_set():  # noqa: ASYNC110 - let go from a thread
            await asyncio.sleep(0.005)


class BadEmbedding(MockEmbedding):
    """Fails, or hangs, for every query."""

    _hang: Hang | None = PrivateAttr(default=None)

    def __init__(self, hang: Hang | None = None) -> None:
        super().__init__(embed_dim=4)
        self._hang = hang

    def _get_query_embedding(self, query: str) -> list[float]:
        if self._hang is None:
            raise ConnectionError("the embedding model is away")
        self._hang.here()
        return [1.0] * 4

    async def _aget_query_embedding(self, query: str) -> list[float]:
        if self._hang is None:
            raise ConnectionError("the embedding model is away")
        await self._hang.on_loop()
        return [1.0] * 4


class BadMemory(ChatMemoryBuffer):
    """Fails, or hangs, where it is told to: ``get`` or ``put``."""

    _fails: str = PrivateAttr(default="")
    _hang: Hang | None = PrivateAttr(default=None)

    def _go(self, place: str) -> None:
        if self._fails == place:
            raise ConnectionError("the chat store is away")

    async def _ago(self, place: str) -> None:
        self._go(place)
        if self._hang is not None and not self._hang.let_go.is_set():
            await self._hang.on_loop()

    def get(self, *args: Any, **kwargs: Any) -> Any:
        self._go("get")
        return super().get(*args, **kwargs)

    async def aget(self, *args: Any, **kwargs: Any) -> Any:
        await self._ago("get")
        return super().get(*args, **kwargs)

    def put_messages(self, messages: Any) -> None:
        self._go("put")
        super().put_messages(messages)

    async def aput_messages(self, messages: Any) -> None:
        self._go("put")
        super().put_messages(messages)


class BadCache:
    """A cache of the user's own that fails, or hangs."""

    def __init__(self, hang: Hang | None = None) -> None:
        self.hang = hang

    def get(self, key: str) -> str | None:
        return self._away()

    def set(self, key: str, value: str) -> None:
        self._away()

    async def aget(self, key: str) -> str | None:
        return await self._aaway()

    async def aset(self, key: str, value: str) -> None:
        await self._aaway()

    def _away(self) -> str | None:
        if self.hang is None:
            raise ConnectionError("the cache is away")
        self.hang.here()
        return None

    async def _aaway(self) -> str | None:
        if self.hang is None:
            raise ConnectionError("the cache is away")
        await self.hang.on_loop()
        return None


class BadDisk:
    """The rewrite log's file on a disk that is full, or hangs."""

    def __init__(self, hang: Hang | None = None) -> None:
        self.hang = hang

    def __call__(self, line: str) -> None:
        if self.hang is None:
            raise OSError(28, "No space left on device")
        self.hang.here()
