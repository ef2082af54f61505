"""What an engine is made from, and made into: components, default parts, a tool, a warm start."""

from __future__ import annotations

import difflib
import inspect
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
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
from llama_index.core.storage.kvstore.types import BaseKVStore
from llama_index.core.tools import FunctionTool

from llama_index_condense_plus.errors import ConfigurationError
from llama_index_condense_plus.gate.trigger import build_trigger
from llama_index_condense_plus.languages import check_languages, registered_packs
from llama_index_condense_plus.protocols import (
    EntityExtractor,
    Guard,
    QueryPlanner,
    RewriteCache,
    Rewriter,
    Trigger,
    TurnLock,
)
from llama_index_condense_plus.retrieval.fusion import fusion_method
from llama_index_condense_plus.retrieval.plan import DefaultQueryPlanner
from llama_index_condense_plus.rewriting.cache import CircuitBreaker, InProcessRewriteCache, SingleFlight
from llama_index_condense_plus.rewriting.carry import CarryRewriter
from llama_index_condense_plus.rewriting.entities import DefaultEntityExtractor
from llama_index_condense_plus.rewriting.llm import build_rewriters
from llama_index_condense_plus.settings import CondensePlusSettings
from llama_index_condense_plus.trust.verdict import Reviewer
from llama_index_condense_plus.turn.chain import Pipeline
from llama_index_condense_plus.types import RewriteRequest

logger: logging.Logger = logging.getLogger(__name__)

SLIP = 0.85
"""Likeness of two names, 0 to 1, from which one is held to be the other misspelt."""
REPLY_TOKENS = 256
"""What the stock engine leaves free of the model's context window for the reply, in tokens."""
CACHE_FAILURES = 3
"""Failures in a row after which a cache is left alone for a while: each may cost a thread and a second."""
ELSEWHERE = {
    "condense_prompt": "give condense_question_prompt, with {chat_history} and {question}",
    "skip_condense": "give settings=CondensePlusSettings(enabled=False)",
    "context_refine_prompt": "give a query engine with a refine_template of its own",
}
"""Arguments of CondensePlusContextChatEngine, and what takes their place."""


@dataclass(frozen=True)
class Components:
    """What a user may bring in place of the built-in parts; None: the built-in part."""

    trigger: Trigger | None = None
    """The gate."""
    entity_extractor: EntityExtractor | None = None
    """Finds names in the history."""
    rewriters: Mapping[str, Any] = field(default_factory=dict)
    """Rewriters or plain functions by name, for ``rewrite.chain``."""
    guards: Sequence[Guard] = ()
    """Guards beside the built-in ones."""
    planner: QueryPlanner | None = None
    """Decides what is searched."""
    cache: RewriteCache | None = None
    """Keeps accepted rewrites."""
    store: BaseKVStore | None = None
    """Keeps each turn's query and the summary; None: a table in the memory's database, or in process."""
    locks: Callable[[str], TurnLock] | None = None
    """Returns a conversation's lock by key, for conversations that several processes serve."""
    count_tokens: Callable[[str], int] | None = None
    """Counts the tokens of a text."""
    clock: Callable[[], float] = time.monotonic
    """Seconds, for deadlines and timings."""

    @classmethod
    def from_arguments(cls, arguments: Mapping[str, Any], caller: Callable[..., Any]) -> Components:
        """Return components from keyword arguments.

        Args:
            arguments: the components by name.
            caller: the function that was given them; its own arguments may have been meant.

        Raises:
            ConfigurationError: a name is unknown; the message names the nearest.
        """
        valid = list(cls.__dataclass_fields__)
        for name in arguments:
            if name not in valid:
                if name in ELSEWHERE:
                    raise ConfigurationError(f"Unknown argument {name}: {ELSEWHERE[name]}.")
                near = difflib.get_close_matches(name, [*inspect.signature(caller).parameters, *valid], n=1, cutoff=0.5)
                hint = f"Did you mean {near[0]}?" if near else f"Components: {', '.join(valid)}."
                raise ConfigurationError(f"Unknown argument {name}. {hint}")
        return cls(**arguments)


@dataclass
class FunctionRewriter:
    """A user's plain function, sync or async, as a rewriter."""

    name: str
    rewrite: Callable[[RewriteRequest], Any]


def _as_rewriter(name: str, given: Any) -> Rewriter:
    if hasattr(given, "rewrite"):
        return given  # type: ignore[no-any-return]
    if callable(given):
        return FunctionRewriter(name, given)
    raise ConfigurationError(f"rewriters[{name!r}] must have a rewrite method or be a function of a RewriteRequest.")


def build_pipeline(
    settings: CondensePlusSettings,
    components: Components,
    condense_llm: Callable[[], LLM],
    prompt: BasePromptTemplate | None = None,
) -> Pipeline:
    """Build the parts of a turn.

    Args:
        settings: the options.
        components: what the user brings.
        condense_llm: returns the model that rewrites; called only when one is needed.
        prompt: a condense prompt of the user's own, with ``{chat_history}`` and ``{question}``.

    Raises:
        ConfigurationError: an option names something that does not exist.
    """
    check_languages(settings)
    fusion_method(settings.fusion)
    cache = components.cache
    if cache is None and settings.cache.enabled:
        cache = InProcessRewriteCache(settings.cache.max_entries, settings.cache.ttl_s)
    rewriters = build_rewriters(
        settings.rewrite,
        prompt=prompt,
        custom={name: _as_rewriter(name, given) for name, given in components.rewriters.items()},
    )
    return Pipeline(
        settings=settings,
        trigger=components.trigger or build_trigger(settings),
        extractor=components.entity_extractor or DefaultEntityExtractor(),
        rewriters=rewriters,
        carry=next((one for one in rewriters if isinstance(one, CarryRewriter)), CarryRewriter()),
        reviewer=Reviewer(settings, components.guards),
        planner=components.planner or DefaultQueryPlanner(settings.retrieval),
        cache=cache if settings.cache.enabled else None,
        flights=SingleFlight(),
        breaker=CircuitBreaker(clock=components.clock),
        cache_breaker=CircuitBreaker(CACHE_FAILURES, clock=components.clock),
        condense_llm=condense_llm,
        count_tokens=components.count_tokens,
        clock=components.clock,
    )


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
                "node_postprocessors and context_prompt need retriever=…. With a query engine, pass them to it: "
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
