"""Who may call, how much at once, and how often."""

from __future__ import annotations

import hmac
import logging
import time
from collections.abc import Awaitable, Callable
from typing import Any

from config import ServiceConfig
from fastapi import Request
from fastapi.responses import JSONResponse
from redis.exceptions import RedisError
from starlette.types import ASGIApp, Message, Receive, Scope, Send

logger = logging.getLogger(__name__)
OPEN_PATHS = ("/health", "/metrics")
MINUTE_S = 60


class BodyLimit:
    """Refuses bodies beyond a size, declared or sent."""

    def __init__(self, app: ASGIApp, max_bytes: int) -> None:
        self.app = app
        self.max_bytes = max_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Read the body as far as it is allowed, then hand the request on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        body = b""
        while True:
            message = await receive()
            body += message.get("body", b"")
            if len(body) > self.max_bytes:
                await JSONResponse({"error": "The request is too long."}, 413)(scope, receive, send)
                return
            if message["type"] != "http.request" or not message.get("more_body"):
                break
        replayed = False

        async def replay() -> Message:
            nonlocal replayed
            if replayed:
                return await receive()
            replayed = True
            return {"type": "http.request", "body": body}

        await self.app(scope, replay, send)


class Gatekeeper:
    """Checks API key and rate; rates are counted in Redis where there is one, so that all workers count together."""

    def __init__(self, config: ServiceConfig, redis: Any = None, clock: Callable[[], float] = time.time) -> None:
        self._keys = [key.encode() for key in config.api_keys]
        self._limit = config.requests_per_minute
        self._redis = redis
        self._clock = clock
        self._counts: dict[str, int] = {}

    async def __call__(self, request: Request, call_next: Callable[[Request], Awaitable[Any]]) -> Any:
        """Let a request pass, or refuse it with 401 or 429."""
        if request.url.path in OPEN_PATHS:
            return await call_next(request)
        given = request.headers.get("x-api-key", "").encode()
        if self._keys and not any(hmac.compare_digest(given, key) for key in self._keys):
            return JSONResponse({"error": "Send a valid key in X-API-Key."}, 401)
        who = given.decode(errors="replace") if self._keys else request.client.host if request.client else ""
        if self._limit and await self._count(who) > self._limit:
            return JSONResponse({"error": "Too many requests."}, 429, {"Retry-After": str(MINUTE_S)})
        return await call_next(request)

    async def _count(self, who: str) -> int:
        window = f"condense_plus:rate:{int(self._clock() // MINUTE_S)}:{who}"
        if self._redis is not None:
            try:
                async with self._redis.pipeline(transaction=True) as pipe:
                    counted, _ = await pipe.incr(window).expire(window, 2 * MINUTE_S).execute()
                return int(counted)
            except (RedisError, OSError) as error:
                logger.warning("Rates are counted by worker: %s", type(error).__name__)
        if window not in self._counts:
            current = window.split(":")[2]
            self._counts = {key: n for key, n in self._counts.items() if key.split(":")[2] == current}
        self._counts[window] = self._counts.get(window, 0) + 1
        return self._counts[window]
