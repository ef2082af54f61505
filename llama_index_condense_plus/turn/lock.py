"""A first-come, first-served lock that threads and event loops can wait for alike."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from concurrent.futures import Future

from llama_index_condense_plus.errors import ConversationBusyError


class ConversationLock:
    """Lets one turn of a conversation run at a time, in the order in which they came."""

    __slots__ = ("__weakref__", "_held", "_holder_loop", "_mutex", "_waiting")

    def __init__(self) -> None:
        self._mutex = threading.Lock()
        self._waiting: deque[Future[None]] = deque()
        self._held = False
        self._holder_loop: asyncio.AbstractEventLoop | None = None

    @property
    def held(self) -> bool:
        """True while a turn runs or is being stored."""
        return self._held

    def acquire(self) -> None:
        """Wait in this thread until it is this turn's time.

        Raises:
            ConversationBusyError: a turn of this thread's own event loop holds the lock, so that waiting here would
                keep it from ever ending.
        """
        loop = _running_loop()
        if self._held and loop is not None and loop is self._holder_loop:
            raise ConversationBusyError(
                "An async turn of this conversation is still running on this event loop; a blocking call would wait "
                "for ever. Await achat() or astream_chat() instead."
            )
        ticket = self._request()
        try:
            ticket.result()
        except BaseException:
            self._withdraw(ticket)
            raise
        self._holder_loop = None

    async def aacquire(self) -> None:
        """Wait without blocking the event loop until it is this turn's time."""
        ticket = self._request()
        try:
            await asyncio.wrap_future(ticket)
        except BaseException:
            self._withdraw(ticket)
            raise
        self._holder_loop = asyncio.get_running_loop()

    def confirm(self) -> None:
        """Do nothing: within a process this lock cannot be lost."""

    async def aconfirm(self) -> None:
        """Do nothing: within a process this lock cannot be lost."""

    def release(self) -> None:
        """Let the next turn run; may be called from any thread."""
        with self._mutex:
            self._holder_loop = None
            while self._waiting:
                ticket = self._waiting.popleft()
                if ticket.set_running_or_notify_cancel():
                    ticket.set_result(None)
                    return
            self._held = False

    def _request(self) -> Future[None]:
        ticket: Future[None] = Future()
        with self._mutex:
            if self._held:
                self._waiting.append(ticket)
            else:
                self._held = True
                ticket.set_running_or_notify_cancel()
                ticket.set_result(None)
        return ticket

    def _withdraw(self, ticket: Future[None]) -> None:
        with self._mutex:
            if ticket in self._waiting:
                self._waiting.remove(ticket)
                return
        if ticket.done() and not ticket.cancelled():  # granted, but whoever asked is gone
            self.release()


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
