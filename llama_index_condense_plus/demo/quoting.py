"""Answers without a model: the best passage, quoted."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Generator, Sequence
from typing import Any

from llama_index.core.llms import MockLLM
from llama_index.core.prompts.mixin import PromptDictType
from llama_index.core.response_synthesizers import BaseSynthesizer
from llama_index.core.types import RESPONSE_TEXT_TYPE

_PIECES = re.compile(r"\s*[^\s。，；！？]+[。，；！？]?|\s+")


class QuoteSynthesizer(BaseSynthesizer):
    """Quotes the first passage word by word, in all four modes; asks no model."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(llm=MockLLM(), **kwargs)  # never asked; keeps the base class from looking for a real one

    def _get_prompts(self) -> PromptDictType:
        return {}

    def _update_prompts(self, prompts: PromptDictType) -> None:
        """There are none."""

    def get_response(self, query_str: str, text_chunks: Sequence[str], **response_kwargs: Any) -> RESPONSE_TEXT_TYPE:  # noqa: ARG002
        """Return the first passage, in pieces when streaming."""
        return _pieces(text_chunks[0]) if self._streaming else text_chunks[0]

    async def aget_response(
        self,
        query_str: str,  # noqa: ARG002
        text_chunks: Sequence[str],
        **response_kwargs: Any,  # noqa: ARG002
    ) -> RESPONSE_TEXT_TYPE:
        """Return the first passage, in pieces when streaming."""
        return _apieces(text_chunks[0]) if self._streaming else text_chunks[0]


def _pieces(text: str) -> Generator[str, None, None]:
    yield from _PIECES.findall(text)


async def _apieces(text: str) -> AsyncGenerator[str, None]:
    for piece in _pieces(text):
        yield piece
