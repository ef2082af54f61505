"""What the conversations of an engine share: their locks and the store beside their messages."""

from __future__ import annotations

import hashlib
import json
import threading
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakValueDictionary

from llama_index.core.llms.llm import LLM
from llama_index.core.memory import BaseMemory, Memory
from llama_index.core.storage.kvstore import SimpleKVStore
from llama_index.core.storage.kvstore.types import BaseKVStore

from llama_index_condense_plus._compat import memories
from llama_index_condense_plus.errors import ConfigurationError
from llama_index_condense_plus.memory.records import ConversationRecords
from llama_index_condense_plus.memory.sql_store import SQLKeyValueStore
from llama_index_condense_plus.memory.summary import RollingSummaryBlock, summary_block
from llama_index_condense_plus.protocols import TurnLock
from llama_index_condense_plus.settings.sections import SummarySettings
from llama_index_condense_plus.turn.conversation import Conversation, ConversationState, Tenants
from llama_index_condense_plus.turn.lock import ConversationLock
from llama_index_condense_plus.turn.restriction import Restriction


@dataclass
class Sessions:
    """Makes conversations. Two made for one key over one chat store share lock, topic and records.

    Raises:
        ConfigurationError: two users would share what one of them said.
    """

    store: BaseKVStore | None = None
    """Keeps what is beside the messages; None: a table in the memory's own database, in process without one."""
    locks: Callable[[str], TurnLock] | None = None
    """Returns a conversation's lock by key; None: a lock within this process."""
    summary: SummarySettings = field(default_factory=SummarySettings)
    """The ``summary`` section."""
    llm: Callable[[], LLM] | None = None
    """Returns the model that summarises."""
    namespace: str = ""
    """The tenant that the user named."""
    log_path: str = ""
    """Where the conversations are logged."""

    def __post_init__(self) -> None:
        self._states: WeakValueDictionary[tuple[int, str], ConversationState] = WeakValueDictionary()
        self._stores: WeakValueDictionary[int, SQLKeyValueStore] = WeakValueDictionary()
        self._mutex = threading.Lock()

    def conversation(self, memory: BaseMemory, restriction: Restriction | None = None) -> Conversation:
        """Return the conversation of a memory.

        Args:
            memory: holds the messages.
            restriction: what every turn may search.

        Raises:
            ConfigurationError: a rolling summary is wanted, and this memory takes none; or the memory's key is one
                that other conversations have too.
        """
        memories.share_chat_store(memory, ConversationLock)
        chat_store, key = memories.chat_store_of(memory), memories.key_of(memory)
        holder = memory if chat_store is None else chat_store
        location = memories.location_of(chat_store)
        has_default_key = memories.has_default_key(memory)
        if has_default_key and location:
            raise _own_key_needed(memory)
        token = memories.token_of(holder)
        tenant = self._digest(location or token.name)
        self._summarise(memory, tenant)
        with self._mutex:
            state = self._states.get((id(holder), key))
            if state is None:
                is_shared = self.locks is not None and not has_default_key
                lock = {"lock": self._lock(self.locks, f"{key}#{tenant}")} if self.locks and is_shared else {}
                state = ConversationState(
                    self._records(chat_store, f"{key}#{tenant}"),
                    is_shared=is_shared,
                    is_stored=self.store is not None or memories.is_durable(chat_store),
                    memory=weakref.ref(memory),
                    **lock,
                )
                self._states[id(holder), key] = state
            elif has_default_key and state.is_of_another(memory):
                raise _own_key_needed(memory)
        unique = location or (token.name if has_default_key else "")
        slot = 0 if unique else memories.slot_of(token, self.log_path, key)
        log = self._digest(unique or str(slot)) if unique or slot else self.namespace
        tenants = Tenants(tenant, self._digest(location), log)
        return Conversation(memory, state, restriction or Restriction(), key, tenants)

    def _digest(self, location: str) -> str:
        words = json.dumps([self.namespace, location])
        return hashlib.sha256(words.encode("utf-8", "surrogatepass")).hexdigest()[:16]

    def _lock(self, locks: Callable[[str], TurnLock], key: str) -> TurnLock:
        try:
            lock = locks(key)
        except Exception as error:
            raise ConfigurationError(f"locks={_name(locks)} failed: {type(error).__name__}: {error}") from error
        lacking = [
            name for name in ("acquire", "aacquire", "confirm", "aconfirm", "release") if not hasattr(lock, name)
        ]
        if lacking:
            raise ConfigurationError(
                f"locks={_name(locks)} returned {type(lock).__name__}, which has no {', '.join(lacking)}; it must "
                "return a TurnLock, as LeaseLocks does."
            )
        return lock

    def _records(self, chat_store: Any, key: str) -> Callable[[], ConversationRecords]:
        return lambda: ConversationRecords(self._store_beside(chat_store), key)

    def _store_beside(self, chat_store: Any) -> BaseKVStore:
        """Return the store for what belongs to the conversations of a chat store."""
        if self.store is not None:
            return self.store
        if not memories.is_durable(chat_store):
            return SimpleKVStore()
        with self._mutex:
            beside = self._stores.get(id(chat_store))
            if beside is None:  # it holds the chat store, so that the number stays the chat store's
                beside = SQLKeyValueStore(lambda: memories.engine_of(chat_store), db_schema=chat_store.db_schema)
                self._stores[id(chat_store)] = beside
            return beside

    def _summarise(self, memory: BaseMemory, tenant: str) -> None:
        """Give a memory its rolling summary, and a summary its tenant."""
        block = summary_block(memory)
        if block is not None and block.scope is None:
            block.scope = tenant
        if block is not None and block.scope != tenant:  # one block for several databases
            others = [b for b in memory.memory_blocks if b is not block]  # type: ignore[attr-defined]
            memory.memory_blocks = [*others, block.model_copy(update={"scope": tenant})]  # type: ignore[attr-defined]
        if block is not None or not self.summary.enabled:
            return
        if not isinstance(memory, Memory) or self.llm is None:
            raise ConfigurationError(
                f"summary.enabled needs LlamaIndex's Memory, not {type(memory).__name__}. Give "
                "memory=Memory.from_defaults(…), or summary.enabled = false; ChatSummaryMemoryBuffer has its own."
            )
        options = self.summary.model_dump(exclude={"enabled"})
        store = self._store_beside(memory.sql_store)
        made = RollingSummaryBlock(llm=self.llm, store=store, scope=tenant, **options)
        memory.memory_blocks = [*memory.memory_blocks, made]


def _own_key_needed(memory: BaseMemory) -> ConfigurationError:
    return ConfigurationError(
        f"{type(memory).__name__} has the default key {memories.key_of(memory)!r}, or none, and its chat store holds "
        "other conversations: two users would read each other's messages. Give each conversation a key of its own: "
        'for_conversation("user-42"), or chat_store_key="user-42" (session_id for Memory).'
    )


def _name(function: object) -> str:
    return getattr(function, "__qualname__", type(function).__name__)
