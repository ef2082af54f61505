"""A streaming chat over HTTP in one file: server-sent events, one conversation per id.

pip install "llama-index-condense-plus[service]"
uvicorn streaming_fastapi:create_app --factory
curl -N localhost:8000/conversations/ann --json '{"message": "How much does the Heron drone cost?"}'

For many workers, limits and metrics, see the folder service.
"""

import json
from collections.abc import AsyncIterator

import uvicorn
from fastapi import FastAPI
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, Field
from shop import BY_RULES, index, quoting

from llama_index_condense_plus import CondensePlusChatEngine


class Question(BaseModel):
    """A user's message."""

    message: str = Field(min_length=1, max_length=2000)


def event(**values: object) -> str:
    """Return one server-sent event."""
    return f"data: {json.dumps(values, ensure_ascii=False)}\n\n"


def create_app() -> FastAPI:
    """Return the service; the engine is shared, each conversation has a memory of its own."""
    app = FastAPI(title="Drone shop")
    engine = CondensePlusChatEngine.from_defaults(quoting(index().as_retriever(similarity_top_k=1)), settings=BY_RULES)

    @app.post("/conversations/{conversation}")
    async def ask(conversation: str, question: Question) -> StreamingResponse:
        response = await engine.for_conversation(conversation).astream_chat(question.message)

        async def events() -> AsyncIterator[str]:
            yield event(searched=engine.trace_of(response).search_query)
            async for piece in response.async_response_gen():
                yield event(text=piece)
            yield event(sources=[node.text for node in response.source_nodes])

        return StreamingResponse(events(), media_type="text/event-stream")

    return app


if __name__ == "__main__":
    uvicorn.run(create_app())
