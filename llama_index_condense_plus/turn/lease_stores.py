"""Where leases can be kept: Redis, or a SQL database."""

from __future__ import annotations

from typing import Any

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

_RENEW = (
    "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('pexpire', KEYS[1], ARGV[2]) else return 0 end"
)
_DROP = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end"
TABLE_NAME = "condense_plus_leases"


class RedisLeaseStore:
    """Leases as Redis keys with a lifetime (``SET NX PX``), compared with the holder's token before they change.

    Args:
        client: a synchronous ``redis.Redis``, best with a ``socket_timeout`` of a few seconds.
        prefix: put before each key.
    """

    def __init__(self, client: Any, prefix: str = "condense_plus:lease:") -> None:
        self._client = client
        self._prefix = prefix

    def take(self, key: str, token: str, ttl_s: float) -> bool:
        """Take a free or expired lease."""
        return bool(self._client.set(self._prefix + key, token, nx=True, px=round(ttl_s * 1000)))

    def renew(self, key: str, token: str, ttl_s: float) -> bool:
        """Prolong a lease; False: it is no longer this token's."""
        return bool(self._client.eval(_RENEW, 1, self._prefix + key, token, round(ttl_s * 1000)))

    def drop(self, key: str, token: str) -> None:
        """Give a lease back, if it is still this token's."""
        self._client.eval(_DROP, 1, self._prefix + key, token)


class SQLLeaseStore:
    """Leases as rows of a table, by the database's own clock; PostgreSQL, or SQLite for processes of one machine.

    Args:
        engine: a synchronous SQLAlchemy engine.
        table_name: the table; made here.
    """

    def __init__(self, engine: Engine, table_name: str = TABLE_NAME) -> None:
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
