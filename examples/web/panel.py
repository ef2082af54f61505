"""The debug panel: a conversation in the browser, and for each turn what was searched, and why.

python examples/web/panel.py
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args

STARTED = time.monotonic()
if __name__ == "__main__":
    print("  0.0 s  Loading LlamaIndex …", flush=True)

import uvicorn
from cachetools import LRUCache
from llama_index.core import VectorStoreIndex
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.chat_engine import CondenseQuestionChatEngine
from llama_index.core.llms.llm import LLM
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import NodeWithScore
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from llama_index_condense_plus import CondensePlusChatEngine, CondensePlusError, CondensePlusSettings, CondenseTrace
from llama_index_condense_plus.demo.compare import TOP_K, WITHOUT_MODEL, make_engine
from llama_index_condense_plus.demo.embedding import load_embedding
from llama_index_condense_plus.demo.knowledge import demo_conversations, demo_passages, source_of
from llama_index_condense_plus.demo.models import load_model
from llama_index_condense_plus.demo.quoting import QuoteSynthesizer
from llama_index_condense_plus.evaluation.diagnosis import diagnose
from llama_index_condense_plus.evaluation.differences import word_diff

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

HERE = Path(__file__).parent
OPTIONS = ("enabled", "trigger.mode", "guards.profile", "retrieval.dual", "answer.mode")
"""Settings that the panel offers."""
MAX_CONVERSATIONS = 100
"""Conversations kept in memory; the one used longest ago is dropped first."""
N_QUESTIONS = 4
"""Questions that the panel offers to ask."""
Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn, and what is needed to search it again."""

    trace: CondenseTrace
    history: list[ChatMessage]
    shown: Json


@dataclass(slots=True)
class Conversation:
    """A conversation with its turns."""

    engine: CondensePlusChatEngine
    before: list[ChatMessage] = field(default_factory=list)
    turns: list[Turn] = field(default_factory=list)

    def to_dict(self) -> Json:
        """Return what the page shows of it."""
        before = [{"role": message.role.value, "content": message.content or ""} for message in self.before]
        return {"before": before, "turns": [turn.shown for turn in self.turns]}


class Panel:
    """What the page asks the server for.

    Args:
        index: what is searched.
        llm: rewrites and answers; None: the topic is carried over, and the answer quotes the best passage.
    """

    def __init__(self, index: VectorStoreIndex, llm: LLM | None = None) -> None:
        self._index = index
        self._llm = llm
        self._engine = make_engine(index, llm)
        self._conversations: LRUCache[str, Conversation] = LRUCache(MAX_CONVERSATIONS)

    def app(self, hosts: Sequence[str] = ("127.0.0.1", "localhost")) -> Starlette:
        """Return the application.

        Args:
            hosts: names under which a browser may address it; others are refused, so that no other site can reach it.
        """
        conversation = "/conversations/{id}"
        routes = [
            Route("/", self.page),
            Route(conversation, self.read),
            Route(conversation, self.ask, methods=["POST"]),
            Route(f"{conversation}/load", self.load, methods=["POST"]),
            Route(f"{conversation}/share", self.share),
            Route(f"{conversation}/turns/{{number:int}}/{{way}}", self.compare, methods=["POST"]),
        ]
        trusted = Middleware(TrustedHostMiddleware, allowed_hosts=list(hosts))
        return Starlette(routes=routes, middleware=[trusted], exception_handlers={CondensePlusError: _failed})

    async def page(self, _: Request) -> Response:
        """Return the page."""
        return HTMLResponse(self._page())

    async def read(self, request: Request) -> Response:
        """Return a conversation; one that is not known is empty."""
        known = self._conversations.get(request.path_params["id"])
        return JSONResponse((known or self._begin()).to_dict())

    async def ask(self, request: Request) -> Response:
        """Answer a message: one JSON line for each piece of the answer, and one for the turn."""
        body = await request.json()
        settings = self._settings(body["settings"])
        conversation = self._conversations.setdefault(request.path_params["id"], self._begin())
        return StreamingResponse(_answer(conversation, body["message"], settings), media_type="application/x-ndjson")

    async def compare(self, request: Request) -> Response:
        """Search a turn again, with other settings, a question completed by hand, or the stock engine."""
        body = await request.json()
        conversation, number = self._conversations.get(request.path_params["id"]), request.path_params["number"]
        if conversation is None or number >= len(conversation.turns):
            raise HTTPException(404)
        turn = conversation.turns[number]
        if request.path_params["way"] == "stock":
            return JSONResponse(await self._stock(turn))
        by_hand = request.path_params["way"] == "by_hand"
        options = {"rewrite": body["text"]} if by_hand else {}
        with conversation.engine.options(settings=self._settings(body["settings"]), **options) as engine:
            trace = await engine.aexplain(turn.trace.message, chat_history=turn.history)
        found = _shown(trace)
        return JSONResponse({**found, "questions": _questions(turn.trace, trace.nodes)} if by_hand else found)

    async def load(self, request: Request) -> Response:
        """Begin a conversation with a row of the rewrite log, and search its message again."""
        row = (await request.json())["row"]
        if row.get("content") != "full" or not isinstance(row.get("window"), list):
            raise HTTPException(422, "A row of a rewrite log with log.content = full is expected.")
        history = [ChatMessage(role=message["role"], content=message["content"]) for message in row["window"]]
        conversation = self._begin(history)
        trace = await conversation.engine.aexplain(row["original"], chat_history=history)
        conversation.turns.append(Turn(trace, history, {**_shown(trace), "logged": row["rewritten"]}))
        self._conversations[request.path_params["id"]] = conversation
        return JSONResponse(conversation.to_dict())

    async def share(self, request: Request) -> Response:
        """Return a conversation as a page that needs no server."""
        conversation = self._conversations.get(request.path_params["id"])
        if conversation is None:
            raise HTTPException(404)
        headers = {"Content-Disposition": 'attachment; filename="conversation.html"'}
        return HTMLResponse(self._page(conversation), headers=headers)

    def _page(self, saved: Conversation | None = None) -> str:
        data = {
            "words": tomllib.loads((HERE / "words.toml").read_text(encoding="utf-8")),
            "model": self._llm.metadata.model_name if self._llm else "",
            "options": [{"name": name, **_choices(name)} for name in OPTIONS],
            "try": {
                turns[0]["conversation"][:2]: [turn["question"] for turn in turns[:N_QUESTIONS]]
                for turns in demo_conversations()
            },
            "saved": saved and saved.to_dict(),
        }
        page = (HERE / "page.html").read_text(encoding="utf-8")
        return page.replace("__DATA__", json.dumps(data, ensure_ascii=False).replace("<", "\\u003c"))

    def _begin(self, history: Sequence[ChatMessage] = ()) -> Conversation:
        memory = ChatMemoryBuffer.from_defaults(chat_history=list(history))
        return Conversation(self._engine.for_conversation(memory), list(history))

    def _settings(self, chosen: Mapping[str, Any]) -> CondensePlusSettings:
        sections: Json = {"retrieval": {"small_talk": "skip"}, **({} if self._llm else WITHOUT_MODEL)}
        for name in OPTIONS:
            section, _, key = name.rpartition(".")
            if name in chosen:
                (sections.setdefault(section, {}) if section else sections)[key] = chosen[name]
        return CondensePlusSettings(**sections)

    async def _stock(self, turn: Turn) -> Json:
        if self._llm is None:
            raise HTTPException(409, "The stock engine needs a language model.")
        finder = RetrieverQueryEngine(self._index.as_retriever(similarity_top_k=TOP_K), QuoteSynthesizer())
        engine = CondenseQuestionChatEngine.from_defaults(query_engine=finder, llm=self._llm)
        response = await engine.achat(turn.trace.message, chat_history=list(turn.history))
        return {"query": str(response.sources[0].raw_input["query"]), "passages": _passages(response.source_nodes)}


async def _answer(conversation: Conversation, message: str, settings: CondensePlusSettings) -> AsyncIterator[str]:
    history = list(conversation.engine.chat_history)
    answer = ""
    try:
        with conversation.engine.options(settings=settings):
            response = await conversation.engine.astream_chat(message)
        async for piece in response.async_response_gen():
            answer += piece
            yield json.dumps({"piece": piece}) + "\n"
    except CondensePlusError as error:
        yield json.dumps({"error": str(error)}) + "\n"
        return
    trace = conversation.engine.trace_of(response)
    assert trace is not None  # noqa: S101 - every turn of this engine has one
    turn = Turn(trace, history, {**_shown(trace), "answer": answer})
    conversation.turns.append(turn)
    yield json.dumps({"turn": turn.shown}) + "\n"


async def _failed(_: Request, error: Exception) -> Response:
    return Response(str(error), 422)


def _shown(trace: CondenseTrace) -> Json:
    return {
        "query": trace.search_query,
        "trace": trace.to_dict(),
        "diff": list(word_diff(trace.message, trace.rewrite.query)),
        "passages": _passages(trace.nodes, trace.provenance),
        "questions": _questions(trace) if trace.window else [],
    }


def _questions(trace: CondenseTrace, by_hand: Sequence[NodeWithScore] | None = None) -> list[Json]:
    names = {node.node.node_id: source_of(node.node) for node in by_hand or ()}
    return [
        {
            "question": each.question,
            "answer": each.answer,
            "good": each.good,
            "evidence": [names.get(text, text) for text in each.evidence],
        }
        for each in diagnose(trace, by_hand)
    ]


def _passages(nodes: Sequence[NodeWithScore], found_by: Mapping[str, Sequence[str]] | None = None) -> list[Json]:
    found = found_by or {}
    return [
        {"source": source_of(n.node), "text": n.node.get_content(), "found_by": list(found.get(n.node.node_id, ()))}
        for n in nodes
    ]


def _choices(name: str) -> Json:
    """Return the values and the default of a setting; no values mean yes or no."""
    section, _, key = name.rpartition(".")
    fields = CondensePlusSettings.model_fields
    found = type(fields[section].default).model_fields[key] if section else fields[key]
    return {"choices": get_args(found.annotation), "default": found.default}


def main() -> None:
    """Serve the panel over the demo's passages."""
    parser = argparse.ArgumentParser(description="Show in the browser what each turn searches, and why.")
    parser.add_argument("--api-base", help="base URL of an OpenAI-compatible server")
    parser.add_argument("--model", help="name of its model")
    parser.add_argument("--port", type=int, default=7860, help="port to serve on (default: %(default)s)")
    options = parser.parse_args()

    def say(text: str) -> None:
        print(f"{time.monotonic() - STARTED:5.1f} s  {text}", flush=True)

    try:
        llm = load_model(options.api_base, options.model)
        say("Loading the embedding …")
        embedding = load_embedding()
        passages = demo_passages()
        say(f"Embedding {len(passages)} passages …")
        panel = Panel(VectorStoreIndex(passages, embed_model=embedding), llm)
    except CondensePlusError as error:
        parser.error(str(error))
    say(f"Open http://127.0.0.1:{options.port} in a browser. Ctrl+C ends the panel.")
    uvicorn.run(panel.app(), port=options.port, log_level="warning")


if __name__ == "__main__":
    main()
