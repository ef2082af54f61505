"""A key-value store in a table of its own, on the engine of a SQL chat store."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from llama_index.core.async_utils import asyncio_run
from llama_index.core.storage.kvstore.types import DEFAULT_COLLECTION, BaseKVStore
from sqlalchemy import JSON, Column, ColumnElement, MetaData, String, Table, delete, insert, select
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncEngine

TABLE_NAME = "condense_plus_data"


class SQLKeyValueStore(BaseKVStore):
    """Keeps small JSON values beside the messages of a SQL chat store.

    Args:
        engine: the database, or an async function that returns it.
        table_name: the table; made on first use.
        db_schema: the table's schema, where the database has schemas.
    """

    def __init__(
        self,
        engine: AsyncEngine | Callable[[], Awaitable[AsyncEngine]],
        table_name: str = TABLE_NAME,
        db_schema: str | None = None,
    ) -> None:
        self._engine = engine
        self._is_ready = False
        self._table = Table(
            table_name,
            MetaData(schema=db_schema),
            Column("collection", String, primary_key=True),
            Column("key", String, primary_key=True),
            Column("value", JSON, nullable=False),
        )

    async def aput(self, key: str, val: dict[str, Any], collection: str = DEFAULT_COLLECTION) -> None:
        """Store a value under a key."""
        engine = await self._ready()
        async with engine.begin() as connection:
            await connection.execute(delete(self._table).where(*self._at(collection, key)))
            await connection.execute(insert(self._table).values(collection=collection, key=key, value=val))

    async def aget(self, key: str, collection: str = DEFAULT_COLLECTION) -> dict[str, Any] | None:
        """Return the value under a key, or None."""
        engine = await self._ready()
        async with engine.connect() as connection:
            wanted = select(self._table.c.value).where(*self._at(collection, key))
            return (await connection.execute(wanted)).scalar_one_or_none()

    async def aget_all(self, collection: str = DEFAULT_COLLECTION) -> dict[str, dict[str, Any]]:
        """Return every value of a collection by key."""
        engine = await self._ready()
        async with engine.connect() as connection:
            wanted = select(self._table.c.key, self._table.c.value).where(*self._at(collection))
            return {row.key: row.value for row in await connection.execute(wanted)}

    async def adelete(self, key: str, collection: str = DEFAULT_COLLECTION) -> bool:
        """Delete a key; return True if it was there."""
        engine = await self._ready()
        async with engine.begin() as connection:
            return bool((await connection.execute(delete(self._table).where(*self._at(collection, key)))).rowcount)

    def put(self, key: str, val: dict[str, Any], collection: str = DEFAULT_COLLECTION) -> None:
        """Store a value under a key."""
        asyncio_run(self.aput(key, val, collection))

    def get(self, key: str, collection: str = DEFAULT_COLLECTION) -> dict[str, Any] | None:
        """Return the value under a key, or None."""
        return asyncio_run(self.aget(key, collection))  # type: ignore[no-any-return]

    def get_all(self, collection: str = DEFAULT_COLLECTION) -> dict[str, dict[str, Any]]:
        """Return every value of a collection by key."""
        return asyncio_run(self.aget_all(collection))  # type: ignore[no-any-return]

    def delete(self, key: str, collection: str = DEFAULT_COLLECTION) -> bool:
        """Delete a key; return True if it was there."""
        return bool(asyncio_run(self.adelete(key, collection)))

    def _at(self, collection: str, key: str | None = None) -> list[ColumnElement[bool]]:
        columns = self._table.c
        return [columns.collection == collection, *([] if key is None else [columns.key == key])]

    async def _ready(self) -> AsyncEngine:
        engine = self._engine if isinstance(self._engine, AsyncEngine) else await self._engine()
        if not self._is_ready:
            for last in (False, True):
                try:
                    async with engine.begin() as connection:
                        await connection.run_sync(self._table.metadata.create_all)
                    break
                except DBAPIError:  # another worker made the table between the check and the making
                    if last:
                        raise
                    await asyncio.sleep(0.1)
            self._is_ready = True
        return engine
