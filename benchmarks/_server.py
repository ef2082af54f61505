"""A fake OpenAI-compatible server on loopback: fixed latencies, streaming, scripted rewrites, counted tokens.

Run as a process of its own (``python benchmarks/_server.py``), so that its work is not counted as an engine's.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import re
import subprocess
import sys
import urllib.request
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aiohttp import web

if TYPE_CHECKING:
    from collections.abc import Iterator

JITTER = (1.0, 0.92, 1.08, 0.97, 1.03, 1.12, 0.9, 1.0, 1.05, 0.95)
"""Latencies are drawn in this order, as multiples of the base: the same for every engine."""
REWRITE_MARKS = ("standalone question", "独立的问题", "Standalone question")
ANSWER = "Here is what the documents say about it, in a few plain words for the test ."


class Script:
    """What the server says and how long it takes."""

    def __init__(self) -> None:
        self.rewrite_s = 0.3
        self.answer_s = 0.5
        self.rewrites: dict[str, str] = {}
        self.echo = ""
        """Pattern of what answers repeat of their prompt; empty: a fixed answer."""
        self.calls: list[dict[str, Any]] = []
        self.jitter = itertools.cycle(JITTER)

    def reply(self, messages: list[dict[str, Any]]) -> tuple[str, str, float]:
        """Return kind, text and latency in seconds of a call."""
        prompt = "\n".join(str(message["content"]) for message in messages)
        kind = "rewrite" if any(mark in prompt for mark in REWRITE_MARKS) else "answer"
        base = self.rewrite_s if kind == "rewrite" else self.answer_s
        text = self._rewrite(prompt) if kind == "rewrite" else self._answer(prompt)
        self.calls.append({"kind": kind, "prompt_tokens": max(1, len(prompt.encode()) // 4)})
        return kind, text, base * next(self.jitter)

    def _answer(self, prompt: str) -> str:
        found = " ".join(dict.fromkeys(re.findall(self.echo, prompt))) if self.echo else ""
        return f"{found} {ANSWER}" if found else ANSWER

    def _rewrite(self, prompt: str) -> str:
        """Return the scripted rewrite of the question that stands last in the prompt."""
        asked = max(self.rewrites, key=prompt.rfind, default="")
        return self.rewrites.get(asked, asked) if prompt.rfind(asked) >= 0 else "What do the documents say?"


async def _complete(request: web.Request) -> web.StreamResponse:
    script: Script = request.app["script"]
    body = await request.json()
    _, text, latency = script.reply(body["messages"])
    if not body.get("stream"):
        await asyncio.sleep(latency)
        return web.json_response(_completion(text, script.calls[-1]["prompt_tokens"]))
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    words = text.split(" ")
    await asyncio.sleep(latency / 2)
    for word in words:
        await asyncio.sleep(latency / 2 / len(words))
        await response.write(b"data: " + json.dumps(_chunk(word + " ")).encode() + b"\n\n")
    await response.write(b"data: " + json.dumps(_chunk(None, "stop")).encode() + b"\n\ndata: [DONE]\n\n")
    return response


def _completion(text: str, prompt_tokens: int) -> dict[str, Any]:
    message = {"role": "assistant", "content": text}
    usage = {"prompt_tokens": prompt_tokens, "completion_tokens": len(text) // 4, "total_tokens": prompt_tokens}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return {"id": "1", "object": "chat.completion", "created": 0, "model": "fake", "choices": [choice], "usage": usage}


def _chunk(text: str | None, finish: str | None = None) -> dict[str, Any]:
    delta = {"role": "assistant", "content": text} if text is not None else {}
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"id": "1", "object": "chat.completion.chunk", "created": 0, "model": "fake", "choices": [choice]}


async def _configure(request: web.Request) -> web.Response:
    script: Script = request.app["script"]
    for name, value in (await request.json()).items():
        setattr(script, name, value)
    return web.json_response({})


async def _calls(request: web.Request) -> web.Response:
    script: Script = request.app["script"]
    calls, script.calls = script.calls, []
    script.jitter = itertools.cycle(JITTER)
    return web.json_response(calls)


class Server:
    """The client's side of the fake server."""

    def __init__(self, port: int) -> None:
        self.api_base = f"http://127.0.0.1:{port}/v1"
        self._root = f"http://127.0.0.1:{port}"

    def configure(self, **values: Any) -> None:
        """Set latencies in seconds (``rewrite_s``, ``answer_s``) and ``rewrites`` by question."""
        self._post("/configure", values)

    def take_calls(self) -> list[dict[str, Any]]:
        """Return the calls since the last time: kind and prompt tokens; latencies start anew."""
        return self._post("/calls", {})  # type: ignore[no-any-return]

    def _post(self, path: str, body: Any) -> Any:
        request = urllib.request.Request(
            self._root + path, json.dumps(body).encode(), {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request) as response:
            return json.load(response)


@contextmanager
def running() -> Iterator[Server]:
    """Run the server in a process of its own."""
    process = subprocess.Popen([sys.executable, str(Path(__file__))], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield Server(int(process.stdout.readline()))
    finally:
        process.terminate()
        process.wait()


async def _main() -> None:
    app = web.Application(client_max_size=64 * 1024 * 1024)
    app["script"] = Script()
    app.add_routes(
        [web.post("/v1/chat/completions", _complete), web.post("/configure", _configure), web.post("/calls", _calls)]
    )
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    print(runner.addresses[0][1], flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(_main())
