"""A circuit breaker: a rewriting model that keeps failing is left alone for a while."""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Lock


class CircuitBreaker:
    """Stops asking after failures in a row, and tries again once the cool-down is over.

    After the cool-down one call is let through; its success closes the breaker, its failure opens it for another
    cool-down. A call that never reports back holds nobody up longer than one cool-down.

    Args:
        failures: failures in a row that open the breaker, ≥ 1.
        cool_down_s: how long nobody is asked, in seconds.
        clock: seconds that only move forward; replaceable for tests.
    """

    def __init__(
        self, failures: int = 5, cool_down_s: float = 30.0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._limit = failures
        self._cool_down_s = cool_down_s
        self._clock = clock
        self._failures = 0
        self._closed_until = 0.0
        self._lock = Lock()

    @property
    def is_open(self) -> bool:
        """True while nobody is asked."""
        with self._lock:
            return self._failures >= self._limit and self._clock() < self._closed_until

    def allow(self) -> bool:
        """Return True if the model may be asked now; a trial call after the cool-down is granted to one caller."""
        with self._lock:
            if self._failures < self._limit:
                return True
            now = self._clock()
            if now < self._closed_until:
                return False
            self._closed_until = now + self._cool_down_s
            return True

    def record_success(self) -> None:
        """Note that a call succeeded: the count starts anew."""
        with self._lock:
            self._failures = 0

    def record_failure(self) -> None:
        """Note that a call failed or was late."""
        with self._lock:
            self._failures += 1
            if self._failures >= self._limit:
                self._closed_until = self._clock() + self._cool_down_s
