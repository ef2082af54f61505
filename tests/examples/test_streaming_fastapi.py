"""The streaming example answers over HTTP piece by piece, and follows up within one conversation."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    testing = pytest.importorskip("fastapi.testclient", reason="needs fastapi")
    monkeypatch.syspath_prepend(str(EXAMPLES))
    try:
        with testing.TestClient(importlib.import_module("streaming_fastapi").create_app()) as client:
            yield client
    finally:
        for name in ("streaming_fastapi", "shop"):
            sys.modules.pop(name, None)


def ask(client: Any, conversation: str, message: str) -> list[dict[str, Any]]:
    response = client.post(f"/conversations/{conversation}", json={"message": message})
    assert response.headers["content-type"].startswith("text/event-stream")
    return [json.loads(line.removeprefix("data: ")) for line in response.text.splitlines() if line]


def test_stream_follows_up_within_its_conversation(client: Any) -> None:
    ask(client, "ann", "How much does the Heron drone cost?")
    searched, *pieces, sources = ask(client, "ann", "And its warranty?")
    assert "Heron" in searched["searched"]
    assert len(pieces) > 3
    assert "three years" in "".join(piece["text"] for piece in pieces)
    assert "three years" in sources["sources"][0]


def test_stream_knows_nothing_of_other_conversations(client: Any) -> None:
    ask(client, "ann", "How much does the Heron drone cost?")
    assert ask(client, "bob", "And its warranty?")[0] == {"searched": "And its warranty?"}


def test_stream_refuses_an_empty_message(client: Any) -> None:
    assert client.post("/conversations/ann", json={"message": ""}).status_code == 422
