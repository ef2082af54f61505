"""Writing a turn: both messages together, once, or not at all; then its record, its topic, its log row, the summary."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from enum import Enum
from typing import Protocol

from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.memory import BaseMemory

from llama_index_condense_plus._compat import memories
from llama_index_condense_plus.protocols import TurnLock
from llama_index_condense_plus.turn.flow import Step, beside_loop, to_its_end
from llama_index_condense_plus.turn.lock import running_loop

logger = logging.getLogger(__name__)


class _State(Enum):
    OPEN = 0
    WRITING = 1
    CLOSED = 2


class Keeps(Protocol):
    """What happens around the writing of a turn; nothing of it may raise."""

    def keep(self) -> None:
        """Called under the lock, when the messages are stored."""
        ...

    async def akeep(self) -> None:
        """Called under the lock, when the messages are stored."""
        ...

    def follow(self, *, on_loop: bool) -> None:
        """Called when the next turn may run."""
        ...


class Commit:
    """The right to write one turn; it holds the conversation's lock until the turn is written or given up.

    Args:
        memory: where to.
        lock: the conversation's lock.
        message: the user's words.
        stores: False: nothing is written.
    """

    def __init__(self, memory: BaseMemory, lock: TurnLock, message: str, *, stores: bool = True) -> None:
        self._memory, self._stores, self.lock = memory, stores, lock
        self._user = ChatMessage(role=MessageRole.USER, content=message)
        self._n_kept: int | None = None
        self._state = _State.OPEN
        self._stored = self._wiped = self.holds_lock = False
        self._mutex = threading.Lock()
        self._loop = running_loop()
        self.on_closed: Callable[[Commit], None] = lambda _: None
        self.keeper: Keeps | None = None

    @property
    def is_open(self) -> bool:
        """True until the turn is written or given up."""
        return self._state is _State.OPEN

    def replace_from(self, index: int, message: str) -> None:
        """Keep this many stored messages and replace what follows them, instead of appending."""
        self._n_kept = index
        self._user = ChatMessage(role=MessageRole.USER, content=message)

    def writing(self, answer: str) -> Step:
        """Return the step that writes the turn."""
        message = ChatMessage(role=MessageRole.ASSISTANT, content=answer)
        return Step("memory", lambda: self.write(message), lambda: self.awrite(message))

    def write(self, answer: ChatMessage) -> None:
        """Write the user's message and an answer; does nothing if the turn was given up.

        Raises:
            Exception: what the memory raises; the history is then as it was.
        """
        if not self._begin():
            return
        try:
            if self._stores:
                if not self.holds_lock:
                    self.lock.acquire()
                    self.holds_lock = True
                self.lock.confirm()
                self._store([self._user, answer])
        finally:
            self._close()
            self._follow(on_loop=False)

    async def awrite(self, answer: ChatMessage) -> None:
        """Write like ``write``, without blocking the event loop."""
        if not self._begin():
            return
        try:
            if self._stores:
                if not self.holds_lock:
                    await self.lock.aacquire()
                    self.holds_lock = True
                await self.lock.aconfirm()
                pair = [self._user, answer]
                in_threads = memories.is_in_threads(self._memory)
                await to_its_end(beside_loop(lambda: self._store(pair)) if in_threads else self._astore(pair))
        finally:
            self._close()
            self._follow(on_loop=True)

    def abandon(self) -> None:
        """Give the turn up: nothing is written, the next turn may run. Does nothing once the turn is closed."""
        with self._mutex:
            if self._state is not _State.OPEN:
                self._wiped = self._wiped or self._state is _State.WRITING
                return
            self._state = _State.WRITING
        self._close()

    def _begin(self) -> bool:
        with self._mutex:
            is_first, self._state = self._state is _State.OPEN, max(self._state, _State.WRITING, key=lambda s: s.value)
            return is_first

    def _close(self) -> None:
        with self._mutex:
            self._state = _State.CLOSED
            held, self.holds_lock = self.holds_lock, False
        self.on_closed(self)
        if held and not (self._loop is not None and self._loop.is_closed()):  # the lock has passed itself on by then
            self.lock.release()

    def _follow(self, *, on_loop: bool) -> None:
        if self.keeper and (self._stored or not self._stores) and not self._wiped:  # even if the caller was cancelled
            self.keeper.follow(on_loop=on_loop)

    def _store(self, pair: list[ChatMessage]) -> None:
        if self._n_kept is not None:
            self._memory.set([*self._memory.get_all()[: self._n_kept], *pair])
        else:
            try:
                self._memory.put_messages(pair)
            except Exception as error:
                stored = self._memory.get_all()
                if not _is_whole(stored, pair, error):
                    if _is_half(stored, pair):
                        self._memory.set(stored[:-1])
                    raise
        self._stored = True
        if self._wiped:
            self._memory.reset()
        elif self.keeper:
            self.keeper.keep()

    async def _astore(self, pair: list[ChatMessage]) -> None:
        if self._n_kept is not None:
            await self._memory.aset([*(await self._memory.aget_all())[: self._n_kept], *pair])
        else:
            try:
                await self._memory.aput_messages(pair)
            except Exception as error:
                stored = await self._memory.aget_all()
                if not _is_whole(stored, pair, error):
                    if _is_half(stored, pair):
                        await self._memory.aset(stored[:-1])
                    raise
        self._stored = True
        if self._wiped:
            await self._memory.areset()
        elif self.keeper:
            await self.keeper.akeep()


def _is_whole(stored: Sequence[ChatMessage], pair: Sequence[ChatMessage], error: Exception) -> bool:
    """Return True if both messages are stored, and only what the memory did afterwards failed."""
    whole = [m.content for m in stored[-2:]] == [m.content for m in pair]
    if whole:
        logger.warning("The turn is stored, but the memory's upkeep failed: %s", type(error).__name__)
    return whole


def _is_half(stored: Sequence[ChatMessage], pair: Sequence[ChatMessage]) -> bool:
    return bool(stored) and stored[-1].role == MessageRole.USER and stored[-1].content == pair[0].content
