"""The engine's side of conversations: making, listing, emptying and deleting them; copying an engine."""

from __future__ import annotations

import asyncio
from typing import Any, NoReturn, TypeVar

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.memory import BaseMemory
from llama_index.core.vector_stores.types import MetadataFilters

from llama_index_condense_plus import workers
from llama_index_condense_plus._compat import memories
from llama_index_condense_plus.errors import ConfigurationError
from llama_index_condense_plus.memory.records import HistoryTurn, TurnRecord, rounds_with_records
from llama_index_condense_plus.observability.rewrite_log import RewriteLog
from llama_index_condense_plus.protocols import RewriteCache
from llama_index_condense_plus.turn.context import next_number
from llama_index_condense_plus.turn.conversation import Conversation
from llama_index_condense_plus.turn.restriction import Restriction
from llama_index_condense_plus.turn.sessions import Sessions
from llama_index_condense_plus.turn.turn import Service

Self = TypeVar("Self", bound="Conversations")


class Conversations:
    """What an engine does with conversations as a whole."""

    _memory: BaseMemory
    _conversation: Conversation
    _sessions: Sessions
    _log: RewriteLog | None
    _lineage: tuple[int, ...]
    _service: Service
    _rewrite_cache: RewriteCache | None

    def for_conversation(
        self: Self,
        memory: BaseMemory | str,
        *,
        filters: MetadataFilters | None = None,
        retriever: BaseRetriever | None = None,
    ) -> Self:
        """Return an engine for another conversation that shares everything but memory and lock.

        It inherits this engine's restrictions and options: filters of both hold. Engines for one key over one chat
        store share the conversation's lock, within this process; give the engine ``locks`` where several processes
        serve a conversation.

        Args:
            memory: the conversation's memory, or a chat store key: then a memory over this engine's chat store.
            filters: metadata filters of every query of this conversation.
            retriever: a retriever in place of this engine's.

        Raises:
            ConfigurationError: the key is blank, or the memory's is one that other conversations have too; or the
                restriction cannot be applied.
        """
        if isinstance(memory, str):
            if not memory.strip():
                raise ConfigurationError('for_conversation needs a key: for_conversation("user-42").')
            memory = memories.memory_for_key(self._memory, memory)
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        other._lineage = (*self._lineage, next_number())
        other._begin(memory, Restriction(filters, retriever).within(self._talk.restriction))
        return other

    def _begin(self, memory: BaseMemory, restriction: Restriction) -> None:
        """Make a memory's conversation this engine's own."""
        restriction.retrievers(self._service.query_engine, self._service.retrievers)  # raises what a turn would
        self._memory = memory
        self._conversation = self._sessions.conversation(memory, restriction)

    @property
    def _talk(self) -> Conversation:
        """The conversation of the memory that the engine has now."""
        if self._conversation.memory is not self._memory:
            self._begin(self._memory, self._conversation.restriction)
        return self._conversation

    def history_with_queries(self) -> list[HistoryTurn]:
        """Return the history in rounds, each with turn id, searched query and status where they are known."""
        records = self._talk.state.records.all()
        try:
            messages = self._memory.get_all()
        except (ValueError, NotImplementedError):  # a memory that finds messages and cannot list them
            messages = [_user_message(record) for record in records]
        return rounds_with_records(messages, records)

    async def ahistory_with_queries(self) -> list[HistoryTurn]:
        """Return what ``history_with_queries`` returns, without blocking the event loop."""
        records = await self._talk.state.records.aall()
        try:
            messages = await self._memory.aget_all()
        except (ValueError, NotImplementedError):  # a memory that finds messages and cannot list them
            messages = [_user_message(record) for record in records]
        return rounds_with_records(messages, records)

    def reset(self) -> None:
        """Empty the conversation; turns that are not stored yet are given up."""
        self._talk.reset()

    async def areset(self) -> None:
        """Empty the conversation without blocking the event loop."""
        await self._talk.areset()

    def delete_conversation(self) -> None:
        """Delete all that is kept of this conversation: history, summary, queries, cache entries and log rows.

        Waits for a turn of another engine or process, and gives up those of this one that are not stored yet.
        """
        conversation = self._talk
        conversation.abandon()
        conversation.lock.acquire()
        try:
            for key in _cache_keys(conversation.state.records.all()):
                if delete := getattr(self._rewrite_cache, "delete", None):
                    delete(key)
            conversation.reset()
        finally:
            conversation.lock.release()
        self._delete_log_rows()

    async def adelete_conversation(self) -> None:
        """Delete all that is kept of this conversation, without blocking the event loop."""
        conversation = self._talk
        conversation.abandon()
        await conversation.lock.aacquire()
        try:
            for key in _cache_keys(await conversation.state.records.aall()):
                if adelete := getattr(self._rewrite_cache, "adelete", None):
                    await adelete(key)
                elif delete := getattr(self._rewrite_cache, "delete", None):
                    delete(key)
            await conversation.areset()
        finally:
            conversation.lock.release()
        await asyncio.wrap_future(workers.submit_or_run(self._delete_log_rows, "log"))

    def _delete_log_rows(self) -> None:
        if self._log is not None:
            self._log.delete(self._talk.key, self._talk.tenants.log)

    def feedback(self, turn_id: str, *, good: bool, note: str = "") -> None:
        """Put a user's thumbs up or down for a turn into the rewrite log; ConfigurationError if the log is off."""
        if self._log is None:
            raise ConfigurationError("feedback needs the rewrite log: settings log.enabled = true.")
        self._log.feedback(turn_id, good=good, note=note)

    def __copy__(self: Self) -> Self:
        """Return another engine object for the same conversation."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        return other

    def __deepcopy__(self, memo: dict[int, Any]) -> NoReturn:
        raise ConfigurationError(
            "An engine holds models, connections and locks and is not deep-copied; for another conversation call "
            "engine.for_conversation(memory), for another engine object on this one copy.copy(engine)."
        )

    def __reduce__(self) -> NoReturn:
        raise ConfigurationError(
            "An engine holds models, connections and locks and is not pickled. Pickle engine.settings, build the "
            "engine with from_defaults in each process, and share the conversations through a chat store and locks."
        )


def _user_message(record: TurnRecord) -> ChatMessage:
    return ChatMessage(role=MessageRole.USER, content=record.message)


def _cache_keys(records: list[TurnRecord]) -> set[str]:
    return {key for record in records for key in record.cache_keys}
