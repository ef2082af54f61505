"""RollingSummaryBlock: a memory block that keeps long conversations short, for LlamaIndex's Memory."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import asdict, replace
from typing import Any

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.llms.llm import LLM
from llama_index.core.memory import BaseMemoryBlock, Memory
from llama_index.core.storage.chat_store.base_db import MessageStatus
from llama_index.core.storage.kvstore.types import BaseKVStore
from pydantic import Field

from llama_index_condense_plus import _compat
from llama_index_condense_plus.flow import Step, in_worker, twin
from llama_index_condense_plus.memory.summarising import SummaryState, due, merged, rendered, request
from llama_index_condense_plus.protocols import TurnLock
from llama_index_condense_plus.rewriting.entities import DefaultEntityExtractor

logger: logging.Logger = logging.getLogger(__name__)

SUMMARIES = "condense_plus_summaries"
REFRESH_TIMEOUT_S = 180.0
"""How long one refresh may take, in seconds; then the old summary stays, and the next turn tries again. No turn waits
for it, and a small model on a processor takes a minute for a long backlog (``benchmarks/summary.py``)."""


class RollingSummaryBlock(BaseMemoryBlock[str]):
    """Summarises what is older than the last messages, a little after each turn.

    The engine calls ``arefresh`` once a turn is stored. What is summarised is archived in the chat store: it leaves
    the window of later turns and stays in ``get_all()``. One block serves every session of a store.
    """

    name: str = "conversation_summary"
    accept_short_term_memory: bool = False
    llm: Callable[[], LLM] = Field(exclude=True, description="Returns the model that summarises.")
    store: BaseKVStore = Field(exclude=True, description="Keeps summary and watermark, by session.")
    extractor: Any = Field(default_factory=DefaultEntityExtractor, exclude=True, description="Finds names.")
    after_messages: int = Field(14, ge=2, description="Start to summarise beyond this many messages.")
    keep_messages: int = Field(8, ge=0, description="The newest messages that are never summarised.")
    min_chars: int = Field(200, ge=0, description="Do not refresh for fewer new characters than this.")
    max_chars: int = Field(1200, ge=100, description="Longest summary in characters.")
    clock: Callable[[], float] = Field(default=time.time, exclude=True, description="Wall-clock seconds.")
    scope: str | None = Field(None, exclude=True, description="Tells equal sessions of different chat stores apart.")

    async def arefresh(self, memory: Memory, lock: TurnLock) -> bool:
        """Bring the summary up to date if it is due; return True if it changed.

        The model is asked without the conversation's lock, so that no turn waits for it; the lock is held only while
        the refresh is begun and while its result is stored. A failed or late refresh changes nothing.

        Args:
            memory: the conversation.
            lock: the conversation's lock.
        """
        try:
            return await asyncio.wait_for(self._arefresh(memory, lock), REFRESH_TIMEOUT_S)
        except Exception as error:  # noqa: BLE001 - the old summary stays, the next turn tries again
            logger.warning("The summary was not refreshed: %s", type(error).__name__)
            return False

    async def astate(self, session_id: str) -> SummaryState:
        """Return the stored summary of a session."""
        return SummaryState.from_dict(await self.store.aget(self._key(session_id), SUMMARIES))

    def forget(self, session_id: str) -> Step:
        """Return the step that forgets the summary of a session."""
        return twin(self.store, "delete", self._key(session_id), SUMMARIES)

    async def _aget(self, messages: list[ChatMessage] | None = None, **block_kwargs: Any) -> str:  # noqa: ARG002
        """Return the summary of the session that the memory names."""
        try:
            return rendered(await self.astate(str(block_kwargs.get("session_id", ""))), self.max_chars)
        except Exception as error:  # noqa: BLE001 - a turn without its summary is better than none
            logger.warning("The summary could not be read: %s", type(error).__name__)
            return ""

    async def _aput(self, messages: list[ChatMessage]) -> None:
        """Take nothing: what leaves the memory is summarised by ``arefresh`` like everything else."""

    async def _arefresh(self, memory: Memory, lock: TurnLock) -> bool:
        session = memory.session_id
        async with _holding(lock):
            messages = await memory.aget_all()
            state = await self.astate(session)
            if not state.fits(messages):  # the history was replaced
                state = SummaryState()
                await self.forget(session).arun()
            await self._archive(memory, state)
            end = due(messages, state, self.after_messages, self.keep_messages, self.min_chars)
            if end == state.n_messages or state.lease_until > self.clock():
                return False
            await self._store(session, replace(state, lease_until=self.clock() + REFRESH_TIMEOUT_S))
        refreshed: SummaryState | None = None
        try:
            answer = await self._ask(request(state, messages[state.n_messages : end], self.max_chars))
            refreshed = merged(state, answer, messages, end, self.extractor, self.max_chars)
        finally:
            async with _holding(lock):
                now = await self.astate(session)
                unchanged = now.n_messages == state.n_messages and now.mark == state.mark
                current = await memory.aget_all() if refreshed is not None else []
                fits = refreshed is not None and refreshed.fits(current)
                if unchanged and now.lease_until:
                    stored = refreshed if refreshed is not None and fits else replace(state, lease_until=0.0)
                    await self._store(session, stored)
                    await self._archive(memory, stored)
        return bool(unchanged and fits)

    async def _ask(self, messages: list[ChatMessage]) -> str:
        llm = self.llm()
        messages = _compat.messages_for(llm, messages)
        blocks = _compat.blocks_event_loop(llm)
        response = await (in_worker(lambda: llm.chat(messages), "summary") if blocks else llm.achat(messages))
        return response.message.content or ""

    async def _archive(self, memory: Memory, state: SummaryState) -> None:
        """Take what is summarised out of the window; it stays in ``get_all()``."""
        store, session = memory.sql_store, memory.session_id
        archived = await store.count_messages(session, status=MessageStatus.ARCHIVED)
        if archived < state.n_messages:
            await store.archive_oldest_messages(session, state.n_messages - archived)

    def _key(self, session_id: str) -> str:
        return f"{session_id}#{self.scope}" if self.scope else session_id

    async def _store(self, session: str, state: SummaryState) -> None:
        await self.store.aput(self._key(session), {**asdict(state), "names": list(state.names)}, SUMMARIES)


@asynccontextmanager
async def _holding(lock: TurnLock) -> AsyncIterator[None]:
    await lock.aacquire()
    try:
        yield
    finally:
        lock.release()


def summary_block(memory: object) -> RollingSummaryBlock | None:
    """Return the rolling summary of a memory, if it has one."""
    blocks = getattr(memory, "memory_blocks", ())
    return next((block for block in blocks if isinstance(block, RollingSummaryBlock)), None)
