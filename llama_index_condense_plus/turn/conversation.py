"""One conversation: its memory, its lock, its restrictions, and the turns that are not written yet."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.memory import BaseMemory
from llama_index.core.storage.kvstore import SimpleKVStore
from llama_index.core.vector_stores.types import MetadataFilters

from llama_index_condense_plus.memory.records import ConversationRecords
from llama_index_condense_plus.memory.summary import SUMMARIES, summary_block
from llama_index_condense_plus.protocols import TurnLock
from llama_index_condense_plus.settings import CondensePlusSettings
from llama_index_condense_plus.turn.commit import Commit
from llama_index_condense_plus.turn.lock import ConversationLock
from llama_index_condense_plus.turn.operations import TurnOperation, to_its_end


@dataclass
class ConversationState:
    """What every engine over one conversation shares."""

    make_records: Callable[[], ConversationRecords] = lambda: ConversationRecords(SimpleKVStore(), "")
    """Makes what is kept beside the messages, when it is first needed."""
    lock: TurnLock = field(default_factory=ConversationLock)
    """Lets one turn run at a time."""
    is_shared: bool = False
    """True: other processes have turns of this conversation too."""
    is_stored: bool = False
    """True: what is beside the messages outlives this process."""

    def __post_init__(self) -> None:
        self._topic: str | None = None
        self._knows_topic = False
        self._refreshing = False
        self._mutex = threading.Lock()

    @cached_property
    def records(self) -> ConversationRecords:
        """What is kept beside the messages."""
        return self.make_records()

    @property
    def topic(self) -> str | None:
        """The message that the present topic began with, as far as this process knows; None: the beginning."""
        return self._topic

    @property
    def must_read_topic(self) -> bool:
        """True if the topic has to be looked up: another process may have opened one."""
        return self.is_stored and (self.is_shared or not self._knows_topic)

    def set_topic(self, message: str | None) -> None:
        """Note the message that the present topic began with."""
        self._topic, self._knows_topic = message, True

    def begin_refresh(self) -> bool:
        """Return True if no refresh of the summary is under way, and note that one is."""
        with self._mutex:
            begun, self._refreshing = not self._refreshing, True
        return begun

    def end_refresh(self) -> None:
        """Note that the refresh is over."""
        self._refreshing = False


@dataclass(frozen=True)
class ReadTopic(TurnOperation[None]):
    """Look up which message the present topic began with."""

    state: ConversationState
    name: ClassVar[str] = "memory"

    def run(self) -> None:
        self.state.set_topic(self.state.records.topic())

    async def arun(self) -> None:
        self.state.set_topic(await to_its_end(self.state.records.atopic()))


@dataclass
class Conversation:
    """The state of one conversation."""

    memory: BaseMemory
    """Holds the user's own words and the answers."""
    state: ConversationState = field(default_factory=ConversationState)
    """What every engine over this conversation shares."""
    filters: MetadataFilters | None = None
    """Metadata filters of every query."""
    retriever: BaseRetriever | None = None
    """A retriever in place of the query engine's own."""
    key: str = ""
    """Identifies the conversation in logs and stores."""

    def __post_init__(self) -> None:
        self._open: set[Commit] = set()
        self._mutex = threading.Lock()

    @property
    def lock(self) -> TurnLock:
        """Lets one turn run at a time."""
        return self.state.lock

    def commit(self, message: str) -> Commit:
        """Return the right to write a turn."""
        commit = Commit(self.memory, self.lock, message)
        commit.on_closed = self._forget
        with self._mutex:
            self._open.add(commit)
        return commit

    def reset(self) -> None:
        """Give up every turn that is not written yet, then empty the memory and what is kept beside it."""
        self.abandon()
        self.memory.reset()
        self.state.records.delete()
        self.state.set_topic(None)
        block = summary_block(self.memory)
        if block is not None:
            block.store.delete(self.key, SUMMARIES)

    async def areset(self) -> None:
        """Empty the conversation without blocking the event loop."""
        self.abandon()
        await self.memory.areset()
        await self.state.records.adelete()
        self.state.set_topic(None)
        block = summary_block(self.memory)
        if block is not None:
            await block.store.adelete(self.key, SUMMARIES)

    def abandon(self) -> None:
        """Give up every turn that is not written yet."""
        with self._mutex:
            pending = tuple(self._open)
        for commit in pending:
            commit.abandon()

    def _forget(self, commit: Commit) -> None:
        with self._mutex:
            self._open.discard(commit)


@dataclass(frozen=True)
class TurnOptions:
    """What ``engine.options(...)`` changes for one turn."""

    rewrite: bool | str | None = None
    """None: the gate decides; False: never; True: always; a text: search this."""
    settings: CondensePlusSettings | None = None
    """Other settings."""
    filters: MetadataFilters | None = None
    """Metadata filters of every query."""
    retriever: BaseRetriever | None = None
    """A retriever in place of the query engine's own."""


@dataclass(frozen=True)
class TurnRequest:
    """One call of one of the four entry points."""

    message: str
    """The user's words."""
    chat_history: list[ChatMessage] | None = None
    """None: the memory; a list: this turn reads it in place of the memory."""
    options: TurnOptions = field(default_factory=TurnOptions)
    """What is different in this turn."""
    streaming: bool = False
    """Whether the answer is streamed."""
    replaces_last: bool = False
    """True: the last round is taken back and answered anew."""
