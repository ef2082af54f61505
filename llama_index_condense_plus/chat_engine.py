"""CondensePlusChatEngine: a drop-in subclass of LlamaIndex's condense-question chat engine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeVar, cast

from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.callbacks import CallbackManager, trace_method
from llama_index.core.chat_engine import CondenseQuestionChatEngine
from llama_index.core.chat_engine.types import AgentChatResponse, StreamingAgentChatResponse
from llama_index.core.indices.base import BaseIndex
from llama_index.core.llms.llm import LLM
from llama_index.core.memory import BaseMemory, Memory
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.prompts.base import BasePromptTemplate
from llama_index.core.settings import Settings
from llama_index.core.tools import FunctionTool
from llama_index.core.vector_stores.types import MetadataFilters
from typing_extensions import Unpack

from llama_index_condense_plus import _compat
from llama_index_condense_plus.construction import (
    Components,
    build_pipeline,
    default_memory,
    default_query_engine,
    engine_tool,
    prefix,
    split_arguments,
    warm_up,
)
from llama_index_condense_plus.conversations import Conversations
from llama_index_condense_plus.errors import ConfigurationError
from llama_index_condense_plus.flow import adrive, drive
from llama_index_condense_plus.observability.rewrite_log import RewriteLog
from llama_index_condense_plus.observability.trace import CondenseTrace
from llama_index_condense_plus.rewriting.llm import as_template
from llama_index_condense_plus.settings import CondensePlusSettings
from llama_index_condense_plus.turn.after_turn import AfterTurn
from llama_index_condense_plus.turn.conversation import Sessions
from llama_index_condense_plus.turn.options import (
    Restricting,
    Restriction,
    TurnOptions,
    last_trace_of,
    next_number,
    options_of,
    remember,
    with_options,
)
from llama_index_condense_plus.turn.query import checked_message
from llama_index_condense_plus.turn.turn import Service, Turn

Response = TypeVar("Response")


class CondensePlusChatEngine(Conversations, CondenseQuestionChatEngine):
    """Rewrites follow-ups only when needed, reviews the rewrite, and searches it with the user's words.

    A drop-in subclass: the positional arguments are those of the stock engine, new arguments are keyword-only.

    Args:
        query_engine: searches and answers; its retriever, postprocessors, prompts and model stay in use.
        condense_question_prompt: prompt of the rewrite with ``{chat_history}`` and ``{question}``; None: built in.
        memory: holds the user's own words and the answers.
        llm: the answering model; None: the query engine's own, then ``Settings.llm``, when one is needed.
        verbose: print one line a turn.
        callback_manager: LlamaIndex's callbacks.
        settings: the options; None: ``CondensePlusSettings()``.
        condense_llm: a separate, smaller model for the rewrite; None: ``llm``.
        prefix_messages: messages before every answer call.
        retrievers: named retrievers for every query, instead of the query engine's own.
        filters: metadata filters of every query of this conversation.
        components: your own gate, guards, rewriters and other parts.

    Raises:
        ConfigurationError: an option is wrong; the message names it and the remedy.
    """

    def __init__(
        self,
        query_engine: BaseQueryEngine,
        condense_question_prompt: BasePromptTemplate | str | None,
        memory: BaseMemory,
        llm: LLM | None = None,
        verbose: bool = False,
        callback_manager: CallbackManager | None = None,
        *,
        settings: CondensePlusSettings | None = None,
        condense_llm: LLM | None = None,
        prefix_messages: Sequence[ChatMessage] = (),
        retrievers: Mapping[str, BaseRetriever] | None = None,
        filters: MetadataFilters | None = None,
        components: Components | None = None,
    ) -> None:
        if not isinstance(settings, CondensePlusSettings | None):
            raise ConfigurationError(
                f"settings must be CondensePlusSettings, not {type(settings).__name__}: "
                'CondensePlusSettings(trigger={"mode": "never"}), or CondensePlusSettings.from_toml("settings.toml").'
            )
        prompt = None if condense_question_prompt is None else as_template(condense_question_prompt)
        super().__init__(query_engine, cast(Any, prompt), memory, cast(Any, llm), verbose, callback_manager)
        self._given_llm, self._given_condense_llm = llm, condense_llm
        self._settings = own = settings or CondensePlusSettings()
        parts = components or Components()
        self._make_pipeline = partial(build_pipeline, components=parts, condense_llm=self._rewriting_llm, prompt=prompt)
        self._pipeline = self._make_pipeline(own)
        self._log = RewriteLog(own.log) if own.log.enabled else None
        self._retrievers = dict(retrievers or {})
        self._service = Service(
            query_engine,
            self._answering_llm,
            tuple(prefix_messages),
            self._retrievers,
            verbose,
            after_turn=AfterTurn(self._log, self._pipeline, own.log.shadow_rate) if self._log else None,
        )
        names = (own.cache.namespace, str(own.log.path))
        self._sessions = Sessions(parts.store, parts.locks, own.summary, self._rewriting_llm, *names)
        self._lineage = (next_number(),)
        self._begin(memory, Restriction(filters))

    @classmethod
    def from_defaults(
        cls,
        query_engine: BaseQueryEngine | None = None,
        condense_question_prompt: BasePromptTemplate | str | None = None,
        chat_history: list[ChatMessage] | None = None,
        memory: BaseMemory | None = None,
        memory_cls: type[BaseMemory] = Memory,
        verbose: bool = False,
        system_prompt: str | None = None,
        prefix_messages: list[ChatMessage] | None = None,
        llm: LLM | None = None,
        *,
        retriever: BaseRetriever | None = None,
        node_postprocessors: list[BaseNodePostprocessor] | None = None,
        context_prompt: BasePromptTemplate | str | None = None,
        settings: CondensePlusSettings | None = None,
        condense_llm: LLM | None = None,
        retrievers: Mapping[str, BaseRetriever] | None = None,
        filters: MetadataFilters | None = None,
        **components: Any,
    ) -> CondensePlusChatEngine:
        """Make an engine; missing parts are LlamaIndex's defaults.

        Args:
            query_engine: searches and answers; or pass ``retriever``.
            condense_question_prompt: prompt of the rewrite with ``{chat_history}`` and ``{question}``.
            chat_history: messages that the memory starts with.
            memory: holds the conversation; None: a new ``memory_cls``.
            memory_cls: class of the default memory.
            verbose: print one line a turn.
            system_prompt: system message of every answer call.
            prefix_messages: messages before every answer call; not together with ``system_prompt``.
            llm: the answering model.
            retriever: used instead of ``query_engine``, like in CondensePlusContextChatEngine, together with
                ``node_postprocessors`` and ``context_prompt``.
            node_postprocessors: rerankers and filters.
            context_prompt: prompt with ``{context_str}``.
            settings: the options; None: ``CondensePlusSettings()``.
            condense_llm: a separate, smaller model for the rewrite.
            retrievers: named retrievers for every query.
            filters: metadata filters of every query.
            **components: your own parts by name: ``trigger``, ``entity_extractor``, ``rewriters``, ``guards``,
                ``planner``, ``cache``, ``store``, ``locks``, ``count_tokens``, ``clock``.

        Raises:
            ConfigurationError: neither or both of ``query_engine`` and ``retriever``, or an unknown argument.
        """
        if query_engine is not None and retriever is not None:
            raise ConfigurationError("Give query_engine or retriever, not both.")
        retriever = retriever or next(iter((retrievers or {}).values()), None)
        query_engine = default_query_engine(query_engine, retriever, node_postprocessors, context_prompt, llm)
        known = llm or _compat.llm_of(query_engine) or _compat.configured_llm()
        return cls(
            query_engine,
            condense_question_prompt,
            memory if memory is not None else default_memory(memory_cls, chat_history, known),
            llm,
            verbose=verbose,
            callback_manager=Settings.callback_manager,
            settings=settings,
            condense_llm=condense_llm,
            prefix_messages=prefix(system_prompt, prefix_messages),
            retrievers=retrievers,
            filters=filters,
            components=Components.from_arguments(components, cls.from_defaults),
        )

    @classmethod
    def from_index(cls, index: BaseIndex[Any], *, llm: LLM | None = None, **kwargs: Any) -> CondensePlusChatEngine:
        """Make an engine over an index.

        Args:
            index: any LlamaIndex index.
            llm: the answering model.
            **kwargs: arguments of ``from_defaults``; others, such as ``similarity_top_k``, go to
                ``index.as_query_engine``.
        """
        own, for_query_engine = split_arguments(cls.from_defaults, kwargs)
        return cls.from_defaults(index.as_query_engine(llm=llm, **for_query_engine), llm=llm, **own)

    @trace_method("chat")
    def chat(
        self, message: str, chat_history: list[ChatMessage] | None = None, **restriction: Unpack[Restricting]
    ) -> AgentChatResponse:
        """Answer a message.

        Args:
            message: the user's words.
            chat_history: None: the memory; a list is read instead, and the turn is not stored.
            **restriction: ``filters`` and ``retriever`` of this turn; filters are combined with those of
                conversation and engine.

        Raises:
            ConfigurationError: a restriction cannot be applied; nothing is searched.
        """
        return self._answered(AgentChatResponse, message, chat_history, restriction)

    @trace_method("chat")
    def stream_chat(
        self, message: str, chat_history: list[ChatMessage] | None = None, **restriction: Unpack[Restricting]
    ) -> StreamingAgentChatResponse:
        """Answer a message as a stream; the arguments are those of ``chat``."""
        return self._answered(StreamingAgentChatResponse, message, chat_history, restriction, streaming=True)

    @trace_method("chat")
    async def achat(
        self, message: str, chat_history: list[ChatMessage] | None = None, **restriction: Unpack[Restricting]
    ) -> AgentChatResponse:
        """Answer a message without blocking the event loop; the arguments are those of ``chat``."""
        return await self._aanswered(AgentChatResponse, message, chat_history, restriction)

    @trace_method("chat")
    async def astream_chat(
        self, message: str, chat_history: list[ChatMessage] | None = None, **restriction: Unpack[Restricting]
    ) -> StreamingAgentChatResponse:
        """Answer a message as a stream without blocking the event loop; the arguments are those of ``chat``."""
        return await self._aanswered(StreamingAgentChatResponse, message, chat_history, restriction, streaming=True)

    def explain(
        self, message: str, chat_history: list[ChatMessage] | None = None, **restriction: Unpack[Restricting]
    ) -> CondenseTrace:
        """Return the trace of a message without answering it or changing anything."""
        return drive(self._turn(message, chat_history, restriction).explain())

    async def aexplain(
        self, message: str, chat_history: list[ChatMessage] | None = None, **restriction: Unpack[Restricting]
    ) -> CondenseTrace:
        """Return what ``explain`` returns, without blocking the event loop."""
        return await adrive(self._turn(message, chat_history, restriction).explain())

    def retry(self, **restriction: Unpack[Restricting]) -> AgentChatResponse:
        """Answer the last message again; InvalidMessageError if there is none."""
        return self._answered(AgentChatResponse, "", None, restriction, replaces_last=True)

    async def aretry(self, **restriction: Unpack[Restricting]) -> AgentChatResponse:
        """Answer the last message again without blocking the event loop."""
        return await self._aanswered(AgentChatResponse, "", None, restriction, replaces_last=True)

    def edit_last(self, message: str, **restriction: Unpack[Restricting]) -> AgentChatResponse:
        """Replace the last message and its answer; if the answer fails, the history does not change."""
        return self._answered(AgentChatResponse, checked_message(message), None, restriction, replaces_last=True)

    async def aedit_last(self, message: str, **restriction: Unpack[Restricting]) -> AgentChatResponse:
        """Replace the last message and its answer without blocking the event loop."""
        return await self._aanswered(AgentChatResponse, checked_message(message), None, restriction, replaces_last=True)

    @contextmanager
    def options(
        self,
        *,
        rewrite: bool | str | None = None,
        settings: CondensePlusSettings | None = None,
        filters: MetadataFilters | None = None,
        retriever: BaseRetriever | None = None,
    ) -> Iterator[CondensePlusChatEngine]:
        """Change options for turns that begin inside a ``with`` block, in this context only.

        They apply to this engine and to engines that ``for_conversation`` makes of it. In nested blocks the inner value
        wins, and all filters are combined. A thread or an executor does not inherit the context: while a block
        restricts the search, a turn outside the context raises ConfigurationError.

        Args:
            rewrite: False: never; True: always; a text: the text to search.
            settings: other settings.
            filters: metadata filters of every query.
            retriever: a retriever instead of the query engine's own.
        """
        with with_options(self._lineage[-1], TurnOptions(rewrite, settings, Restriction(filters, retriever))):
            yield self

    def as_tool(self, name: str, description: str) -> FunctionTool:
        """Return the engine as a tool for agents and workflows; it answers with the response's text.

        Args:
            name: name of the tool.
            description: the agent reads what the tool can answer.
        """
        return engine_tool(self, name, description)

    def warm_up(self) -> None:
        """Load word lists, embeddings and the static part of the rewrite prompt before the first turn."""
        warm_up(self)

    @property
    def settings(self) -> CondensePlusSettings:
        """The engine's options."""
        return self._settings

    @property
    def last_trace(self) -> CondenseTrace | None:
        """Trace of the last turn of this engine in this context; each request sees its own."""
        return last_trace_of(self._lineage[-1])

    @staticmethod
    def trace_of(response: AgentChatResponse | StreamingAgentChatResponse) -> CondenseTrace | None:
        """Return the trace of any response of this package."""
        return getattr(response, "trace", None)

    def _turn(
        self, message: str, chat_history: list[ChatMessage] | None, restriction: Restricting, **kind: bool
    ) -> Turn:
        own, talk = TurnOptions(restriction=Restriction(**restriction)), self._talk
        options = options_of(self._lineage, own, talk.restriction)
        changed = options.settings if options.settings != self._settings else None
        pipeline = self._pipeline if changed is None else self._make_pipeline(changed)
        return Turn(self._service, pipeline, talk, message, chat_history, options, **kind)

    def _answered(self, _: type[Response], *turn: Any, **kind: Any) -> Response:
        response = drive(self._turn(*turn, **kind).run())
        remember(self._lineage[-1], response.trace)
        return cast(Response, response)

    async def _aanswered(self, _: type[Response], *turn: Any, **kind: Any) -> Response:
        response = await adrive(self._turn(*turn, **kind).run())
        remember(self._lineage[-1], response.trace)
        return cast(Response, response)

    def _answering_llm(self) -> LLM:
        return self._given_llm or _compat.llm_of(self._query_engine) or Settings.llm

    def _rewriting_llm(self) -> LLM:
        return self._given_condense_llm or self._answering_llm()
