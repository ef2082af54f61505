"""What the conversations of an engine share: their locks and the store beside their messages."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakValueDictionary

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.llms.llm import LLM
from llama_index.core.memory import BaseMemory, Memory
from llama_index.core.storage.kvstore import SimpleKVStore
from llama_index.core.storage.kvstore.types import BaseKVStore
from llama_index.core.vector_stores.types import MetadataFilters

from llama_index_condense_plus import _compat
from llama_index_condense_plus.errors import ConfigurationError
from llama_index_condense_plus.memory.records import ConversationRecords
from llama_index_condense_plus.memory.sql_store import SQLKeyValueStore
from llama_index_condense_plus.memory.summary import RollingSummaryBlock, summary_block
from llama_index_condense_plus.protocols import TurnLock
from llama_index_condense_plus.settings.sections import SummarySettings
from llama_index_condense_plus.turn.conversation import Conversation, ConversationState
from llama_index_condense_plus.turn.lock import ConversationLock


@dataclass
class Sessions:
    """Makes conversations. Two made for one key over one chat store share lock, topic and records."""

    store: BaseKVStore | None = None
    """Keeps what is beside the messages; None: a table in the memory's own database, in process without one."""
    locks: Callable[[str], TurnLock] | None = None
    """Returns a conversation's lock by key; None: a lock within this process."""
    summary: SummarySettings = field(default_factory=SummarySettings)
    """The ``summary`` section."""
    llm: Callable[[], LLM] | None = None
    """Returns the model that summarises."""

    def __post_init__(self) -> None:
        self._states: WeakValueDictionary[tuple[int, str], ConversationState] = WeakValueDictionary()
        self._stores: dict[int, tuple[Any, BaseKVStore]] = {}
        self._mutex = threading.Lock()

    def conversation(
        self, memory: BaseMemory, filters: MetadataFilters | None = None, retriever: BaseRetriever | None = None
    ) -> Conversation:
        """Return the conversation of a memory.

        Raises:
            ConfigurationError: a rolling summary is wanted, and this memory takes none.
        """
        _compat.share_chat_store(memory, ConversationLock)
        if self.summary.enabled and summary_block(memory) is None:
            self._summarise(memory)
        chat_store, key = _compat.chat_store_of(memory), _compat.key_of(memory)
        with self._mutex:
            state = self._states.get((id(chat_store), key)) if chat_store is not None else None
            if state is None:
                lock = {"lock": self.locks(key)} if self.locks is not None and key else {}
                state = ConversationState(
                    self._records(chat_store, key),
                    is_shared=self.locks is not None,
                    is_stored=self.store is not None or _compat.is_durable(chat_store),
                    **lock,
                )
                if chat_store is not None:
                    self._states[id(chat_store), key] = state
        return Conversation(memory, state, filters=filters, retriever=retriever, key=key)

    def _records(self, chat_store: Any, key: str) -> Callable[[], ConversationRecords]:
        return lambda: ConversationRecords(self._store_beside(chat_store), key)

    def _store_beside(self, chat_store: Any) -> BaseKVStore:
        """Return the store for what belongs to the conversations of a chat store."""
        if self.store is not None:
            return self.store
        if not _compat.is_durable(chat_store):
            return SimpleKVStore()
        with self._mutex:
            if id(chat_store) not in self._stores:
                beside = SQLKeyValueStore(lambda: _compat.engine_of(chat_store), db_schema=chat_store.db_schema)
                self._stores[id(chat_store)] = (chat_store, beside)
            return self._stores[id(chat_store)][1]

    def _summarise(self, memory: BaseMemory) -> None:
        if not isinstance(memory, Memory) or self.llm is None:
            raise ConfigurationError(
                f"summary.enabled needs LlamaIndex's Memory, not {type(memory).__name__}. Give "
                "memory=Memory.from_defaults(…), or summary.enabled = false; ChatSummaryMemoryBuffer has its own."
            )
        options = self.summary.model_dump(exclude={"enabled"})
        store = self._store_beside(memory.sql_store)
        memory.memory_blocks = [*memory.memory_blocks, RollingSummaryBlock(llm=self.llm, store=store, **options)]
