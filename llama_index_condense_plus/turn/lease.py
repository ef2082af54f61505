"""A conversation lock that several processes share: a lease in Redis or a database, renewed while a turn runs."""

from __future__ import annotations

import asyncio
import logging
import random
import threading
import time
import uuid
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Protocol, TypeVar
from weakref import WeakValueDictionary

from sqlalchemy import (
    Column,
    Double,
    Engine,
    MetaData,
    String,
    Table,
    delete,
    func,
    literal_column,
    or_,
    select,
    update,
)
from sqlalchemy.exc import DBAPIError, IntegrityError

from llama_index_condense_plus.errors import ConversationBusyError
from llama_index_condense_plus.turn.lock import ConversationLock

logger = logging.getLogger(__name__)
T = TypeVar("T")

POLL_S = (0.02, 0.25)
"""Shortest and longest pause between two attempts at a lease that another process holds, in seconds."""
CALLERS = 4
"""Threads that talk to the store."""


class LeaseStore(Protocol):
    """Keeps leases; every call is one short, atomic operation and may raise what the store raises."""

    def take(self, key: str, token: str, ttl_s: float) -> bool:
        """Take a free or expired lease; return False if somebody else holds it."""
        ...

    def renew(self, key: str, token: str, ttl_s: float) -> bool:
        """Prolong a lease; return False if it is no longer this token's."""
        ...

    def drop(self, key: str, token: str) -> None:
        """Give a lease back, if it is still this token's."""
        ...


class LeaseLocks:
    """Makes the locks of conversations whose turns run in several processes; give it to an engine as ``locks``.

    A worker that dies holds a conversation up for at most ``ttl_s``. A worker that was cut off from the store, or
    stood still for longer than that, does not write its turn: ConversationBusyError.

    Args:
        store: where the leases are.
        ttl_s: lifetime of a lease that is not renewed, in seconds.
        wait_s: how long a turn waits for another one of its conversation, in seconds.
        prefix: put before each key.
    """

    def __init__(self, store: LeaseStore, ttl_s: float = 15.0, wait_s: float = 60.0, prefix: str = "") -> None:
        self.store = store
        self.ttl_s = ttl_s
        self.wait_s = wait_s
        self._prefix = prefix
        self._locks: WeakValueDictionary[str, LeaseLock] = WeakValueDictionary()
        self._mutex = threading.Lock()
        self._held: dict[str, LeaseLock] = {}
        self._callers = ThreadPoolExecutor(CALLERS, "condense-plus-lease")
        self._wake = threading.Event()
        self._closed = False
        self._keeper: threading.Thread | None = None

    def __call__(self, key: str) -> LeaseLock:
        """Return the lock of a conversation, always the same one in this process."""
        with self._mutex:
            lock = self._locks.get(key)
            if lock is None:
                lock = self._locks[key] = LeaseLock(self, self._prefix + key)
            return lock

    def close(self) -> None:
        """Stop renewing and give every lease back."""
        self._closed = True
        self._wake.set()
        for lock in tuple(self._held.values()):
            lock.release()
        self._callers.shutdown()

    def call(self, function: Callable[..., T], *args: object) -> Future[T]:
        """Run a store's operation beside the caller."""
        return self._callers.submit(function, *args)

    def hold(self, lock: LeaseLock) -> None:
        """Renew a lock's lease until it is let go."""
        with self._mutex:
            self._held[lock.key] = lock
            if self._keeper is None:
                self._keeper = threading.Thread(target=self._renew_all, name="condense-plus-leases", daemon=True)
                self._keeper.start()

    def let_go(self, lock: LeaseLock) -> None:
        """Renew a lock's lease no longer."""
        with self._mutex:
            self._held.pop(lock.key, None)

    def _renew_all(self) -> None:
        while not self._wake.wait(self.ttl_s / 3) and not self._closed:
            with self._mutex:
                held = tuple(self._held.values())
            for lock in held:
                try:
                    lock.renew()
                except Exception as error:  # noqa: BLE001 - the lease may still be there; confirm() will tell
                    logger.warning("A conversation's lease was not renewed: %s", type(error).__name__)


class LeaseLock:
    """The lock of one conversation: first come, first served in this process, then a lease among processes."""

    __slots__ = ("__weakref__", "_local", "_locks", "_token", "key")

    def __init__(self, locks: LeaseLocks, key: str) -> None:
        self.key = key
        self._locks = locks
        self._local = ConversationLock()
        self._token = ""

    def acquire(self) -> None:
        """Wait in this thread.

        Raises:
            ConversationBusyError: another process held it for ``wait_s``, or the store cannot be reached.
        """
        self._local.acquire()
        try:
            token, deadline, pause = uuid.uuid4().hex, time.monotonic() + self._locks.wait_s, POLL_S[0]
            while not self._checked(self._take(token)):
                pause = self._next_pause(pause, deadline)
                time.sleep(pause)
        except BaseException:
            self._local.release()
            raise
        self._begin(token)

    async def aacquire(self) -> None:
        """Wait without blocking the event loop.

        Raises:
            ConversationBusyError: another process held it for ``wait_s``, or the store cannot be reached.
        """
        await self._local.aacquire()
        token = uuid.uuid4().hex
        try:
            deadline, pause = time.monotonic() + self._locks.wait_s, POLL_S[0]
            while not await self._achecked(self._take(token)):
                pause = self._next_pause(pause, deadline)
                await asyncio.sleep(pause)
        except BaseException:
            self._forget(token)  # the attempt under way may succeed after all
            self._local.release()
            raise
        self._begin(token)

    def confirm(self) -> None:
        """Raise ConversationBusyError if the lease was lost, or cannot be confirmed."""
        self._confirmed(
            self._checked(self._locks.call(self._locks.store.renew, self.key, self._token, self._locks.ttl_s))
        )

    async def aconfirm(self) -> None:
        """Raise ConversationBusyError if the lease was lost, or cannot be confirmed."""
        renewing = self._locks.call(self._locks.store.renew, self.key, self._token, self._locks.ttl_s)
        self._confirmed(await self._achecked(renewing))

    def release(self) -> None:
        """Let the next turn run; the lease is given back beside the caller."""
        token, self._token = self._token, ""
        self._locks.let_go(self)
        self._forget(token, self._local.release)

    def renew(self) -> None:
        """Prolong the lease, if it is held."""
        token = self._token
        if token:
            self._locks.store.renew(self.key, token, self._locks.ttl_s)

    def _take(self, token: str) -> Future[bool]:
        return self._locks.call(self._locks.store.take, self.key, token, self._locks.ttl_s)

    def _begin(self, token: str) -> None:
        self._token = token
        self._locks.hold(self)

    def _forget(self, token: str, then: Callable[[], None] = lambda: None) -> None:
        def drop() -> None:
            try:
                self._locks.store.drop(self.key, token)
            except Exception as error:  # noqa: BLE001 - it expires by itself
                logger.warning("A conversation's lease was not given back: %s", type(error).__name__)
            finally:
                then()

        try:
            self._locks.call(drop)
        except RuntimeError:  # closed
            drop()

    def _checked(self, calling: Future[T]) -> T:
        try:
            return calling.result()
        except Exception as error:
            raise _unreachable(error) from error

    async def _achecked(self, calling: Future[T]) -> T:
        try:
            return await asyncio.wrap_future(calling)
        except Exception as error:
            raise _unreachable(error) from error

    def _confirmed(self, is_held: bool) -> None:
        if not is_held:
            raise ConversationBusyError(
                "This turn lost its conversation to another worker; it is not stored. Ask again."
            )

    def _next_pause(self, pause: float, deadline: float) -> float:
        if time.monotonic() >= deadline:
            raise ConversationBusyError(
                f"Another worker has been in a turn of this conversation for {self._locks.wait_s:g} s. Ask again later."
            )
        return min(POLL_S[1], pause * random.uniform(1.0, 2.0))  # noqa: S311 - spreads the waiting processes


def _unreachable(error: Exception) -> ConversationBusyError:
    return ConversationBusyError(f"The store of the conversation locks cannot be reached: {type(error).__name__}.")


class RedisLeaseStore:
    """Leases as redis-py's own locks.

    Args:
        client: a synchronous ``redis.Redis``, best with a ``socket_timeout`` of a few seconds.
        prefix: put before each key.
    """

    def __init__(self, client: Any, prefix: str = "condense_plus:lease:") -> None:
        self._client = client
        self._prefix = prefix

    def take(self, key: str, token: str, ttl_s: float) -> bool:
        """Take a free or expired lease."""
        return bool(self._lock(key, token, ttl_s).acquire(blocking=False, token=token))

    def renew(self, key: str, token: str, ttl_s: float) -> bool:
        """Prolong a lease; False: it is no longer this token's."""
        lock = self._lock(key, token, ttl_s)
        return bool(lock.do_extend(ttl_s, True)) if lock.owned() else False

    def drop(self, key: str, token: str) -> None:
        """Give a lease back, if it is still this token's."""
        lock = self._lock(key, token, 1.0)
        if lock.owned():
            lock.do_release(lock.local.token)

    def _lock(self, key: str, token: str, ttl_s: float) -> Any:
        lock = self._client.lock(self._prefix + key, timeout=ttl_s, thread_local=False)
        lock.local.token = self._client.get_encoder().encode(token)
        return lock


class SQLLeaseStore:
    """Leases as rows of a table, by the database's own clock; PostgreSQL, or SQLite for processes of one machine.

    Args:
        engine: a synchronous SQLAlchemy engine.
        table_name: the table; made here.
    """

    def __init__(self, engine: Engine, table_name: str = "condense_plus_leases") -> None:
        self._engine = engine
        self._table = Table(
            table_name,
            MetaData(),
            Column("key", String, primary_key=True),
            Column("token", String, nullable=False),
            Column("expires", Double, nullable=False),
        )
        is_sqlite = engine.dialect.name == "sqlite"
        self._now: Any = (
            literal_column("(julianday('now') - 2440587.5) * 86400.0")
            if is_sqlite
            else func.extract("epoch", func.clock_timestamp())
        )
        try:
            self._table.metadata.create_all(engine)
        except DBAPIError:  # another worker made the table between the check and the making
            self._table.metadata.create_all(engine)

    def take(self, key: str, token: str, ttl_s: float) -> bool:
        """Take a free or expired lease."""
        table, expires = self._table, self._now + ttl_s
        free = or_(table.c.expires < self._now, table.c.token == token)
        try:
            with self._engine.begin() as connection:
                taken = connection.execute(
                    update(table).where(table.c.key == key, free).values(token=token, expires=expires)
                )
                if taken.rowcount:
                    return True
                if connection.execute(select(table.c.key).where(table.c.key == key)).first():
                    return False
                connection.execute(table.insert().values(key=key, token=token, expires=expires))
                return True
        except IntegrityError:  # somebody was faster
            return False

    def renew(self, key: str, token: str, ttl_s: float) -> bool:
        """Prolong a lease; False: it is no longer this token's."""
        table = self._table
        mine = update(table).where(table.c.key == key, table.c.token == token)
        with self._engine.begin() as connection:
            return bool(connection.execute(mine.values(expires=self._now + ttl_s)).rowcount)

    def drop(self, key: str, token: str) -> None:
        """Give a lease back, if it is still this token's."""
        table = self._table
        with self._engine.begin() as connection:
            connection.execute(delete(table).where(table.c.key == key, table.c.token == token))
