"""An OpenAI-compatible server that misbehaves on demand, on loopback, in threads."""

from __future__ import annotations

import json
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.fakes import REWRITE_MARKERS

REWRITE = "What is the price of the GTE-3000?"
ANSWER = "It costs 99 euros."


def completion(text: str | None) -> dict[str, Any]:
    """Return a chat completion as OpenAI's API words it; None: without choices."""
    choices = [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}]
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    head = {"id": "1", "object": "chat.completion", "created": 0, "model": "fake", "usage": usage}
    return {**head, "choices": choices if text is not None else []}


def chunk(text: str) -> str:
    """Return a server-sent event with a part of a streamed completion."""
    choice = {"index": 0, "delta": {"role": "assistant", "content": text}, "finish_reason": None}
    head = {"id": "1", "object": "chat.completion.chunk", "created": 0, "model": "fake"}
    return f"data: {json.dumps({**head, 'choices': [choice]})}\n\n"


class Handler(BaseHTTPRequestHandler):
    """Answers as the fault of the call's kind says."""

    faults: dict[str, Callable[[Handler, bool], None]]
    calls: list[str]
    released: threading.Event

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        prompt = json.dumps(body["messages"], ensure_ascii=False)
        kind = "rewrite" if any(mark in prompt for mark in REWRITE_MARKERS) else "answer"
        self.calls.append(kind)
        fault = self.faults.get(kind)
        try:
            if fault is not None:
                fault(self, bool(body.get("stream")))
            else:
                self.well(REWRITE if kind == "rewrite" else ANSWER, bool(body.get("stream")))
        except OSError:  # the client has gone
            self.close_connection = True

    def well(self, text: str, streams: bool) -> None:
        if streams:
            self.head(200, "text/event-stream")
            for word in text.split(" "):
                self.wfile.write(chunk(word + " ").encode())
            self.wfile.write(b"data: [DONE]\n\n")
        else:
            self.reply(200, json.dumps(completion(text)))

    def reply(self, status: int, text: str, content_type: str = "application/json", **headers: str) -> None:
        self.head(status, content_type, **headers)
        self.wfile.write(text.encode())

    def head(self, status: int, content_type: str, **headers: str) -> None:
        self.close_connection = True
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Connection", "close")
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()

    def reset(self) -> None:
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True
        self.connection.close()

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


def _cut(handler: Handler, streams: bool) -> None:
    if streams:
        handler.head(200, "text/event-stream")
        handler.wfile.write(chunk("It ").encode())
        handler.wfile.flush()
    handler.reset()


def _malformed(handler: Handler, streams: bool) -> None:
    if streams:
        handler.reply(200, 'data: {"id": "1", "choi\n\ndata: [DONE]\n\n', "text/event-stream")
    else:
        handler.reply(200, '{"id": "1", "choi')


def _hang(handler: Handler, streams: bool) -> None:
    handler.released.wait(20)
    handler.reset()


def _slow_tokens(handler: Handler, streams: bool) -> None:
    if not streams:
        _hang(handler, streams)
        return
    handler.head(200, "text/event-stream")
    for _ in range(200):
        handler.wfile.write(chunk("and ").encode())
        handler.wfile.flush()
        if handler.released.wait(0.1):
            break
    time.sleep(0)


FAULTS: dict[str, Callable[[Handler, bool], None]] = {
    "429": lambda h, _: h.reply(429, '{"error": {"message": "slow down"}}', Retry_After="1"),
    "500": lambda h, _: h.reply(500, '{"error": {"message": "broken"}}'),
    "404 wrong model": lambda h, _: h.reply(404, '{"error": {"message": "no such model"}}'),
    "not JSON": lambda h, _: h.reply(200, "<html>proxy login</html>", "text/html"),
    "malformed": _malformed,
    "reset": lambda h, _: h.reset(),
    "cut": _cut,
}
"""Faults that end by themselves."""
HANGING: dict[str, Callable[[Handler, bool], None]] = {"slow first byte": _hang, "slow tokens": _slow_tokens}
"""Faults that only a deadline ends."""


def empty_choices(handler: Handler, streams: bool) -> None:
    """Answer without a choice."""
    if streams:
        handler.reply(200, "data: [DONE]\n\n", "text/event-stream")
    else:
        handler.reply(200, json.dumps(completion(None)))


def huge(handler: Handler, streams: bool) -> None:
    """Answer with a megabyte."""
    if not streams:
        handler.well("very " * 200_000, streams)
        return
    handler.head(200, "text/event-stream")
    for _ in range(100):
        handler.wfile.write(chunk("very " * 2_000).encode())
    handler.wfile.write(b"data: [DONE]\n\n")


@contextmanager
def misbehaving(**faults: Callable[[Handler, bool], None]) -> Iterator[tuple[str, list[str]]]:
    """Run a server with a fault for ``rewrite``, ``answer`` or both; yields its base URL and the calls it got."""
    released = threading.Event()
    calls: list[str] = []
    bound = type("Bound", (Handler,), {"faults": faults, "calls": calls, "released": released})
    server = ThreadingHTTPServer(("127.0.0.1", 0), bound)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1", calls
    finally:
        released.set()
        server.shutdown()
        server.server_close()
