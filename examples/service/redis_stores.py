"""History and rewrite cache in Redis, in the forms that LlamaIndex and the engine take."""

from __future__ import annotations

import json
from typing import Any

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.storage.chat_store.base_db import AsyncDBChatStore, MessageStatus
from pydantic import ConfigDict, Field
from redis import Redis
from redis.asyncio import Redis as AsyncRedis

PREFIX = "condense_plus:"


class RedisHistory(AsyncDBChatStore):
    """A chat store for ``Memory``: one list of active and one of archived messages by conversation.

    Both messages of a turn go in with one command, so that a killed worker never leaves half a turn.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)
    client: Any = Field(exclude=True)
    db_schema: str | None = None

    async def get_messages(
        self,
        key: str,
        status: MessageStatus | None = MessageStatus.ACTIVE,
        limit: int | None = None,
        offset: int | None = None,
    ) -> list[ChatMessage]:
        """Return messages, oldest first."""
        wanted = [status] if status is not None else [MessageStatus.ARCHIVED, MessageStatus.ACTIVE]
        async with self.client.pipeline(transaction=True) as pipe:
            for each in wanted:
                pipe.lrange(_name(key, each), 0, -1)
            raw = [item for items in await pipe.execute() for item in items]
        start = offset or 0
        return [ChatMessage.model_validate_json(item) for item in raw[start : None if limit is None else start + limit]]

    async def count_messages(self, key: str, status: MessageStatus | None = MessageStatus.ACTIVE) -> int:
        """Return how many messages there are."""
        if status is not None:
            return int(await self.client.llen(_name(key, status)))
        return sum([int(await self.client.llen(_name(key, each))) for each in MessageStatus])

    async def add_message(self, key: str, message: ChatMessage, status: MessageStatus = MessageStatus.ACTIVE) -> None:
        """Append one message."""
        await self.add_messages(key, [message], status)

    async def add_messages(
        self, key: str, messages: list[ChatMessage], status: MessageStatus = MessageStatus.ACTIVE
    ) -> None:
        """Append messages together."""
        if messages:
            await self.client.rpush(_name(key, status), *(message.model_dump_json() for message in messages))

    async def set_messages(
        self, key: str, messages: list[ChatMessage], status: MessageStatus = MessageStatus.ACTIVE
    ) -> None:
        """Replace all messages."""
        async with self.client.pipeline(transaction=True) as pipe:
            pipe.delete(*(_name(key, each) for each in MessageStatus))
            if messages:
                pipe.rpush(_name(key, status), *(message.model_dump_json() for message in messages))
            await pipe.execute()

    async def delete_message(self, key: str, idx: int) -> ChatMessage | None:
        """Delete the active message at an index and return it."""
        messages = await self.get_messages(key)
        if not 0 <= idx < len(messages):
            return None
        async with self.client.pipeline(transaction=True) as pipe:
            pipe.lset(_name(key, MessageStatus.ACTIVE), idx, "")
            pipe.lrem(_name(key, MessageStatus.ACTIVE), 1, "")
            await pipe.execute()
        return messages[idx]

    async def delete_messages(self, key: str, status: MessageStatus | None = None) -> None:
        """Delete all messages of a status, or all."""
        await self.client.delete(*(_name(key, each) for each in ([status] if status else MessageStatus)))

    async def delete_oldest_messages(self, key: str, n: int) -> list[ChatMessage]:
        """Delete the oldest active messages and return them."""
        oldest = (await self.get_messages(key, limit=n)) if n > 0 else []
        await self.client.ltrim(_name(key, MessageStatus.ACTIVE), len(oldest), -1)
        return oldest

    async def archive_oldest_messages(self, key: str, n: int) -> list[ChatMessage]:
        """Move the oldest active messages to the archive and return them."""
        moved = await self.get_messages(key, limit=n)
        async with self.client.pipeline(transaction=True) as pipe:
            for _ in moved:
                pipe.lmove(_name(key, MessageStatus.ACTIVE), _name(key, MessageStatus.ARCHIVED), "LEFT", "RIGHT")
            await pipe.execute()
        return moved

    async def get_keys(self) -> list[str]:
        """Return the keys of all conversations."""
        names = [name async for name in self.client.scan_iter(f"{PREFIX}history:*")]
        return sorted({name.decode().split(":", 3)[3] for name in names})


class RedisRewriteCache:
    """The rewrite cache, its entries with a lifetime of Redis's own."""

    def __init__(self, client: Redis, async_client: AsyncRedis, ttl_s: float) -> None:
        self._client = client
        self._async_client = async_client
        self._ttl_s = max(1, round(ttl_s))

    def get(self, key: str) -> str | None:
        """Return the rewrite under a key."""
        return _text(self._client.get(f"{PREFIX}rewrite:{key}"))

    async def aget(self, key: str) -> str | None:
        """Return the rewrite under a key."""
        return _text(await self._async_client.get(f"{PREFIX}rewrite:{key}"))

    def set(self, key: str, value: str) -> None:
        """Store a rewrite."""
        self._client.set(f"{PREFIX}rewrite:{key}", json.dumps(value), ex=self._ttl_s)

    async def aset(self, key: str, value: str) -> None:
        """Store a rewrite."""
        await self._async_client.set(f"{PREFIX}rewrite:{key}", json.dumps(value), ex=self._ttl_s)

    async def adelete(self, key: str) -> None:
        """Forget a rewrite."""
        await self._async_client.delete(f"{PREFIX}rewrite:{key}")


def _name(key: str, status: MessageStatus) -> str:
    return f"{PREFIX}history:{status.value}:{key}"


def _text(stored: Any) -> str | None:
    return json.loads(stored) if stored is not None else None
