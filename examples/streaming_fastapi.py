"""A streaming chat over HTTP in one file: server-sent events, one conversation per id.

pip install "llama-index-condense-plus[service]"
cd examples && uvicorn streaming_fastapi:create_app --factory
curl -N localhost:8000/conversations/ann --json '{"message": "How much does the Heron drone cost?"}'

For many workers, limits and metrics, see the folder service.
"""

import json
from collections.abc import AsyncIterator

import uvicorn
from fastapi import FastAPI
from fastapi.responses import JSONResponse, StreamingResponse
from llama_index.core.base.base_query_engine import BaseQueryEngine
from pydantic import BaseModel, Field
from shop import BY_RULES, index, quoting

from llama_index_condense_plus import CondensePlusChatEngine

HOST, PORT = "127.0.0.1", 8000
HOW_TO_TRY = f"""Loading the index. When the server has started, ask from another terminal:

  curl -N {HOST}:{PORT}/conversations/ann --json '{{"message": "How much does the Heron drone cost?"}}'
  curl -N {HOST}:{PORT}/conversations/ann --json '{{"message": "And its warranty?"}}'

Each event is one line, data: {{...}}. Control-C stops the server.
"""
FAILED = "The turn failed and is not stored. Ask again."
"""What a client is told: an exception's message may hold a key."""


class Question(BaseModel):
    """A user's message."""

    message: str = Field(min_length=1, max_length=2000)


def event(**values: object) -> str:
    """Return one server-sent event."""
    return f"data: {json.dumps(values, ensure_ascii=False)}\n\n"


def create_app(query_engine: BaseQueryEngine | None = None) -> FastAPI:
    """Return the service; the engine is shared, each conversation has a memory of its own.

    Args:
        query_engine: searches and answers; None: the drone shop's.
    """
    app = FastAPI(title="Drone shop")
    query_engine = query_engine or quoting(index().as_retriever(similarity_top_k=1))
    engine = CondensePlusChatEngine.from_defaults(query_engine, settings=BY_RULES)

    @app.exception_handler(Exception)
    async def failed(*_: object) -> JSONResponse:  # before the first event: a status says it
        return JSONResponse({"error": FAILED}, 503)

    @app.post("/conversations/{conversation}")
    async def ask(conversation: str, question: Question) -> StreamingResponse:
        response = await engine.for_conversation(conversation).astream_chat(question.message)

        async def events() -> AsyncIterator[str]:
            yield event(searched=[query.text for query in engine.trace_of(response).plan.queries])
            try:
                async for piece in response.async_response_gen():
                    yield event(text=piece)
            except Exception:  # noqa: BLE001 - the status is sent already: an event says it
                yield event(error=FAILED)
            else:
                yield event(sources=[node.text for node in response.source_nodes])

        return StreamingResponse(events(), media_type="text/event-stream")

    return app


if __name__ == "__main__":
    print(HOW_TO_TRY, flush=True)
    uvicorn.run(create_app(), host=HOST, port=PORT)
