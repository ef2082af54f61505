"""What is kept of each turn beside the messages: the searched query, the status, the turn's id."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field

from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.storage.kvstore.types import BaseKVStore

from llama_index_condense_plus.flow import twin
from llama_index_condense_plus.observability.trace import CondenseTrace
from llama_index_condense_plus.operations import Flow
from llama_index_condense_plus.types import RewriteStatus

logger: logging.Logger = logging.getLogger(__name__)

TURNS = "condense_plus_turns"


@dataclass(frozen=True, slots=True)
class TurnRecord:
    """What one turn searched."""

    turn_id: str
    """``CondenseTrace.turn_id``."""
    message: str
    """The user's words."""
    query: str
    """The words that were searched first."""
    status: str
    """How the rewrite ended, a ``RewriteStatus``."""
    reason: str
    """Why it was, or was not, asked for, a ``TriggerReason``."""
    at: float = 0.0
    """When the turn was stored, in seconds since the epoch."""
    cache_keys: tuple[str, ...] = ()
    """The rewrite cache's entries that the turn made or used."""

    @classmethod
    def of(cls, trace: CondenseTrace) -> TurnRecord:
        """Return what is kept of a trace."""
        keys = tuple(attempt.cache_key for attempt in trace.rewrite.attempts if attempt.cache_key)
        status, reason = trace.rewrite.status.value, trace.decision.reason.value
        return cls(trace.turn_id, trace.message, trace.search_query, status, reason, cache_keys=keys)


@dataclass(frozen=True, slots=True)
class HistoryTurn:
    """A round of the history, with what was searched for it."""

    message: ChatMessage
    """The user's message."""
    answers: tuple[ChatMessage, ...] = ()
    """What followed it."""
    turn_id: str | None = None
    """The turn's id; None if it was not recorded."""
    query: str | None = None
    """The words that were searched first; None if the turn was not recorded."""
    status: RewriteStatus | None = None
    """How the rewrite ended; None if the turn was not recorded."""


@dataclass
class ConversationRecords:
    """The records of one conversation, read and written as flows.

    A turn never fails because of them; what a user asks for, reading and deleting them, does.
    """

    store: BaseKVStore
    key: str
    clock: Callable[[], float] = field(default=time.time)

    @property
    def _turns(self) -> str:
        return f"{TURNS}/{self.key}"

    def add(self, record: TurnRecord) -> Flow[None]:
        """Keep a turn's record."""
        value = {**asdict(record), "at": self.clock(), "cache_keys": list(record.cache_keys)}
        with _failing_open():
            yield twin(self.store, "put", record.turn_id, value, self._turns)

    def all(self) -> Flow[list[TurnRecord]]:
        """Return the records, oldest first."""
        values = (yield twin(self.store, "get_all", self._turns)).values()
        known = TurnRecord.__dataclass_fields__
        records = (TurnRecord(**{k: v for k, v in value.items() if k in known}) for value in values)
        return sorted(records, key=lambda record: record.at)

    def delete(self) -> Flow[None]:
        """Delete every record of the conversation."""
        for turn_id in (yield twin(self.store, "get_all", self._turns)):
            yield twin(self.store, "delete", turn_id, self._turns)


def rounds_with_records(messages: Iterable[ChatMessage], records: Sequence[TurnRecord]) -> list[HistoryTurn]:
    """Return a history in rounds, each with its record; newest first claims its record first.

    Args:
        messages: the whole history, oldest first.
        records: the turns' records, oldest first.
    """
    grouped: list[list[ChatMessage]] = []
    for message in messages:
        if message.role == MessageRole.USER:
            grouped.append([message])
        elif grouped:
            grouped[-1].append(message)
    left = list(records)
    rounds: list[HistoryTurn] = []
    for message, *answers in reversed(grouped):
        place = next((i for i in range(len(left) - 1, -1, -1) if left[i].message == message.content), None)
        if place is None:
            rounds.append(HistoryTurn(message, tuple(answers)))
            continue
        record = left[place]
        del left[place:]
        status = RewriteStatus(record.status)
        rounds.append(HistoryTurn(message, tuple(answers), record.turn_id, record.query, status))
    return rounds[::-1]


@contextmanager
def _failing_open() -> Iterator[None]:
    """Let a turn go on without its record: its messages are stored, and that is what counts."""
    try:
        yield
    except Exception as error:  # noqa: BLE001 - stores raise what they like
        logger.warning("The store beside the conversation failed: %s", type(error).__name__)
