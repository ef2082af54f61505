"""A conversation lock that several processes share: a lease in Redis or a database, renewed while a turn runs."""

from __future__ import annotations

import asyncio
import logging
import random
import threading
import time
import uuid
from concurrent.futures import Future, wait
from functools import partial
from typing import Any, Protocol
from weakref import WeakValueDictionary

import sqlalchemy as sql
from sqlalchemy.exc import DBAPIError, IntegrityError

from llama_index_condense_plus import workers
from llama_index_condense_plus.errors import ConversationBusyError
from llama_index_condense_plus.flow import Step, adrive, drive, twin
from llama_index_condense_plus.operations import Flow
from llama_index_condense_plus.turn.lock import ConversationLock

logger: logging.Logger = logging.getLogger(__name__)

POLL_S = (0.02, 0.25)
"""Shortest and longest pause between two attempts at a lease that another process holds, in seconds."""


class LeaseStore(Protocol):
    """Keeps leases; every call is one short, atomic operation and may raise what the store raises."""

    def take(self, key: str, token: str, ttl_s: float) -> bool:
        """Take a free or expired lease; return False if somebody else holds it."""

    def renew(self, key: str, token: str, ttl_s: float) -> bool:
        """Prolong a lease; return False if it is no longer this token's."""

    def drop(self, key: str, token: str) -> None:
        """Give a lease back, if it is still this token's."""


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
        self.held: set[LeaseLock] = set()
        """The locks whose leases are renewed."""
        self._locks: WeakValueDictionary[str, LeaseLock] = WeakValueDictionary()
        self._mutex = threading.Lock()
        self._closing = threading.Event()
        self._renewing: threading.Thread | None = None

    def __call__(self, key: str) -> LeaseLock:
        """Return the lock of a conversation, always the same one in this process."""
        with self._mutex:
            lock = self._locks.get(key)
            if lock is None:
                lock = self._locks[key] = LeaseLock(self, self._prefix + key)
            return lock

    def close(self) -> None:
        """Stop renewing and give every lease back."""
        self._closing.set()
        for lock in tuple(self.held):
            lock.release()

    def keep_renewing(self) -> None:
        """Renew the leases that are held, until ``close``."""
        with self._mutex:
            if self._renewing is None or not self._renewing.is_alive():  # it does not live on in a forked child
                self._renewing = threading.Thread(target=self._renew, name="condense-plus-leases", daemon=True)
                self._renewing.start()

    def _renew(self) -> None:
        while not self._closing.wait(self.ttl_s / 3):
            for lock in tuple(self.held):
                try:
                    self.store.renew(lock.key, lock.token, self.ttl_s)
                except Exception as error:  # noqa: BLE001 - the lease may still be there; confirm() will tell
                    logger.warning("A conversation's lease was not renewed: %s", type(error).__name__)


class LeaseLock:
    """The lock of one conversation: first come, first served in this process, then a lease among processes."""

    def __init__(self, locks: LeaseLocks, key: str) -> None:
        self.key = key
        self.token: str = ""
        """Names the holder of the lease; empty: this process does not hold it."""
        self._locks = locks
        self._local = ConversationLock()
        self._under_way: Future[Any] | None = None

    def acquire(self) -> None:
        """Wait in this thread.

        Raises:
            ConversationBusyError: another process held it for ``wait_s``, or the store cannot be reached.
        """
        drive(self._acquired())

    async def aacquire(self) -> None:
        """Wait without blocking the event loop; raises what ``acquire`` raises."""
        await adrive(self._acquired())

    def confirm(self) -> None:
        """Raise ConversationBusyError if the lease was lost, or cannot be confirmed."""
        drive(self._confirmed())

    async def aconfirm(self) -> None:
        """Raise ConversationBusyError if the lease was lost, or cannot be confirmed."""
        await adrive(self._confirmed())

    def release(self) -> None:
        """Let the next turn run; the lease is given back beside the caller."""
        token, self.token = self.token, ""
        self._locks.held.discard(self)
        self._give_back(token)

    def _acquired(self) -> Flow[None]:
        yield twin(self._local, "acquire")
        token, deadline, pause = uuid.uuid4().hex, time.monotonic() + self._locks.wait_s, POLL_S[0]
        try:
            while not (yield from self._asked("take", token, self._locks.ttl_s)):
                if time.monotonic() >= deadline:
                    raise ConversationBusyError(
                        f"Another worker has been in a turn of this conversation for {self._locks.wait_s:g} s. "
                        "Ask again later."
                    )
                pause = min(POLL_S[1], pause * random.uniform(1.0, 2.0))  # noqa: S311 - spreads the waiting processes
                yield Step("pause", partial(time.sleep, pause), partial(asyncio.sleep, pause))
        except BaseException:
            self._give_back(token)
            raise
        self.token = token
        self._locks.held.add(self)
        self._locks.keep_renewing()

    def _confirmed(self) -> Flow[None]:
        if not (yield from self._asked("renew", self.token, self._locks.ttl_s)):
            raise ConversationBusyError(
                "This turn lost its conversation to another worker; it is not stored. Ask again."
            )

    def _asked(self, method: str, *arguments: Any) -> Flow[bool]:
        ask = partial(getattr(self._locks.store, method), self.key, *arguments)

        async def beside_loop() -> Any:
            self._under_way = workers.submit_or_run(ask, "lease")
            return await asyncio.wrap_future(self._under_way)

        try:
            return bool((yield Step("lease", ask, beside_loop)))
        except Exception as error:
            words = f"The store of the conversation locks cannot be reached: {type(error).__name__}."
            raise ConversationBusyError(words) from error

    def _give_back(self, token: str) -> None:
        def drop() -> None:
            if self._under_way is not None:  # a cancelled attempt may have taken it after all
                wait((self._under_way,))
            try:
                self._locks.store.drop(self.key, token)
            except Exception as error:  # noqa: BLE001 - it expires by itself
                logger.warning("A conversation's lease was not released: %s", type(error).__name__)
            finally:
                self._local.release()

        workers.submit_or_run(drop, "lease")


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

    def __init__(self, engine: sql.Engine, table_name: str = "condense_plus_leases") -> None:
        self._engine = engine
        key, token = sql.Column("key", sql.String, primary_key=True), sql.Column("token", sql.String, nullable=False)
        self._table = sql.Table(
            table_name, sql.MetaData(), key, token, sql.Column("expires", sql.Double, nullable=False)
        )
        self._now: Any = sql.func.extract("epoch", sql.func.clock_timestamp())
        if engine.dialect.name == "sqlite":
            self._now = sql.literal_column("(julianday('now') - 2440587.5) * 86400.0")
        try:
            self._table.metadata.create_all(engine)
        except DBAPIError:  # another worker made the table between the check and the making
            self._table.metadata.create_all(engine)

    def take(self, key: str, token: str, ttl_s: float) -> bool:
        """Take a free or expired lease."""
        table, values = self._table, {"token": token, "expires": self._now + ttl_s}
        free = sql.update(table).where(table.c.key == key, sql.or_(table.c.expires < self._now, table.c.token == token))
        try:
            with self._engine.begin() as connection:
                if connection.execute(free.values(values)).rowcount:
                    return True
                if connection.execute(sql.select(table.c.key).where(table.c.key == key)).first():
                    return False
                connection.execute(table.insert().values(key=key, **values))
                return True
        except IntegrityError:  # somebody was faster
            return False

    def renew(self, key: str, token: str, ttl_s: float) -> bool:
        """Prolong a lease; False: it is no longer this token's."""
        mine = sql.update(self._table).where(self._table.c.key == key, self._table.c.token == token)
        with self._engine.begin() as connection:
            return bool(connection.execute(mine.values(expires=self._now + ttl_s)).rowcount)

    def drop(self, key: str, token: str) -> None:
        """Give a lease back, if it is still this token's."""
        mine = sql.delete(self._table).where(self._table.c.key == key, self._table.c.token == token)
        with self._engine.begin() as connection:
            connection.execute(mine)
