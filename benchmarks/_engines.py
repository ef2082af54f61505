"""A whole engine, of this package or LlamaIndex's own, asked one question: it searches, and no answer is written."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    CompletionResponse,
    CompletionResponseGen,
    LLMMetadata,
    MessageRole,
)
from llama_index.core.chat_engine import CondenseQuestionChatEngine
from llama_index.core.chat_engine.types import AgentChatResponse
from llama_index.core.llms import CustomLLM
from llama_index.core.llms.callbacks import llm_chat_callback, llm_completion_callback
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.response_synthesizers.no_text import NoText
from llama_index.core.retrievers import BaseRetriever

from benchmarks._data import history_of
from llama_index_condense_plus.rewriting.cache import prompt_hash

MAX_TOKENS = 128
"""Longest rewrite."""


def ask(
    kind: type[CondenseQuestionChatEngine],
    row: dict[str, Any],
    retriever: BaseRetriever,
    llm: CustomLLM,
    **options: Any,
) -> AgentChatResponse:
    """Return what an engine answers to a question of a data set, after its history.

    Args:
        kind: the class of the engine.
        row: the question, with its history.
        retriever: what is searched.
        llm: the model.
        **options: further arguments of the engine.
    """
    engine = kind.from_defaults(
        query_engine=RetrieverQueryEngine(retriever, NoText(llm=llm)),
        llm=llm,
        memory=ChatMemoryBuffer.from_defaults(token_limit=100_000, llm=llm),
        **options,
    )
    history = [ChatMessage(role=role, content=text) for role, text in history_of(row) if text]
    return engine.chat(row["question"], chat_history=history)


class NotKept(Exception):  # noqa: N818 - no failure
    """The answer to a prompt is not in the folder, and there is no model to ask."""


class Answers:
    """Answers of a live model by the hash of their prompt, one JSON line each.

    Args:
        folder: where they are kept.
        url: base URL of an OpenAI-compatible server; none: nothing is asked.
    """

    def __init__(self, folder: Path, url: str | None = None) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._path = folder / "answers.jsonl"
        lines = self._path.read_text("utf-8").splitlines() if self._path.exists() else []
        self._kept = {row["prompt"]: row["text"] for row in map(json.loads, lines)}
        self._llm: Any = None
        if url:
            from llama_index.llms.openai_like import OpenAILike

            self._llm = OpenAILike(model="live", api_base=url, api_key="x", is_chat_model=True, timeout=900.0)

    def ask(self, messages: Sequence[ChatMessage]) -> str:
        """Return the answer, asked for once."""
        key = prompt_hash(messages)
        if key not in self._kept:
            if self._llm is None:
                raise NotKept
            response = self._llm.chat(list(messages), temperature=0, max_tokens=MAX_TOKENS)
            self._kept[key] = response.message.content
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"prompt": key, "text": self._kept[key]}, ensure_ascii=False) + "\n")
        return str(self._kept[key] or "")


class Kept(CustomLLM):
    """A chat model that answers out of ``Answers``, or always the same, and counts its calls."""

    answers: Any = None
    always: str | None = None
    calls: int = 0
    missing: bool = False

    @property
    def metadata(self) -> LLMMetadata:
        """A chat model with room for a whole history."""
        return LLMMetadata(context_window=8192, num_output=MAX_TOKENS, model_name="live", is_chat_model=True)

    @llm_chat_callback()
    def chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:  # noqa: ARG002
        """Return the kept answer."""
        self.calls += 1
        try:
            text = self.answers.ask(messages) if self.always is None else self.always
        except NotKept:
            self.missing = True
            raise
        return ChatResponse(message=ChatMessage(role=MessageRole.ASSISTANT, content=text))

    @llm_completion_callback()
    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:  # noqa: ARG002
        """Return the kept answer to a prompt."""
        return CompletionResponse(text=str(self.chat([ChatMessage(content=prompt)]).message.content))

    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponseGen:
        """Not used: nobody streams here."""
        raise NotImplementedError
