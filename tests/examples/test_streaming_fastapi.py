"""The streaming example answers over HTTP piece by piece, and follows up within one conversation."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from llama_index.core.base.response.schema import StreamingResponse
from llama_index.core.query_engine import CustomQueryEngine

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    testing = pytest.importorskip("fastapi.testclient", reason="needs fastapi")
    monkeypatch.syspath_prepend(str(EXAMPLES))
    create_app = importlib.import_module("streaming_fastapi").create_app
    yield lambda *parts: testing.TestClient(create_app(*parts), raise_server_exceptions=False)
    for name in ("streaming_fastapi", "shop"):
        sys.modules.pop(name, None)


@pytest.fixture
def client(served: Any) -> Iterator[Any]:
    with served() as client:
        yield client


def ask(client: Any, conversation: str, message: str) -> list[dict[str, Any]]:
    response = client.post(f"/conversations/{conversation}", json={"message": message})
    assert response.headers["content-type"].startswith("text/event-stream")
    return [json.loads(line.removeprefix("data: ")) for line in response.text.splitlines() if line]


def test_stream_follows_up_within_its_conversation(client: Any) -> None:
    ask(client, "ann", "How much does the Heron drone cost?")
    searched, *pieces, sources = ask(client, "ann", "And its warranty?")
    assert any("Heron" in query for query in searched["searched"])
    assert len(pieces) > 3
    assert "three years" in "".join(piece["text"] for piece in pieces)
    assert "three years" in sources["sources"][0]


def test_stream_knows_nothing_of_other_conversations(client: Any) -> None:
    ask(client, "ann", "How much does the Heron drone cost?")
    assert ask(client, "bob", "And its warranty?")[0] == {"searched": ["And its warranty?"]}


def test_stream_refuses_an_empty_message(client: Any) -> None:
    assert client.post("/conversations/ann", json={"message": ""}).status_code == 422


class Breaking(CustomQueryEngine):
    """Answers a few words, then fails as a model does that goes away."""

    def custom_query(self, query_str: str) -> Any:
        def pieces() -> Iterator[str]:
            yield "The Heron "
            raise RuntimeError("secret-key")

        return StreamingResponse(pieces())


class Refusing(CustomQueryEngine):
    """Fails before the first word."""

    def custom_query(self, query_str: str) -> Any:
        raise RuntimeError("secret-key")


def test_failure_before_the_first_word_is_a_status(served: Any) -> None:
    with served(Refusing()) as client:
        response = client.post("/conversations/ann", json={"message": "How much does the Heron drone cost?"})
        assert response.status_code == 503
        assert "not stored" in response.json()["error"]
        assert "secret" not in response.text


def test_failure_within_the_answer_ends_the_stream_with_an_error(served: Any) -> None:
    with served(Breaking()) as client:
        *_, last = ask(client, "ann", "How much does the Heron drone cost?")
        assert "not stored" in last["error"]
