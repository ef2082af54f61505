"""A chat service: one conversation per id, answers as server-sent events, any number of stateless workers.

uvicorn app:service --factory --port 8080 --timeout-graceful-shutdown 60
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Annotated, Any

import metrics
from config import ServiceConfig
from fastapi import FastAPI, HTTPException, Path, Request
from fastapi.responses import JSONResponse, PlainTextResponse, StreamingResponse
from limits import BodyLimit, Gatekeeper
from llama_index_instrumentation import get_dispatcher
from parts import Parts, build
from prometheus_client import generate_latest
from pydantic import BaseModel, Field

from llama_index_condense_plus import (
    AnswerTimeoutError,
    CondensePlusChatEngine,
    ConversationBusyError,
    InvalidMessageError,
)

logger = logging.getLogger(__name__)
ConversationId = Annotated[str, Path(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
CHECK_TIMEOUT_S = 5.0


class Question(BaseModel):
    """A user's message."""

    message: str = Field(min_length=1)


def service() -> FastAPI:
    """Return the service that the environment configures."""
    config = ServiceConfig()
    return create_app(config, lambda: build(config))


def create_app(  # noqa: C901 - one function a route
    config: ServiceConfig, make_parts: Callable[[], Any]
) -> FastAPI:
    """Return the service with these options; ``make_parts`` returns an awaitable of its parts."""
    streams: set[asyncio.Task[Any]] = set()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        parts: Parts = await make_parts()
        app.state.parts, app.state.gate = parts, Gatekeeper(config, parts.redis)
        get_dispatcher().add_event_handler(metrics.TurnCounter())
        yield
        if streams:  # readers have left, their turns are still being stored
            await asyncio.wait(streams, timeout=config.answer_timeout_s)
        await parts.close()

    app = FastAPI(title="Chat", lifespan=lifespan)
    app.add_middleware(BodyLimit, max_bytes=config.max_body_bytes, timeout_s=config.body_timeout_s)

    @app.middleware("http")
    async def gate(request: Request, call_next: Any) -> Any:
        return await request.app.state.gate(request, call_next)

    @app.exception_handler(ConversationBusyError)
    async def busy(_: Request, error: ConversationBusyError) -> JSONResponse:
        metrics.CONFLICTS.inc()
        return JSONResponse({"error": str(error)}, 409)

    @app.exception_handler(InvalidMessageError)
    async def invalid(_: Request, error: InvalidMessageError) -> JSONResponse:
        return JSONResponse({"error": str(error)}, 422)

    @app.exception_handler(Exception)
    async def failed(_: Request, error: Exception) -> JSONResponse:
        return JSONResponse({"error": _told(error)}, 503)

    def engine_of(request: Request, conversation: str) -> CondensePlusChatEngine:
        engine: CondensePlusChatEngine = request.app.state.parts.engine
        caller: str = request.state.caller
        return engine.for_conversation(f"{caller}:{conversation}" if caller else conversation)

    @app.post("/conversations/{conversation}/messages")
    async def ask(conversation: ConversationId, question: Question, request: Request) -> StreamingResponse:
        if len(question.message) > config.max_message_chars:
            raise HTTPException(422, f"A message has at most {config.max_message_chars} characters.")
        asking = engine_of(request, conversation).astream_chat(question.message)
        response = await asyncio.wait_for(asking, config.answer_timeout_s + config.wait_s)
        if (writer := response.awrite_response_to_history_task) is not None:
            streams.add(writer)
            writer.add_done_callback(streams.discard)
        return StreamingResponse(_events(response), media_type="text/event-stream", headers={"X-Accel-Buffering": "no"})

    @app.get("/conversations/{conversation}")
    async def history(conversation: ConversationId, request: Request) -> list[dict[str, Any]]:
        rounds = await engine_of(request, conversation).ahistory_with_queries()
        return [
            {
                "turn_id": turn.turn_id,
                "message": turn.message.content,
                "answer": "\n".join(answer.content or "" for answer in turn.answers),
                "searched": turn.query,
                "status": turn.status,
            }
            for turn in rounds
        ]

    @app.delete("/conversations/{conversation}", status_code=204)
    async def delete(conversation: ConversationId, request: Request) -> None:
        await engine_of(request, conversation).adelete_conversation()

    @app.get("/health")
    async def health(request: Request) -> JSONResponse:
        found = {name: await _reachable(check) for name, check in request.app.state.parts.checks.items()}
        return JSONResponse(found, 200 if all(found.values()) else 503)

    @app.get("/metrics")
    async def counters() -> PlainTextResponse:
        return PlainTextResponse(generate_latest())

    return app


async def _events(response: Any) -> AsyncIterator[str]:
    """Yield the trace, then the answer as it arrives, then the end: ``done`` once the turn is stored, or ``error``."""
    trace = response.trace
    yield _event(
        "trace",
        turn_id=trace.turn_id,
        searched=trace.search_query,
        reason=trace.decision.reason.value,
        status=trace.rewrite.status.value,
        sources=[node.node.metadata.get("source", node.node.node_id) for node in trace.nodes],
        warnings=list(trace.warnings),
    )
    try:
        async for piece in response.async_response_gen():
            yield _event("token", text=piece)
    except Exception as error:  # noqa: BLE001 - the status line is sent, the reader is told this way
        yield _event("error", error=_told(error))
    else:
        yield _event("done", turn_id=trace.turn_id)


def _event(name: str, **data: Any) -> str:
    return f"event: {name}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n"


def _told(error: Exception) -> str:
    """Return what a client may know of an error."""
    metrics.ERRORS.labels(type(error).__name__).inc()
    logger.warning("A turn failed", exc_info=error)
    if isinstance(error, (AnswerTimeoutError, ConversationBusyError)):
        return str(error)
    return "The turn failed and is not stored. Ask again."


async def _reachable(check: Callable[[], Any]) -> bool:
    try:
        await asyncio.wait_for(check(), CHECK_TIMEOUT_S)
    except Exception:  # noqa: BLE001 - any failure means the same
        return False
    return True
