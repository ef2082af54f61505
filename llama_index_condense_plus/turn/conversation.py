"""One conversation: its memory, its lock, its restrictions, and the turns that are not written yet."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Any

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.memory import BaseMemory
from llama_index.core.vector_stores.types import MetadataFilters

from llama_index_condense_plus.settings import CondensePlusSettings
from llama_index_condense_plus.turn.commit import Commit
from llama_index_condense_plus.turn.lock import ConversationLock


@dataclass
class Conversation:
    """The state of one conversation."""

    memory: BaseMemory
    """Holds the user's own words and the answers."""
    lock: ConversationLock = field(default_factory=ConversationLock)
    """Lets one turn run at a time."""
    filters: MetadataFilters | None = None
    """Metadata filters of every query."""
    retriever: BaseRetriever | None = None
    """A retriever in place of the query engine's own."""
    key: str = ""
    """Identifies the conversation in logs and stores."""

    def __post_init__(self) -> None:
        self._open: set[Commit] = set()
        self._mutex = threading.Lock()

    def commit(self, message: str) -> Commit:
        """Return the right to write a turn."""
        commit = Commit(self.memory, self.lock, message)
        commit.on_closed = self._forget
        with self._mutex:
            self._open.add(commit)
        return commit

    def reset(self) -> None:
        """Give up every turn that is not written yet, then empty the memory."""
        with self._mutex:
            pending = tuple(self._open)
        for commit in pending:
            commit.abandon()
        self.memory.reset()

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
    extra: dict[str, Any] = field(default_factory=dict)
    """Room for callers."""
