"""Conversations: the memory of each, its lock, what may be searched, and what is kept beside the messages."""

from __future__ import annotations

import hashlib
import json
import threading
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

from llama_index.core.llms.llm import LLM
from llama_index.core.memory import BaseMemory, Memory
from llama_index.core.storage.kvstore import SimpleKVStore
from llama_index.core.storage.kvstore.types import BaseKVStore

from llama_index_condense_plus._compat import memories
from llama_index_condense_plus.errors import ConfigurationError
from llama_index_condense_plus.flow import twin
from llama_index_condense_plus.memory.records import ConversationRecords
from llama_index_condense_plus.memory.sql_store import SQLKeyValueStore
from llama_index_condense_plus.memory.summary import RollingSummaryBlock, summary_block
from llama_index_condense_plus.operations import Flow
from llama_index_condense_plus.protocols import TurnLock
from llama_index_condense_plus.settings.sections import SummarySettings
from llama_index_condense_plus.turn.lock import ConversationLock
from llama_index_condense_plus.turn.options import Restriction

_LOCK_METHODS = ("acquire", "aacquire", "confirm", "aconfirm", "release")


class Tenants(NamedTuple):
    """What tells equal keys of different chat stores, and of different namespaces, apart."""

    beside: str = ""
    """In stores and locks: never another chat store's."""
    cache: str = ""
    """In the rewrite cache: the same for all chat stores in this process's memory."""
    log: str = ""
    """In the rewrite log: found again after a restart."""


@dataclass
class ConversationState:
    """What every engine over one conversation shares."""

    make_records: Callable[[], ConversationRecords]
    """Makes what is kept beside the messages, when it is first needed."""
    lock: TurnLock
    memory: Callable[[], BaseMemory | None]
    """Returns the memory it was made for while that lives."""

    def __post_init__(self) -> None:
        self.refreshing: threading.Lock = threading.Lock()

    @cached_property
    def records(self) -> ConversationRecords:
        """What is kept beside the messages."""
        return self.make_records()


@dataclass
class Conversation:
    """One conversation, as one engine sees it."""

    memory: BaseMemory
    """Holds the user's own words and the answers."""
    state: ConversationState
    restriction: Restriction
    key: str
    """Identifies the conversation in its chat store."""
    tenants: Tenants
    """Tell it from conversations of an equal key elsewhere."""
    pending: set[Callable[[], None]] = field(default_factory=set)
    """Gives up a turn that is not written yet, one for each."""

    @property
    def lock(self) -> TurnLock:
        """Lets one turn run at a time."""
        return self.state.lock

    def reset(self) -> Flow[None]:
        """Give up every turn that is not written yet, then empty the memory and what is kept beside it."""
        self.abandon()
        yield twin(self.memory, "reset")
        yield from self.state.records.delete()
        if block := summary_block(self.memory):
            yield block.forget(self.key)

    def abandon(self) -> None:
        """Give up every turn that is not written yet."""
        for give_up in tuple(self.pending):
            give_up()


@dataclass
class Sessions:
    """Makes conversations. Two made for one key over one chat store share lock and records."""

    store: BaseKVStore | None
    """Keeps what is beside the messages; None: a table in the memory's own database, in process without one."""
    locks: Callable[[str], TurnLock] | None
    """Returns a conversation's lock by key; None: a lock within this process."""
    summary: SummarySettings
    llm: Callable[[], LLM]
    namespace: str
    log_path: str

    def __post_init__(self) -> None:
        self._states: WeakValueDictionary[tuple[int, str], ConversationState] = WeakValueDictionary()
        self._stores: WeakValueDictionary[int, SQLKeyValueStore] = WeakValueDictionary()
        self._mutex = threading.Lock()

    def conversation(self, memory: BaseMemory, restriction: Restriction) -> Conversation:
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
        location, has_default_key = memories.location_of(chat_store), memories.has_default_key(memory)
        holder = memory if chat_store is None else chat_store
        token = memories.token_of(holder)
        tenant = self._digest(location or token.name)
        self._summarise(memory, tenant)
        with self._mutex:
            state = self._states.get((id(holder), key))
            first = state.memory() if state is not None else None
            if has_default_key and (location or (first is not None and first is not memory)):
                raise ConfigurationError(
                    f"{type(memory).__name__} has the default key {key!r}, or none, and its chat store holds other "
                    "conversations: two users would read each other's messages. Give each conversation a key of its "
                    'own: for_conversation("user-42"), or chat_store_key="user-42" (session_id for Memory).'
                )
            if state is None:
                beside, locks = f"{key}#{tenant}", None if has_default_key else self.locks
                state = self._states[id(holder), key] = ConversationState(
                    lambda: ConversationRecords(self._store_beside(chat_store), beside),
                    ConversationLock() if locks is None else _checked_lock(locks, beside),
                    weakref.ref(memory),
                )
        unique = location or (token.name if has_default_key else "")
        slot = 0 if unique else memories.slot_of(token, self.log_path, key)
        log = self._digest(unique or str(slot)) if unique or slot else self.namespace
        return Conversation(memory, state, restriction, key, Tenants(tenant, self._digest(location), log))

    def _digest(self, location: str) -> str:
        words = json.dumps([self.namespace, location])
        return hashlib.sha256(words.encode("utf-8", "surrogatepass")).hexdigest()[:16]

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
        if block is None:
            if not self.summary.enabled:
                return
            if not isinstance(memory, Memory):
                raise ConfigurationError(
                    f"summary.enabled needs LlamaIndex's Memory, not {type(memory).__name__}. Give "
                    "memory=Memory.from_defaults(…), or summary.enabled = false; ChatSummaryMemoryBuffer has its own."
                )
            options = self.summary.model_dump(exclude={"enabled"})
            store = self._store_beside(memory.sql_store)
            own = RollingSummaryBlock(llm=self.llm, store=store, scope=tenant, **options)
        elif block.scope is None:
            own = block
            own.scope = tenant
        else:  # one block may serve several databases
            own = block if block.scope == tenant else block.model_copy(update={"scope": tenant})
        if own is not block:
            others = [one for one in memory.memory_blocks if one is not block]  # type: ignore[attr-defined]
            memory.memory_blocks = [*others, own]  # type: ignore[attr-defined]


def _checked_lock(locks: Callable[[str], TurnLock], key: str) -> TurnLock:
    name = getattr(locks, "__qualname__", type(locks).__name__)
    try:
        lock = locks(key)
    except Exception as error:
        raise ConfigurationError(f"locks={name} failed: {type(error).__name__}: {error}") from error
    lacking = [method for method in _LOCK_METHODS if not hasattr(lock, method)]
    if lacking:
        raise ConfigurationError(
            f"locks={name} returned {type(lock).__name__}, which has no {', '.join(lacking)}; it must return a "
            "TurnLock, as LeaseLocks does."
        )
    return lock
