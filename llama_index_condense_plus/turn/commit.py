"""Writing a turn: both messages together, once, or not at all; then its record, its log row, the summary."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Sequence
from enum import IntEnum

from llama_index.core.base.llms.types import ChatMessage, MessageRole

from llama_index_condense_plus import workers
from llama_index_condense_plus.flow import adrive, drive, keep_alive, twin, with_memory
from llama_index_condense_plus.memory.records import TurnRecord
from llama_index_condense_plus.memory.summary import RollingSummaryBlock, summary_block
from llama_index_condense_plus.observability.trace import CondenseTrace
from llama_index_condense_plus.operations import Flow
from llama_index_condense_plus.turn.conversation import Conversation
from llama_index_condense_plus.turn.lock import running_loop

logger: logging.Logger = logging.getLogger(__name__)


class _State(IntEnum):
    OPEN = 0
    WRITING = 1
    CLOSED = 2


class Commit:
    """The right to write one turn; it holds the conversation's lock until the turn is written or given up.

    Args:
        conversation: where the turn belongs.
        message: the user's words.
        stores: False: the caller keeps the history, and nothing is written.
        holds_lock: False: the lock is acquired when it comes to writing.
    """

    def __init__(self, conversation: Conversation, message: str, *, stores: bool, holds_lock: bool) -> None:
        self._conversation, self._stores, self._holds_lock = conversation, stores, holds_lock
        self._user = ChatMessage(role=MessageRole.USER, content=message)
        self._n_kept: int | None = None
        self._state = _State.OPEN
        self._is_stored = self._is_wiped = self._on_loop = False
        self._mutex = threading.Lock()
        self._loop = running_loop()
        self.trace: CondenseTrace | None = None
        """What is kept of the turn beside its messages; set before it is written."""
        self.after_turn: Callable[[CondenseTrace, Conversation], None] | None = None
        """Called with the trace once the turn is stored."""
        conversation.pending.add(self.abandon)

    @property
    def is_open(self) -> bool:
        """True until the turn is written or given up."""
        return self._state is _State.OPEN

    def replace_from(self, index: int, message: str) -> None:
        """Keep this many stored messages and replace what follows them, instead of appending."""
        self._n_kept = index
        self._user = ChatMessage(role=MessageRole.USER, content=message)

    def write(self, answer: str | None) -> Flow[None]:
        """Write the user's message and an answer; does nothing if the turn was given up.

        Raises:
            Exception: what the memory raises; the history is then as it was.
        """
        with self._mutex:
            is_first, self._state = self.is_open, max(self._state, _State.WRITING)
        if not is_first:
            return
        lock, pair = self._conversation.lock, [self._user, ChatMessage(role=MessageRole.ASSISTANT, content=answer)]
        try:
            if self._stores:
                if not self._holds_lock:
                    yield twin(lock, "acquire")
                    self._holds_lock = True
                yield twin(lock, "confirm")
                memory = self._conversation.memory
                yield with_memory(memory, lambda: drive(self._store(pair)), lambda: self._astore(pair))
        finally:
            self._close()
            if (self._is_stored or not self._stores) and not self._is_wiped:  # even if the caller was cancelled
                self._follow()

    def abandon(self) -> None:
        """Give the turn up: nothing is written, the next turn may run. Does nothing once the turn is closed."""
        with self._mutex:
            if not self.is_open:
                self._is_wiped = self._is_wiped or self._state is _State.WRITING
                return
            self._state = _State.WRITING
        self._close()

    def _close(self) -> None:
        with self._mutex:
            self._state = _State.CLOSED
            held, self._holds_lock = self._holds_lock, False
        self._conversation.pending.discard(self.abandon)
        if held and not (self._loop is not None and self._loop.is_closed()):  # the lock has passed itself on by then
            self._conversation.lock.release()

    async def _astore(self, pair: list[ChatMessage]) -> None:
        self._on_loop = True
        await adrive(self._store(pair))

    def _store(self, pair: list[ChatMessage]) -> Flow[None]:
        memory = self._conversation.memory
        if self._n_kept is not None:
            yield twin(memory, "set", [*(yield twin(memory, "get_all"))[: self._n_kept], *pair])
        else:
            try:
                yield twin(memory, "put_messages", pair)
            except Exception as error:
                stored = yield twin(memory, "get_all")
                if not _is_whole(stored, pair, error):
                    if _is_half(stored, pair):
                        yield twin(memory, "set", stored[:-1])
                    raise
        self._is_stored = True
        if self._is_wiped:
            yield twin(memory, "reset")
        elif self.trace is not None:
            yield from self._conversation.state.records.add(TurnRecord.of(self.trace))

    def _follow(self) -> None:
        """Do what may take longer, beside the next turn."""
        if self.trace is not None and self.after_turn is not None:
            self.after_turn(self.trace, self._conversation)
        block, refreshing = summary_block(self._conversation.memory), self._conversation.state.refreshing
        if block is None or not refreshing.acquire(blocking=False):
            return
        if self._on_loop:
            keep_alive(asyncio.get_running_loop().create_task(self._refresh(block)))
            return
        try:
            workers.spawn(lambda: asyncio.run(self._refresh(block)), "summary")
        except (workers.WorkersExhaustedError, RuntimeError) as error:
            refreshing.release()
            logger.warning("The summary was not refreshed: %s", type(error).__name__)

    async def _refresh(self, block: RollingSummaryBlock) -> None:
        try:
            await block.arefresh(self._conversation.memory, self._conversation.lock)  # type: ignore[arg-type]
        finally:
            self._conversation.state.refreshing.release()


def _is_whole(stored: Sequence[ChatMessage], pair: Sequence[ChatMessage], error: Exception) -> bool:
    """Return True if both messages are stored, and only what the memory did afterwards failed."""
    whole = [m.content for m in stored[-2:]] == [m.content for m in pair]
    if whole:
        logger.warning("The turn is stored, but the memory's upkeep failed: %s", type(error).__name__)
    return whole


def _is_half(stored: Sequence[ChatMessage], pair: Sequence[ChatMessage]) -> bool:
    return bool(stored) and stored[-1].role == MessageRole.USER and stored[-1].content == pair[0].content
