"""Accepted rewrites, kept so that the same prompt is not asked twice."""

from __future__ import annotations

import hashlib
import json
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.storage.kvstore.types import BaseKVStore

from llama_index_condense_plus.settings import CondensePlusSettings

KEY_VERSION = "1"
"""Part of every key: raised when parser or guards change what an old entry would mean."""


@dataclass(frozen=True, slots=True)
class CacheStatistics:
    """How a cache has done so far."""

    hits: int
    """Look-ups that were answered."""
    misses: int
    """Look-ups that were not, expired entries among them."""
    size: int | None
    """Entries held; None where the store does not say."""
    errors: int = 0
    """Look-ups and writes that the store failed."""


def cache_key(
    prompt: str | Sequence[ChatMessage], model: str, settings: CondensePlusSettings, namespace: str | None = None
) -> str:
    """Return the key of a rewrite: a hash of all that decides what the raw output is and means.

    Args:
        prompt: the rendered prompt, history, entities, date and question included.
        model: the model's name.
        settings: its rewrite options, guards, cleanup, aliases and word lists are part of the key.
        namespace: the tenant; none: ``settings.cache.namespace``. Two tenants never share an entry.
    """
    words = prompt if isinstance(prompt, str) else [[str(m.role.value), str(m.content or "")] for m in prompt]
    own = settings.model_dump(mode="json", include={"rewrite", "guards", "cleanup", "aliases", "languages"})
    parts = [KEY_VERSION, settings.cache.namespace if namespace is None else namespace, model, words, own]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


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
        self._max_entries = max_entries
        self._ttl_s = ttl_s
        self._clock = clock
        self._entries: OrderedDict[str, tuple[float, str]] = OrderedDict()
        self._hits = self._misses = 0
        self._lock = Lock()

    def get(self, key: str) -> str | None:
        """Return the raw rewrite stored under a key, or None if there is none or its time is over."""
        with self._lock:
            entry = self._entries.get(key)
            if entry is None or entry[0] <= self._clock():
                self._entries.pop(key, None)
                self._misses += 1
                return None
            self._entries.move_to_end(key)
            self._hits += 1
            return entry[1]

    def set(self, key: str, value: str) -> None:
        """Store an accepted raw rewrite."""
        with self._lock:
            self._entries[key] = (self._clock() + self._ttl_s, value)
            self._entries.move_to_end(key)
            while len(self._entries) > self._max_entries:
                self._entries.popitem(last=False)

    def delete(self, key: str) -> None:
        """Forget one entry."""
        with self._lock:
            self._entries.pop(key, None)

    def clear(self) -> None:
        """Forget every entry; the statistics go on."""
        with self._lock:
            self._entries.clear()

    @property
    def statistics(self) -> CacheStatistics:
        """Hits, misses and size so far."""
        with self._lock:
            return CacheStatistics(self._hits, self._misses, len(self._entries))


class KVStoreRewriteCache:
    """A cache in any LlamaIndex ``BaseKVStore``, for example Redis, shared by several workers.

    A store that fails counts as a miss: rewriting goes on without it.

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
        self._hits = self._misses = self._errors = 0
        self._lock = Lock()

    def get(self, key: str) -> str | None:
        """Return the raw rewrite stored under a key, or None."""
        try:
            return self._read(self._store.get(key, collection=self._collection))
        except Exception:  # noqa: BLE001 - fails open: any store, any error
            self._failed()
            return None

    async def aget(self, key: str) -> str | None:
        """Return the raw rewrite stored under a key, or None."""
        try:
            return self._read(await self._store.aget(key, collection=self._collection))
        except Exception:  # noqa: BLE001 - fails open: any store, any error
            self._failed()
            return None

    def set(self, key: str, value: str) -> None:
        """Store an accepted raw rewrite."""
        try:
            self._store.put(key, self._entry(value), collection=self._collection)
        except Exception:  # noqa: BLE001 - fails open: any store, any error
            self._count(errors=1)

    async def aset(self, key: str, value: str) -> None:
        """Store an accepted raw rewrite."""
        try:
            await self._store.aput(key, self._entry(value), collection=self._collection)
        except Exception:  # noqa: BLE001 - fails open: any store, any error
            self._count(errors=1)

    def delete(self, key: str) -> None:
        """Forget one entry; raises what the store raises, for somebody asked for it to be gone."""
        self._store.delete(key, collection=self._collection)

    async def adelete(self, key: str) -> None:
        """Forget one entry; raises what the store raises, for somebody asked for it to be gone."""
        await self._store.adelete(key, collection=self._collection)

    @property
    def statistics(self) -> CacheStatistics:
        """Hits, misses and failures so far; the size is the store's to know."""
        with self._lock:
            return CacheStatistics(self._hits, self._misses, None, self._errors)

    def _entry(self, value: str) -> dict[str, Any]:
        return {"text": value, "expires": self._clock() + self._ttl_s}

    def _read(self, entry: dict[str, Any] | None) -> str | None:
        fresh = isinstance(entry, dict) and isinstance(entry.get("text"), str) and entry["expires"] > self._clock()
        self._count(hits=int(fresh), misses=int(not fresh))
        return entry["text"] if fresh and entry else None

    def _failed(self) -> None:
        self._count(misses=1, errors=1)

    def _count(self, hits: int = 0, misses: int = 0, errors: int = 0) -> None:
        with self._lock:
            self._hits += hits
            self._misses += misses
            self._errors += errors
