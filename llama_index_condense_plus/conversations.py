"""The engine's side of conversations: making, listing, emptying and deleting them; copying an engine."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any, NoReturn, TypeVar

from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.memory import BaseMemory
from llama_index.core.vector_stores.types import MetadataFilters

from llama_index_condense_plus import workers
from llama_index_condense_plus._compat import memories
from llama_index_condense_plus.errors import ConfigurationError
from llama_index_condense_plus.flow import Step, adrive, drive, twin
from llama_index_condense_plus.memory.records import HistoryTurn, rounds_with_records
from llama_index_condense_plus.observability.rewrite_log import RewriteLog
from llama_index_condense_plus.operations import Flow
from llama_index_condense_plus.turn.chain import Pipeline
from llama_index_condense_plus.turn.conversation import Conversation, Sessions
from llama_index_condense_plus.turn.options import Restriction, next_number

Self = TypeVar("Self", bound="Conversations")


class Conversations:
    """The methods of an engine that handle whole conversations."""

    _memory: BaseMemory
    _conversation: Conversation
    _sessions: Sessions
    _log: RewriteLog | None
    _lineage: tuple[int, ...]
    _query_engine: BaseQueryEngine
    _retrievers: dict[str, BaseRetriever]
    _pipeline: Pipeline

    def for_conversation(
        self: Self,
        memory: BaseMemory | str,
        *,
        filters: MetadataFilters | None = None,
        retriever: BaseRetriever | None = None,
    ) -> Self:
        """Return an engine for another conversation; it shares everything except memory and lock.

        It inherits this engine's options and restrictions, and filters are combined. Engines for the same key over the
        same chat store share one lock within the process. If several processes serve a conversation, pass ``locks``.

        Args:
            memory: the conversation's memory, or a key for a memory over this engine's chat store.
            filters: metadata filters of every query of this conversation.
            retriever: a retriever instead of this engine's.

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
        restriction.retrievers(self._query_engine, self._retrievers)  # raises what a turn would
        self._memory = memory
        self._conversation = self._sessions.conversation(memory, restriction)

    @property
    def _talk(self) -> Conversation:
        """The conversation of the memory that the engine has now."""
        if self._conversation.memory is not self._memory:
            self._begin(self._memory, self._conversation.restriction)
        return self._conversation

    def history_with_queries(self) -> list[HistoryTurn]:
        """Return the history in rounds, with turn id, searched query and status where known."""
        return drive(self._rounds())

    async def ahistory_with_queries(self) -> list[HistoryTurn]:
        """Return what ``history_with_queries`` returns, without blocking the event loop."""
        return await adrive(self._rounds())

    def reset(self) -> None:
        """Empty the conversation; turns that are not stored yet are discarded."""
        drive(self._talk.reset())

    async def areset(self) -> None:
        """Empty the conversation without blocking the event loop."""
        await adrive(self._talk.reset())

    def delete_conversation(self) -> None:
        """Delete the conversation: history, summary, queries, cache entries and log rows.

        Waits for turns of other engines and processes, and discards turns of this engine that are not stored yet.
        """
        drive(self._deleted())

    async def adelete_conversation(self) -> None:
        """Delete the conversation without blocking the event loop."""
        await adrive(self._deleted())

    def _rounds(self) -> Flow[list[HistoryTurn]]:
        records = yield from self._talk.state.records.all()
        try:
            messages = yield twin(self._memory, "get_all")
        except (ValueError, NotImplementedError):  # a memory that finds messages and cannot list them
            messages = [ChatMessage(role=MessageRole.USER, content=record.message) for record in records]
        return rounds_with_records(messages, records)

    def _deleted(self) -> Flow[None]:
        conversation, cache = self._talk, self._pipeline.cache
        conversation.abandon()
        yield twin(conversation.lock, "acquire")
        try:
            records = yield from conversation.state.records.all()
            if hasattr(cache, "delete") or hasattr(cache, "adelete"):
                for key in {key for record in records for key in record.cache_keys}:
                    yield twin(cache, "delete", key)
            yield from conversation.reset()
        finally:
            conversation.lock.release()
        if self._log is not None:
            delete = partial(self._log.delete, conversation.key, conversation.tenants.log)
            yield Step("log", delete, lambda: asyncio.wrap_future(workers.submit_or_run(delete, "log")))

    def feedback(self, turn_id: str, *, good: bool, note: str = "") -> None:
        """Write a user's rating of a turn into the rewrite log; ConfigurationError if the log is off."""
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
            "An engine holds models, connections and locks and cannot be deep-copied. For another conversation call "
            "engine.for_conversation(memory), for another engine object copy.copy(engine)."
        )

    def __reduce__(self) -> NoReturn:
        raise ConfigurationError(
            "An engine holds models, connections and locks and cannot be pickled. Pickle engine.settings, build the "
            "engine with from_defaults in each process, and share the conversations through a chat store and locks."
        )
