"""What an engine is made from, and made into: default parts, a tool, a warm start."""

from __future__ import annotations

import difflib
import inspect
import logging
from collections.abc import Callable, Mapping
from typing import Any

from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.chat_engine.types import BaseChatEngine
from llama_index.core.llms.llm import LLM
from llama_index.core.memory import BaseMemory
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.prompts import ChatPromptTemplate
from llama_index.core.prompts.base import BasePromptTemplate
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.tools import FunctionTool

from llama_index_condense_plus.errors import ConfigurationError
from llama_index_condense_plus.languages import registered_packs
from llama_index_condense_plus.turn.pipeline import Components

logger = logging.getLogger(__name__)

SLIP = 0.85
"""Likeness of two names, 0 to 1, from which one is held to be the other misspelt."""
REPLY_TOKENS = 256
"""What the stock engine leaves free of the model's context window for the reply, in tokens."""


def default_query_engine(
    query_engine: BaseQueryEngine | None,
    retriever: BaseRetriever | None,
    node_postprocessors: list[BaseNodePostprocessor] | None,
    context_prompt: BasePromptTemplate | str | None,
    llm: LLM | None,
) -> BaseQueryEngine:
    """Return the query engine given, or one around a retriever.

    Raises:
        ConfigurationError: there is neither, or arguments that only go with a retriever.
    """
    if query_engine is not None:
        if not isinstance(query_engine, BaseQueryEngine):
            raise ConfigurationError(
                f"query_engine must be a query engine, not {type(query_engine).__name__}. For an index there is "
                "CondensePlusChatEngine.from_index(index), for a retriever from_defaults(retriever=…)."
            )
        if node_postprocessors is not None or context_prompt is not None:
            raise ConfigurationError(
                "node_postprocessors and context_prompt go with retriever=…; give them to the query engine instead: "
                "index.as_query_engine(node_postprocessors=…, text_qa_template=…)."
            )
        return query_engine
    if retriever is None:
        raise ConfigurationError("Give query_engine=index.as_query_engine() or retriever=index.as_retriever().")
    prompt: dict[str, Any] = {"text_qa_template": _qa_prompt(context_prompt)} if context_prompt is not None else {}
    return RetrieverQueryEngine.from_args(retriever, llm=llm, node_postprocessors=node_postprocessors, **prompt)


def default_memory(memory_cls: type[BaseMemory], history: list[ChatMessage] | None, llm: LLM | None) -> BaseMemory:
    """Return the stock engine's default memory; without a known model, the class's own token limit."""
    limit = {"token_limit": llm.metadata.context_window - REPLY_TOKENS} if llm is not None else {}
    return memory_cls.from_defaults(chat_history=history or [], **limit)


def prefix(system_prompt: str | None, prefix_messages: list[ChatMessage] | None) -> list[ChatMessage]:
    """Return the messages before every answer call.

    Raises:
        ConfigurationError: both are given.
    """
    if system_prompt is not None and prefix_messages is not None:
        raise ConfigurationError(
            "Give system_prompt or prefix_messages, not both: the prompt can be the first message."
        )
    if system_prompt is not None:
        return [ChatMessage(role=MessageRole.SYSTEM, content=system_prompt)]
    return list(prefix_messages or ())


def split_arguments(
    function: Callable[..., Any], arguments: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Split arguments into those that a function or an engine's components take, and the rest.

    ``node_postprocessors`` belong to the rest: an index's query engine takes them.

    Raises:
        ConfigurationError: one of the rest looks like a slip of the pen; an index would ignore it.
    """
    known = {*inspect.signature(function).parameters, *Components.__dataclass_fields__} - {"node_postprocessors"}
    own = {name: value for name, value in arguments.items() if name in known}
    rest = {name: value for name, value in arguments.items() if name not in known}
    for name in rest:
        if near := difflib.get_close_matches(name, known, n=1, cutoff=SLIP):
            raise ConfigurationError(f"Unknown argument {name}. Did you mean {near[0]}?")
    return own, rest


def engine_tool(engine: BaseChatEngine, name: str, description: str) -> FunctionTool:
    """Return a chat engine as a tool for agents and workflows."""

    def ask(question: str) -> Any:
        return engine.chat(question)

    async def aask(question: str) -> Any:
        return await engine.achat(question)

    return FunctionTool.from_defaults(fn=ask, async_fn=aask, name=name, description=description)


def warm_up(engine: Any) -> None:
    """Search a follow-up in each language that has one, so that words, tagger, embeddings and prompt are loaded."""
    talks = {(own.phrase("sample_question"), own.phrase("sample_follow_up")) for own in registered_packs().values()}
    for first, follow_up in sorted(talks):
        try:
            with engine.options(rewrite=True):
                engine.explain(follow_up, [ChatMessage(role=MessageRole.USER, content=first)])
        except Exception as error:  # noqa: BLE001 - a cold index must not keep a service from starting
            logger.warning("warm_up: %s", type(error).__name__)


def _qa_prompt(context_prompt: BasePromptTemplate | str) -> BasePromptTemplate:
    """Return a question-answering prompt around a context prompt, as CondensePlusContextChatEngine reads it."""
    if not isinstance(context_prompt, str) and "query_str" in context_prompt.template_vars:
        return context_prompt
    template = context_prompt if isinstance(context_prompt, str) else context_prompt.get_template()
    if "{context_str}" not in template:
        raise ConfigurationError("context_prompt lacks {context_str}.")
    messages = [ChatMessage(role=MessageRole.SYSTEM, content=template)]
    if "{query_str}" in template:
        messages = [ChatMessage(role=MessageRole.USER, content=template)]
    else:
        messages.append(ChatMessage(role=MessageRole.USER, content="{query_str}"))
    return ChatPromptTemplate.from_messages(messages)
