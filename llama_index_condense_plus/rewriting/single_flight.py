"""Identical calls at the same time share one model call."""

from __future__ import annotations

from concurrent.futures import Future, InvalidStateError
from dataclasses import dataclass
from threading import Lock


@dataclass(frozen=True, slots=True, eq=False)
class Flight:
    """One caller's part in a shared call."""

    key: str
    """The cache key of the call."""
    leader: bool
    """True: this caller makes the call and must ``land`` it, whatever happens."""
    future: Future[str | None]
    """A follower waits for this: the raw rewrite, or None if the leader got none that was accepted."""


class SingleFlight:
    """Says who makes a call and who waits for it.

    Neither waits nor calls itself, so a synchronous driver (``future.result(timeout)``) and an asynchronous one
    (``asyncio.wrap_future``) use the same registry, even together. Each follower has a future of its own: one that
    is cancelled disturbs nobody.

    Example:
        >>> flights = SingleFlight()
        >>> first, second = flights.join("key"), flights.join("key")
        >>> first.leader, second.leader
        (True, False)
        >>> flights.land(first, "the rewrite")
        >>> second.future.result(0)
        'the rewrite'
    """

    def __init__(self) -> None:
        self._waiting: dict[str, list[Future[str | None]]] = {}
        self._leaders: dict[str, Flight] = {}
        self._lock = Lock()

    def join(self, key: str) -> Flight:
        """Take part in the call of a key: the first caller leads, the others follow."""
        with self._lock:
            flight = Flight(key, key not in self._leaders, Future())
            if flight.leader:
                self._leaders[key] = flight
                self._waiting[key] = []
            else:
                self._waiting[key].append(flight.future)
            return flight

    def land(self, flight: Flight, value: str | None) -> None:
        """End a leader's call: every follower gets its value; None sends each on to a call of its own.

        To be called in a ``finally``; a second call, or a follower's, does nothing.
        """
        with self._lock:
            if self._leaders.get(flight.key) is not flight:
                return
            del self._leaders[flight.key]
            waiting = self._waiting.pop(flight.key)
        for future in (flight.future, *waiting):
            try:
                future.set_result(value)
            except InvalidStateError:  # that follower was cancelled
                continue

    @property
    def in_flight(self) -> int:
        """How many calls are being made now."""
        with self._lock:
            return len(self._leaders)
