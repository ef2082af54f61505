"""Who may call, how much at once, and how often."""

from __future__ import annotations

import asyncio
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
    """Refuses bodies beyond a size, declared or sent, and those that trickle in."""

    def __init__(self, app: ASGIApp, max_bytes: int, timeout_s: float) -> None:
        self.app = app
        self.max_bytes = max_bytes
        self.timeout_s = timeout_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Read the body as far as it is allowed, then hand the request on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        try:
            body = await asyncio.wait_for(self._read(receive), self.timeout_s)
        except asyncio.TimeoutError:
            await JSONResponse({"error": "The request came too slowly."}, 408)(scope, receive, send)
            return
        if body is None:
            await JSONResponse({"error": "The request is too long."}, 413)(scope, receive, send)
            return
        replayed = False

        async def replay() -> Message:
            nonlocal replayed
            if replayed:
                return await receive()
            replayed = True
            return {"type": "http.request", "body": body}

        await self.app(scope, replay, send)

    async def _read(self, receive: Receive) -> bytes | None:
        """Return the body, or None if it is too long."""
        body = b""
        while True:
            message = await receive()
            body += message.get("body", b"")
            if len(body) > self.max_bytes:
                return None
            if message["type"] != "http.request" or not message.get("more_body"):
                return body


class Gatekeeper:
    """Checks API key and rate; rates are counted in Redis where there is one, so that all workers count together."""

    def __init__(self, config: ServiceConfig, redis: Any = None, clock: Callable[[], float] = time.time) -> None:
        self._callers = {key.encode(): caller for key, caller in config.api_keys.items()}
        self._limit = config.requests_per_minute
        self._redis = redis
        self._clock = clock
        self._counts: dict[str, int] = {}

    async def __call__(self, request: Request, call_next: Callable[[Request], Awaitable[Any]]) -> Any:
        """Let a request pass, with its caller in ``request.state``, or refuse it with 401 or 429."""
        if request.scope["path"] in OPEN_PATHS:  # not request.url.path: that is made of the Host header, too
            return await call_next(request)
        caller = self._caller(request.headers.get("x-api-key", "").encode())
        who = caller or (request.client.host if request.client else "")
        if self._limit and await self._count(who) > self._limit:
            return JSONResponse({"error": "Too many requests."}, 429, {"Retry-After": str(MINUTE_S)})
        if caller is None:
            return JSONResponse({"error": "Send a valid key in X-API-Key."}, 401)
        request.state.caller = caller
        return await call_next(request)

    def _caller(self, given: bytes) -> str | None:
        """Return whose key was given, None if nobody's; empty where there are no keys."""
        if not self._callers:
            return ""
        found = [caller for key, caller in self._callers.items() if hmac.compare_digest(given, key)]
        return found[0] if found else None

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
