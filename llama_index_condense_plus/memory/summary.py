"""RollingSummaryBlock: a memory block that keeps long conversations short, for LlamaIndex's Memory."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import re
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, replace
from typing import Any

from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.llms.llm import LLM
from llama_index.core.memory import BaseMemoryBlock, Memory
from llama_index.core.storage.chat_store.base_db import MessageStatus
from llama_index.core.storage.kvstore.types import BaseKVStore
from pydantic import Field

from llama_index_condense_plus import _compat
from llama_index_condense_plus.flow import Step, in_worker, twin
from llama_index_condense_plus.languages import pack_of
from llama_index_condense_plus.languages.text import fold
from llama_index_condense_plus.protocols import EntityExtractor, TurnLock
from llama_index_condense_plus.rewriting.cutting import cut
from llama_index_condense_plus.rewriting.entities import DefaultEntityExtractor
from llama_index_condense_plus.rewriting.spoken import spoken
from llama_index_condense_plus.types import WindowMessage

logger: logging.Logger = logging.getLogger(__name__)

SUMMARIES = "condense_plus_summaries"
REFRESH_TIMEOUT_S = 180.0
"""How long one refresh may take, in seconds; then the old summary stays, and the next turn tries again. No turn waits
for it, and a small model on a processor takes a minute for a long backlog (``benchmarks/summary.py``)."""
NAME_KINDS = frozenset({"title", "code", "name", "person", "place", "organisation", "quoted"})
NAMES_SHARE = 3
"""The list of names takes at most this part of the summary: a third."""
FIRST_NAMES_SHARE = 0.6
"""Of the names' room, what the earliest keep when it is full: "the first one" is asked about as often as the last."""
MESSAGE_MAX_TOKENS = 300
"""A message is shown to the summarising model up to this many tokens."""
MAX_MESSAGES_AT_ONCE = 40
"""Messages of one refresh; a longer backlog takes several."""
_TAG = re.compile(r"<(\s*/?\s*(?:summary|conversation)\b)", re.IGNORECASE)
_THINK = re.compile(r"<(think|thinking|reasoning)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
LONGEST_NAMES_LABEL = 24
"""Characters kept free for the label before the names, in any language."""


@dataclass(frozen=True, slots=True)
class SummaryState:
    """The stored summary of a conversation."""

    text: str = ""
    names: tuple[str, ...] = ()
    """Names in the order in which they were first mentioned."""
    n_messages: int = 0
    """Watermark: how many of the conversation's messages, from the first, are summarised."""
    mark: str = ""
    """Fingerprint of the last summarised message, by which a replaced history is noticed."""
    lease_until: float = 0.0
    """Until when somebody is refreshing it, in seconds since the epoch; 0: nobody."""

    @classmethod
    def from_dict(cls, stored: dict[str, Any] | None) -> SummaryState:
        """Read a stored state; what is missing or unknown is left out."""
        known = {name: value for name, value in (stored or {}).items() if name in cls.__dataclass_fields__}
        return cls(**{**known, "names": tuple(known.get("names", ()))})

    def fits(self, messages: Sequence[ChatMessage]) -> bool:
        """Return True if it summarises the beginning of this history."""
        if self.n_messages == 0:
            return True
        return len(messages) >= self.n_messages and fingerprint(messages[self.n_messages - 1]) == self.mark


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


def fingerprint(message: ChatMessage) -> str:
    """Return a short hash of a message's role and words."""
    words = f"{message.role.value}\n{message.content}"
    return hashlib.sha256(words.encode("utf-8", "replace")).hexdigest()[:16]


def due(
    messages: Sequence[ChatMessage], state: SummaryState, after_messages: int, keep_messages: int, min_chars: int
) -> int:
    """Return the watermark after the next refresh; the present one if none is due."""
    if len(messages) <= after_messages:
        return state.n_messages
    end = min(len(messages) - keep_messages, state.n_messages + MAX_MESSAGES_AT_ONCE)
    while end > state.n_messages and end < len(messages) and messages[end].role != MessageRole.USER:
        end -= 1  # a round is summarised whole
    new = messages[state.n_messages : end]
    if not new or sum(len(message.content or "") for message in new) < min_chars:
        return state.n_messages
    return end


def request(state: SummaryState, new: Sequence[ChatMessage], max_chars: int) -> list[ChatMessage]:
    """Return the messages that ask a model to merge the old summary with what is new."""
    said = _said(new)
    pack = pack_of(state.text + "".join(message.full_text for message in said))
    line = pack.phrase("line")
    lines = (line.format(who=pack.phrase(m.role), words=cut(m.full_text, MESSAGE_MAX_TOKENS)) for m in said)
    conversation = _TAG.sub(r"< \1", "\n".join(lines))
    system = pack.phrase("summary_request").format(max_chars=_model_chars(max_chars))
    old = _TAG.sub(r"< \1", state.text)
    user = f"<summary>\n{old}\n</summary>\n<conversation>\n{conversation}\n</conversation>"
    return [ChatMessage(role=MessageRole.SYSTEM, content=system), ChatMessage(role=MessageRole.USER, content=user)]


def merged(
    state: SummaryState,
    answer: str,
    messages: Sequence[ChatMessage],
    end: int,
    extractor: EntityExtractor,
    max_chars: int,
) -> SummaryState | None:
    """Return the state after a model's answer summarised up to a new watermark; None if the answer is no summary."""
    text = shorten(_THINK.sub("", answer).strip(), _model_chars(max_chars))
    if not text:
        return None
    names = list(state.names)
    for message in _said(messages[state.n_messages : end]):
        for entity in extractor.extract(message.full_text):
            if entity.kind in NAME_KINDS:
                _add(names, entity.text)
    return SummaryState(text, _fitting(names, max_chars // NAMES_SHARE), end, fingerprint(messages[end - 1]))


def rendered(state: SummaryState, max_chars: int) -> str:
    """Return the summary as rewriter and answer see it: the names, then the words; at most ``max_chars``."""
    if not state.n_messages:
        return ""
    pack = pack_of(state.text)
    names = pack.phrase("comma").join(state.names)
    top = f"{pack.phrase('summary_names')}{names}\n" if names else ""
    return (top + shorten(state.text, max_chars - len(top))).strip()


def shorten(text: str, max_chars: int) -> str:
    """Return at most ``max_chars`` characters of a text, ending with a sentence where one ends in the second half."""
    if len(text) <= max_chars:
        return text
    head = text[: max(0, max_chars)]
    *whole, _ = [sentence.end for sentence in pack_of(head).sentences(head)] or [0]
    return head[: whole[-1]].rstrip() if whole and whole[-1] >= max_chars // 2 else head.rstrip()


def _model_chars(max_chars: int) -> int:
    return max_chars - max_chars // NAMES_SHARE


def _add(names: list[str], name: str) -> None:
    """Add a name; one that is known in full, or known by a part, keeps its place."""
    if any(_holds(known, name) for known in names):
        return
    part = next((i for i, known in enumerate(names) if _holds(name, known)), len(names))
    names[part : part + 1] = [name]


def _holds(name: str, part: str) -> bool:
    """Return True if the words of a name hold those of another, as "Kestrel K7" holds "k7"."""
    return f" {fold(part)} " in f" {fold(name)} "


def _fitting(names: list[str], max_chars: int) -> tuple[str, ...]:
    """Return the earliest and the latest names that fit; those between them go."""
    while sum(len(name) + 2 for name in names) > max_chars - LONGEST_NAMES_LABEL:
        del names[int(FIRST_NAMES_SHARE * len(names))]
    return tuple(names)


def _said(messages: Sequence[ChatMessage]) -> list[WindowMessage]:
    return [message for message in spoken(messages)[0] if message is not None]
