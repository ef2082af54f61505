"""The example service with scripted parts, in this process."""

import sys
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest
from llama_index.core import VectorStoreIndex
from llama_index.core.schema import TextNode

from llama_index_condense_plus.demo.embedding import NgramEmbedding
from tests.fakes import ScriptedLLM

for name in ("fastapi", "redis", "asyncpg", "prometheus_client"):
    pytest.importorskip(name)
sys.path.insert(0, str(Path(__file__).parents[2] / "examples" / "service"))
from app import create_app  # noqa: E402 - found in the folder above
from config import ServiceConfig  # noqa: E402
from parts import build  # noqa: E402

REWRITE = "How many people can sleep in Falkner Hut?"


@pytest.fixture
def served():
    """Return a context manager: a client of the service with the given options, its parts in ``client.parts``."""

    @asynccontextmanager
    async def serve(llm=None, **options):
        config = ServiceConfig(_env_file=None, **options)
        nodes = [
            TextNode(text="Falkner Hut is open in summer.", id_="season"),
            TextNode(text="It has 40 beds.", id_="beds"),
        ]
        index = VectorStoreIndex(nodes, embed_model=NgramEmbedding())
        parts = []

        async def make():
            parts.append(await build(config, llm or ScriptedLLM(rewrite=REWRITE), index))
            return parts[0]

        app = create_app(config, make)
        async with app.router.lifespan_context(app):
            transport = httpx.ASGITransport(app, raise_app_exceptions=False)
            async with httpx.AsyncClient(transport=transport, base_url="http://service") as client:
                client.app, client.parts = app, parts[0]
                yield client

    return serve
