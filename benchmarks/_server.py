"""A fake OpenAI-compatible server on loopback: fixed latencies, streaming, scripted rewrites, counted calls.

Run as a process of its own (``python -m benchmarks._server``), so that its work is not counted as an engine's.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from aiohttp import web

JITTER = (1.0, 0.92, 1.08, 0.97, 1.03, 1.12, 0.9, 1.0, 1.05, 0.95)
"""Latencies are drawn in this order, as multiples of the base: the same for every engine."""
REWRITE_MARKS = ("standalone question", "独立的问题", "Standalone question")
ANSWER = "Here is what the documents say about it, in a few plain words for the test ."
STATE: dict[str, Any] = {"rewrite_s": 0.3, "answer_s": 0.5, "rewrites": {}, "calls": []}
"""Latencies in seconds, the rewrite of each question, and the kinds of the calls since they were last taken."""
jitter = itertools.cycle(JITTER)


def reply(messages: list[dict[str, Any]]) -> tuple[str, float]:
    """Return text and latency in seconds of a call: the scripted rewrite of its last question, or the answer."""
    prompt = "\n".join(str(message["content"]) for message in messages)
    kind = "rewrite" if any(mark in prompt for mark in REWRITE_MARKS) else "answer"
    STATE["calls"].append(kind)
    text = ANSWER
    if kind == "rewrite":
        asked = max(STATE["rewrites"], key=prompt.rfind, default="")
        text = STATE["rewrites"][asked] if asked and asked in prompt else "What do the documents say?"
    return text, STATE[f"{kind}_s"] * next(jitter)


async def complete(request: web.Request) -> web.StreamResponse:
    """Answer a chat completion, at once or in pieces."""
    body = await request.json()
    text, latency = reply(body["messages"])
    if not body.get("stream"):
        await asyncio.sleep(latency)
        return web.json_response(packet("chat.completion", message={"role": "assistant", "content": text}))
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    words = text.split(" ")
    await asyncio.sleep(latency / 2)
    for word in words:
        await asyncio.sleep(latency / 2 / len(words))
        piece = packet("chat.completion.chunk", delta={"role": "assistant", "content": f"{word} "})
        await response.write(b"data: " + json.dumps(piece).encode() + b"\n\n")
    await response.write(b"data: [DONE]\n\n")
    return response


def packet(kind: str, **choice: Any) -> dict[str, Any]:
    """Return what the API sends."""
    choices = [{"index": 0, "finish_reason": "stop", **choice}]
    return {"id": "1", "object": kind, "created": 0, "model": "fake", "choices": choices}


async def configure(request: web.Request) -> web.Response:
    """Change the state, and return the kinds of the calls until now; latencies start anew."""
    global jitter
    calls, jitter = STATE["calls"], itertools.cycle(JITTER)
    STATE.update({"calls": [], **await request.json()})
    return web.json_response(calls)


class Server:
    """The client's side of the fake server."""

    def __init__(self, port: int) -> None:
        self.api_base = f"http://127.0.0.1:{port}/v1"

    def configure(self, **values: Any) -> list[str]:
        """Set ``rewrite_s``, ``answer_s`` and ``rewrites``; return the kinds of the calls since the last time."""
        url = self.api_base.replace("/v1", "/configure")
        request = urllib.request.Request(url, json.dumps(values).encode())
        with urllib.request.urlopen(request) as response:
            return json.load(response)  # type: ignore[no-any-return]


@contextmanager
def running() -> Iterator[Server]:
    """Run the server in a process of its own."""
    process = subprocess.Popen([sys.executable, "-m", __name__], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield Server(int(process.stdout.readline()))
    finally:
        process.terminate()
        process.wait()


async def serve() -> None:
    """Serve on a free port, and print it."""
    app = web.Application(client_max_size=64 * 1024 * 1024)
    app.add_routes([web.post("/v1/chat/completions", complete), web.post("/configure", configure)])
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    print(runner.addresses[0][1], flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(serve())
