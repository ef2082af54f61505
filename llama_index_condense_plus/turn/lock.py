"""A first-come, first-served lock that threads and event loops can wait for alike."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections import deque
from concurrent.futures import Future, wait

from llama_index_condense_plus.errors import ConversationBusyError

PATIENCE_S = 600.0
"""Longest that a turn waits for those before it, in seconds: beyond it, they wait for one another."""
LOOK_S = 1.0
"""Seconds between two looks at whether the holder still lives."""


class ConversationLock:
    """Lets one turn of a conversation run at a time, in the order in which they came."""

    __slots__ = ("__weakref__", "_held", "_holder_loop", "_mutex", "_pid", "_waiting")

    def __init__(self) -> None:
        self._begin_anew()

    def _begin_anew(self) -> None:
        self._mutex = threading.Lock()
        self._waiting: deque[Future[None]] = deque()
        self._held = False
        self._holder_loop: asyncio.AbstractEventLoop | None = None
        self._pid = os.getpid()

    @property
    def held(self) -> bool:
        """True while a turn runs or is being stored."""
        return self._held

    def acquire(self) -> None:
        """Wait in this thread until it is this turn's time.

        Raises:
            ConversationBusyError: a turn of this thread's own event loop holds the lock, so that waiting here would
                keep it from ever ending; or the turns before this one took ``PATIENCE_S``.
        """
        loop = running_loop()
        if self._held and loop is not None and loop is self._holder_loop:
            raise ConversationBusyError(
                "An async turn of this conversation is still running on this event loop; a blocking call would wait "
                "for ever. Await achat() or astream_chat() instead."
            )
        ticket, deadline = self._request(), time.monotonic() + PATIENCE_S
        try:
            while not wait((ticket,), LOOK_S).done:
                self._look(deadline)
        except BaseException:
            self._withdraw(ticket)
            raise
        self._holder_loop = None

    async def aacquire(self) -> None:
        """Wait without blocking the event loop until it is this turn's time.

        Raises:
            ConversationBusyError: the turns before this one took ``PATIENCE_S``.
        """
        ticket, deadline = self._request(), time.monotonic() + PATIENCE_S
        try:
            granted = asyncio.wrap_future(ticket)
            while not (await asyncio.wait((granted,), timeout=LOOK_S))[0]:
                self._look(deadline)
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
        if self._pid != os.getpid():  # a forked child: the turns of its parent are not its own
            self._begin_anew()
        self._pass_on_if_dead()
        ticket: Future[None] = Future()
        with self._mutex:
            if self._held:
                self._waiting.append(ticket)
            else:
                self._held = True
                ticket.set_running_or_notify_cancel()
                ticket.set_result(None)
        return ticket

    def _look(self, deadline: float) -> None:
        self._pass_on_if_dead()
        if time.monotonic() >= deadline:
            raise ConversationBusyError(
                f"Earlier turns of this conversation have not ended for {PATIENCE_S:g} s. If threads of "
                "asyncio.to_thread() wait for a turn that needs such a thread itself, await achat() instead."
            )

    def _pass_on_if_dead(self) -> None:
        """Let the next turn run if the event loop of the one that holds the lock was closed under it."""
        with self._mutex:
            loop = self._holder_loop
            if loop is None or not loop.is_closed():
                return
            self._holder_loop = None
        self.release()

    def _withdraw(self, ticket: Future[None]) -> None:
        with self._mutex:
            if ticket in self._waiting:
                self._waiting.remove(ticket)
                return
        if ticket.done() and not ticket.cancelled():  # granted, but whoever asked is gone
            self.release()


def running_loop() -> asyncio.AbstractEventLoop | None:
    """Return the event loop that runs in this thread; None if there is none."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
