"""One conversation: its memory, its lock, its restrictions, and the turns that are not written yet."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.memory import BaseMemory
from llama_index.core.storage.kvstore import SimpleKVStore

from llama_index_condense_plus.memory.records import ConversationRecords
from llama_index_condense_plus.memory.summary import summary_block
from llama_index_condense_plus.protocols import TurnLock
from llama_index_condense_plus.settings import CondensePlusSettings
from llama_index_condense_plus.turn.flow import Step, to_its_end
from llama_index_condense_plus.turn.history import Commit
from llama_index_condense_plus.turn.lock import ConversationLock
from llama_index_condense_plus.turn.restriction import Restriction


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
    memory: Callable[[], BaseMemory | None] = lambda: None
    """Returns the memory it was made for while that lives."""

    def __post_init__(self) -> None:
        self._topic: str | None = None
        self._knows_topic = False
        self._refreshing = False
        self._mutex = threading.Lock()

    @cached_property
    def records(self) -> ConversationRecords:
        """What is kept beside the messages."""
        return self.make_records()

    def is_of_another(self, memory: BaseMemory) -> bool:
        """Return True if it was made for another memory object."""
        first = self.memory()
        return first is not None and first is not memory

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

    def reading_topic(self) -> Step:
        """Return the step that looks up which message the present topic began with."""

        async def arun() -> None:
            self.set_topic(await to_its_end(self.records.atopic()))

        return Step("memory", lambda: self.set_topic(self.records.topic()), arun)

    def begin_refresh(self) -> bool:
        """Return True if no refresh of the summary is under way, and note that one is."""
        with self._mutex:
            begun, self._refreshing = not self._refreshing, True
        return begun

    def end_refresh(self) -> None:
        """Note that the refresh is over."""
        self._refreshing = False


class Tenants(NamedTuple):
    """What tells equal keys of different chat stores, and of different namespaces, apart."""

    beside: str = ""
    """In stores and locks: never another chat store's."""
    cache: str = ""
    """In the rewrite cache: the same for all chat stores in this process's memory."""
    log: str = ""
    """In the rewrite log: found again after a restart."""


@dataclass
class Conversation:
    """The state of one conversation."""

    memory: BaseMemory
    """Holds the user's own words and the answers."""
    state: ConversationState = field(default_factory=ConversationState)
    """What every engine over this conversation shares."""
    restriction: Restriction = field(default_factory=Restriction)
    """What every turn may search."""
    key: str = ""
    """Identifies the conversation in its chat store."""
    tenants: Tenants = field(default_factory=Tenants)
    """Tell it from conversations of an equal key elsewhere."""

    def __post_init__(self) -> None:
        self._open: set[Commit] = set()
        self._mutex = threading.Lock()

    @property
    def lock(self) -> TurnLock:
        """Lets one turn run at a time."""
        return self.state.lock

    def commit(self, message: str, *, stores: bool = True) -> Commit:
        """Return the right to write a turn.

        Args:
            message: the user's words.
            stores: False: the caller keeps the history, and nothing is written.
        """
        commit = Commit(self.memory, self.lock, message, stores=stores)
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
            block.delete(self.key)

    async def areset(self) -> None:
        """Empty the conversation without blocking the event loop."""
        self.abandon()
        await self.memory.areset()
        await self.state.records.adelete()
        self.state.set_topic(None)
        block = summary_block(self.memory)
        if block is not None:
            await block.adelete(self.key)

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
    restriction: Restriction = field(default_factory=Restriction)
    """What the turn may search."""
    tenant: str = ""
    """Whose rewrites are cached together."""

    def within(self, outer: TurnOptions) -> TurnOptions:
        """Return both options as one: the inner ones win, restrictions add up."""
        return TurnOptions(
            outer.rewrite if self.rewrite is None else self.rewrite,
            self.settings or outer.settings,
            self.restriction.within(outer.restriction),
        )


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
