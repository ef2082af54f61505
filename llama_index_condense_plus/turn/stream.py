"""The responses: LlamaIndex's own with a trace, the streaming one with a reader that always ends."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Generator, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any, cast

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.base.response.schema import AsyncStreamingResponse, StreamingResponse
from llama_index.core.chat_engine.types import AgentChatResponse, StreamingAgentChatResponse
from llama_index.core.chat_engine.utils import aresponse_gen_from_query_engine, response_gen_from_query_engine
from llama_index.core.memory import BaseMemory

from llama_index_condense_plus import workers
from llama_index_condense_plus.errors import AnswerTimeoutError, CondensePlusError
from llama_index_condense_plus.flow import adrive, drive, in_worker, keep_alive
from llama_index_condense_plus.observability.trace import CondenseTrace
from llama_index_condense_plus.turn.commit import Commit

logger: logging.Logger = logging.getLogger(__name__)
_END = None


@dataclass
class CondensePlusChatResponse(AgentChatResponse):
    """LlamaIndex's response with the turn's trace."""

    trace: CondenseTrace | None = None
    """What was searched, and why."""


@dataclass
class CondensePlusStreamingResponse(StreamingAgentChatResponse):
    """LlamaIndex's streaming response with the turn's trace; its reader waits instead of polling."""

    trace: CondenseTrace | None = None
    """What was searched, and why."""
    _timer: threading.Timer | None = field(default=None, repr=False)

    def start(self, answer: Any, commit: Commit, timeout_s: float | None) -> CondensePlusStreamingResponse:
        """Read an answer's stream in a thread and store the turn at its end."""
        self.chat_stream = response_gen_from_query_engine(cast(Any, _tokens(answer)))
        self._watch(commit, timeout_s)
        self.write_response_to_history_thread = workers.spawn(partial(self._write, commit), "writer", is_writer=True)
        return self

    async def astart(self, answer: Any, commit: Commit, timeout_s: float | None) -> CondensePlusStreamingResponse:
        """Read an answer's stream in a task and store the turn at its end."""
        self.achat_stream = aresponse_gen_from_query_engine(cast(Any, _atokens(answer)))
        self._ensure_async_setup()
        task = asyncio.get_running_loop().create_task(self._awrite(commit, timeout_s))
        self.awrite_response_to_history_task = keep_alive(task)
        return self

    @property
    def response_gen(self) -> Generator[str, None, None]:
        """Yield the answer's text as it arrives.

        Raises:
            CondensePlusError: the stream is of the other kind.
            Exception: what the model's stream raised.
        """
        if self.achat_stream is not None:
            raise CondensePlusError("This stream is asynchronous: read async_response_gen() instead of response_gen.")
        try:
            for delta in iter(self.queue.get, _END):
                if delta:
                    self.unformatted_response += delta
                    yield delta
            yield from self._ended(self.queue)
        finally:
            thread, self.write_response_to_history_thread = self.write_response_to_history_thread, None
            if thread is not None and self.exception is None:
                thread.join()

    async def async_response_gen(self) -> AsyncGenerator[str, None]:
        """Yield the answer's text as it arrives.

        Raises:
            CondensePlusError: the stream is of the other kind.
            Exception: what the model's stream raised.
        """
        if self.chat_stream is not None:
            raise CondensePlusError("This stream is synchronous: read response_gen instead of async_response_gen().")
        self._ensure_async_setup()
        queue = cast("asyncio.Queue[str | None]", self.aqueue)
        try:
            while (delta := await queue.get()) is not _END:
                if delta:
                    self.unformatted_response += delta
                    yield delta
            for nothing in self._ended(queue):
                yield nothing
        finally:
            task, self.awrite_response_to_history_task = self.awrite_response_to_history_task, None
            if task is not None:
                await asyncio.wait({task})  # unlike awaiting it, a cancelled reader leaves the writer alone

    def _ended(self, queue: Any) -> Iterator[str]:
        """Raise what ended the stream early; yield the answer where it is empty, for a reader that expects one."""
        queue.put_nowait(_END)  # for the next reader
        if self.exception is not None:
            raise self.exception
        self.response = self.unformatted_response.strip()
        if not self.unformatted_response:
            yield self.response

    def __str__(self) -> str:
        """Return the answer as far as it has been read, or all of it once it is stored."""
        return self.response or self.unformatted_response

    def _write(self, commit: Commit) -> None:
        try:
            self.write_response_to_history(cast(BaseMemory, _CommitAsMemory(commit, self)))
            drive(commit.write(self.response))  # an empty stream
        except Exception as error:  # noqa: BLE001 - the reader raises it
            self._fail(error)
        finally:
            self._end(commit)
            self.queue.put_nowait(_END)

    async def _awrite(self, commit: Commit, timeout_s: float | None) -> None:
        queue = cast("asyncio.Queue[str | None]", self.aqueue)
        try:
            writing = self.awrite_response_to_history(cast(BaseMemory, _CommitAsMemory(commit, self)))
            await asyncio.wait_for(writing, timeout_s)
            await adrive(commit.write(self.response))
        except asyncio.CancelledError:
            self._fail(CondensePlusError("The stream was cancelled before its end; the turn is not stored."))
            raise
        except asyncio.TimeoutError as error:
            self._fail(_too_late(timeout_s) if timeout_s is not None else error)
        except Exception as error:  # noqa: BLE001 - the reader raises it
            self._fail(error)
        finally:
            self._end(commit)
            queue.put_nowait(_END)

    def _fail(self, error: Exception) -> None:
        self.exception = self.exception or error
        logger.debug("The stream ended early: %s", type(error).__name__)

    def _end(self, commit: Commit) -> None:
        if self._timer is not None:
            self._timer.cancel()
        commit.abandon()
        self.is_done = True

    def _watch(self, commit: Commit, timeout_s: float | None) -> None:
        """Give a hung stream up when its time is over: the thread that reads it cannot be interrupted."""
        if timeout_s is None:
            return

        def give_up() -> None:
            if commit.is_open:
                self._fail(_too_late(timeout_s))
                commit.abandon()
                self.queue.put_nowait(_END)

        self._timer = threading.Timer(timeout_s, give_up)
        self._timer.daemon = True
        self._timer.start()


@dataclass
class _CommitAsMemory:
    """What LlamaIndex's stream writer is given as memory: its one message closes the turn."""

    commit: Commit
    response: StreamingAgentChatResponse

    def put(self, message: ChatMessage) -> None:
        self.response.response = message.content or ""  # older versions of core leave it to the reader
        drive(self.commit.write(message.content))

    async def aput(self, message: ChatMessage) -> None:
        self.response.response = message.content or ""
        await adrive(self.commit.write(message.content))


def _too_late(timeout_s: float) -> AnswerTimeoutError:
    return AnswerTimeoutError(f"The answer's stream did not end within answer.timeout_s = {timeout_s:g} s.")


def _tokens(answer: Any) -> Iterator[str]:
    if isinstance(answer, StreamingResponse):
        yield from answer.response_gen
    else:
        yield str(answer)


async def _atokens(answer: Any) -> AsyncIterator[str]:
    if isinstance(answer, AsyncStreamingResponse):
        async for token in answer.async_response_gen():
            yield token
    elif isinstance(answer, StreamingResponse):  # a synthesizer without an asynchronous stream
        tokens = iter(answer.response_gen)
        while (token := await in_worker(partial(next, tokens, None), "stream")) is not None:
            yield token
    else:
        yield str(answer)
