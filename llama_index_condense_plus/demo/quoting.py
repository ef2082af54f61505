"""Answers without a language model: the best passage is quoted, and small talk gets a polite word."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Generator, Sequence
from typing import Any

from llama_index.core.llms import CompletionResponse, CompletionResponseGen, CustomLLM, LLMMetadata, MockLLM
from llama_index.core.llms.callbacks import llm_completion_callback
from llama_index.core.response_synthesizers.context_only import ContextOnly
from llama_index.core.types import RESPONSE_TEXT_TYPE

from llama_index_condense_plus.languages import pack_of

_PIECES = re.compile(r"\S+\s*")
_LAST_SAID = re.compile(r"^user:\s*(.+)$", re.MULTILINE)


class QuoteSynthesizer(ContextOnly):
    """Quotes the first passage, in all four modes; asks no model."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(llm=MockLLM(), **kwargs)  # never asked; keeps the base class from looking for a real one

    def get_response(self, query_str: str, text_chunks: Sequence[str], **_: Any) -> RESPONSE_TEXT_TYPE:  # noqa: ARG002
        """Return the first passage, in pieces when streaming."""
        return _pieces(text_chunks[0]) if self._streaming else text_chunks[0]

    async def aget_response(self, query_str: str, text_chunks: Sequence[str], **_: Any) -> RESPONSE_TEXT_TYPE:  # noqa: ARG002
        """Return the first passage, in pieces when streaming."""
        return _apieces(text_chunks[0]) if self._streaming else text_chunks[0]


class CourtesyLLM(CustomLLM):
    """Answers small talk where no language model is configured."""

    @property
    def metadata(self) -> LLMMetadata:
        """A model that needs no context."""
        return LLMMetadata(model_name="courtesy", context_window=100_000)

    @llm_completion_callback()
    def complete(self, prompt: str, formatted: bool = False, **_: Any) -> CompletionResponse:  # noqa: ARG002
        """Return a polite word in the language of the last message."""
        said = _LAST_SAID.findall(prompt) or [prompt]
        return CompletionResponse(text=pack_of(said[-1]).phrase("courtesy"))

    @llm_completion_callback()
    def stream_complete(self, prompt: str, formatted: bool = False, **_: Any) -> CompletionResponseGen:  # noqa: ARG002
        """Return the same as one piece."""
        whole = self.complete(prompt).text
        yield CompletionResponse(text=whole, delta=whole)


def _pieces(text: str) -> Generator[str, None, None]:
    yield from _PIECES.findall(text)


async def _apieces(text: str) -> AsyncGenerator[str, None]:
    for piece in _pieces(text):
        yield piece
