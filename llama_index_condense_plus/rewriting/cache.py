"""What spares model calls: a cache of rewrites that were not refused, one call for equal prompts, a circuit breaker."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from dataclasses import dataclass
from threading import Lock
from typing import Any

from cachetools import TTLCache
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.storage.kvstore.types import BaseKVStore

from llama_index_condense_plus.operations import Predict
from llama_index_condense_plus.settings import CondensePlusSettings

KEY_VERSION = "2"
"""Part of every key: raised when parser or review change what an old entry would mean."""


def cache_key(
    prompt: str | Sequence[ChatMessage], model: str, settings: CondensePlusSettings, namespace: str | None = None
) -> str:
    """Return the key of a rewrite: a hash of all that decides what the raw output is and means.

    Args:
        prompt: the rendered prompt, history, date and question included.
        model: what tells the model from others, not its name alone.
        settings: its rewrite options, guards, cleanup, aliases and word lists are part of the key.
        namespace: the tenant; none: ``settings.cache.namespace``. Two tenants never share an entry.
    """
    words = prompt if isinstance(prompt, str) else [[str(m.role.value), str(m.content or "")] for m in prompt]
    own = settings.model_dump(mode="json", include={"rewrite", "guards", "cleanup", "aliases", "languages"})
    parts = [KEY_VERSION, settings.cache.namespace if namespace is None else namespace, model, words, own]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def predict_hash(predict: Predict) -> str:
    """Return the hash of a call's rendered prompt, for trace, log and cache key."""
    if predict.prompt is None:
        return prompt_hash(predict.messages)
    return prompt_hash(predict.prompt.format_messages(**predict.prompt_args))


def prompt_hash(messages: Sequence[ChatMessage]) -> str:
    """Return a short hash of a rendered prompt."""
    rendered = "\x1e".join(f"{m.role.value}\x1f{m.content or ''}" for m in messages)
    return hashlib.sha256(rendered.encode("utf-8", "surrogatepass")).hexdigest()[:16]


class InProcessRewriteCache:
    """A bounded cache in memory, least recently used out first, safe for threads.

    Args:
        max_entries: entries kept, ≥ 1.
        ttl_s: lifetime of an entry in seconds.
        clock: seconds that only move forward; replaceable for tests.
    """

    def __init__(
        self, max_entries: int = 1024, ttl_s: float = 3600.0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._entries: TTLCache[str, str] = TTLCache(max_entries, ttl_s, timer=clock)
        self._lock = Lock()

    def get(self, key: str) -> str | None:
        """Return the raw rewrite stored under a key, or None if there is none or its time is over."""
        with self._lock:
            raw: str | None = self._entries.get(key)
            return raw

    def set(self, key: str, value: str) -> None:
        """Store a raw rewrite."""
        with self._lock:
            self._entries[key] = value

    def delete(self, key: str) -> None:
        """Forget one entry."""
        with self._lock:
            self._entries.pop(key, None)

    def __len__(self) -> int:
        with self._lock:
            return len(self._entries)


class KVStoreRewriteCache:
    """A cache in any LlamaIndex ``BaseKVStore``, for example Redis, shared by several workers.

    Raises what the store raises: the engine takes a cache that fails for an empty one.

    Args:
        kvstore: the store.
        ttl_s: lifetime of an entry in seconds, checked when it is read.
        collection: the store's collection.
        clock: wall-clock seconds, for entries outlive the process; replaceable for tests.
    """

    def __init__(
        self,
        kvstore: BaseKVStore,
        ttl_s: float = 3600.0,
        collection: str = "condense_plus_rewrites",
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._store = kvstore
        self._ttl_s = ttl_s
        self._collection = collection
        self._clock = clock

    def get(self, key: str) -> str | None:
        """Return the raw rewrite stored under a key, or None."""
        return self._read(self._store.get(key, collection=self._collection))

    async def aget(self, key: str) -> str | None:
        """Return the raw rewrite stored under a key, or None."""
        return self._read(await self._store.aget(key, collection=self._collection))

    def set(self, key: str, value: str) -> None:
        """Store a raw rewrite."""
        self._store.put(key, self._entry(value), collection=self._collection)

    async def aset(self, key: str, value: str) -> None:
        """Store a raw rewrite."""
        await self._store.aput(key, self._entry(value), collection=self._collection)

    def delete(self, key: str) -> None:
        """Forget one entry."""
        self._store.delete(key, collection=self._collection)

    async def adelete(self, key: str) -> None:
        """Forget one entry."""
        await self._store.adelete(key, collection=self._collection)

    def _entry(self, value: str) -> dict[str, Any]:
        return {"text": value, "expires": self._clock() + self._ttl_s}

    def _read(self, entry: dict[str, Any] | None) -> str | None:
        text = entry.get("text") if entry and entry.get("expires", 0) > self._clock() else None
        return text if isinstance(text, str) else None


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
        self._flights: dict[str, list[Flight]] = {}
        self._lock = Lock()

    def join(self, key: str) -> Flight:
        """Take part in the call of a key: the first caller leads, the others follow."""
        with self._lock:
            together = self._flights.setdefault(key, [])
            flight = Flight(key, not together, Future())
            together.append(flight)
            return flight

    def land(self, flight: Flight, value: str | None) -> None:
        """End a leader's call: every follower gets its value; None sends each on to a call of its own.

        To be called in a ``finally``; a second call, or a follower's, does nothing.
        """
        with self._lock:
            if self._flights.get(flight.key, [None])[0] is not flight:
                return
            together = self._flights.pop(flight.key)
        for one in together:
            with suppress(InvalidStateError):  # that follower was cancelled
                one.future.set_result(value)

    @property
    def in_flight(self) -> int:
        """How many calls are being made now."""
        with self._lock:
            return len(self._flights)


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
