"""The engines that can be evaluated: built-in names, stock engines, and anything by import path."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.base.response.schema import Response
from llama_index.core.callbacks import CallbackManager
from llama_index.core.chat_engine import CondensePlusContextChatEngine, CondenseQuestionChatEngine
from llama_index.core.llms import MockLLM
from llama_index.core.llms.llm import LLM
from llama_index.core.schema import NodeWithScore, QueryBundle

from llama_index_condense_plus.chat_engine import CondensePlusChatEngine
from llama_index_condense_plus.errors import ConfigurationError
from llama_index_condense_plus.evaluation.cases import Case
from llama_index_condense_plus.evaluation.outcome import Outcome
from llama_index_condense_plus.observability.trace import CondenseTrace
from llama_index_condense_plus.settings import CondensePlusSettings


class RecordingRetriever(BaseRetriever):
    """Passes queries on, and notes each with what it found."""

    def __init__(self, inner: BaseRetriever) -> None:
        super().__init__(callback_manager=CallbackManager([]))
        self.inner = inner
        self.similarity_top_k = getattr(inner, "similarity_top_k", None)
        self.found: list[tuple[str, tuple[str, ...]]] = []

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return self._noted(query_bundle, self.inner.retrieve(query_bundle))

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return self._noted(query_bundle, await self.inner.aretrieve(query_bundle))

    def _noted(self, query_bundle: QueryBundle, nodes: list[NodeWithScore]) -> list[NodeWithScore]:
        self.found.append((query_bundle.query_str, _ids(nodes)))
        return nodes


class SearchOnly(BaseQueryEngine):
    """Searches and answers nothing, so that no time goes into answers that nobody reads."""

    def __init__(self, retriever: BaseRetriever) -> None:
        super().__init__(callback_manager=CallbackManager([]))
        self._retriever = retriever

    def _query(self, query_bundle: QueryBundle) -> Response:
        return Response(None, self._retriever.retrieve(query_bundle))

    async def _aquery(self, query_bundle: QueryBundle) -> Response:
        return Response(None, await self._retriever.aretrieve(query_bundle))

    def _get_prompt_modules(self) -> dict[str, Any]:
        return {}


@dataclass(frozen=True, slots=True)
class EngineContext:
    """What a factory makes an engine from."""

    retriever: BaseRetriever
    """Searches the data set's corpus; the engine is to use it, it is what is observed."""
    llm: LLM | None = None
    """The model, if one is configured."""
    aliases: Mapping[str, str] = field(default_factory=dict)
    """The data set's alias table."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Settings that the user gave for this package's engine."""


Factory = Callable[[EngineContext], Any]
"""Makes a LlamaIndex chat engine; one with ``explain`` is asked to explain, any other to chat."""


def condense_plus(context: EngineContext) -> CondensePlusChatEngine:
    """Return this package's engine; without a model, rules rewrite."""
    settings = {"aliases": dict(context.aliases), **context.settings}
    if context.llm is None:
        settings = {**settings, "rewrite": {"chain": ["rules", "original"], **settings.get("rewrite", {})}}
    return CondensePlusChatEngine.from_defaults(
        retriever=context.retriever,
        llm=MockLLM(),
        condense_llm=context.llm,
        settings=CondensePlusSettings.from_defaults(**settings),
    )


def as_typed(context: EngineContext) -> CondensePlusChatEngine:
    """Return an engine that searches the user's words as they are."""
    return condense_plus(EngineContext(context.retriever, context.llm, {}, {"enabled": False}))


def last_turns(context: EngineContext) -> CondensePlusChatEngine:
    """Return an engine that searches the turns before together with the question, whatever it is."""
    settings = {"trigger": {"mode": "always"}, "rewrite": {"chain": ["concat", "original"]}}
    return condense_plus(EngineContext(context.retriever, context.llm, {}, settings))


def stock(context: EngineContext) -> CondenseQuestionChatEngine:
    """Return LlamaIndex's CondenseQuestionChatEngine."""
    return CondenseQuestionChatEngine.from_defaults(SearchOnly(context.retriever), llm=_needed(context, "stock"))


def stock_context(context: EngineContext) -> CondensePlusContextChatEngine:
    """Return LlamaIndex's CondensePlusContextChatEngine, which answers too: count one call less."""
    return CondensePlusContextChatEngine.from_defaults(context.retriever, llm=_needed(context, "stock-context"))


ENGINES: dict[str, Factory] = {
    "condense-plus": condense_plus,
    "as-typed": as_typed,
    "last-turns": last_turns,
    "stock": stock,
    "stock-context": stock_context,
}
"""The engines by name."""


def load_factory(name: str) -> Factory:
    """Return a built-in factory, or the one that ``package.module:factory`` names.

    Raises:
        ConfigurationError: there is none of this name.
    """
    if name in ENGINES:
        return ENGINES[name]
    module, _, attribute = name.partition(":")
    if not attribute:
        raise ConfigurationError(f"--engine: {name!r} is none of {', '.join(ENGINES)}, and no module:factory.")
    try:
        factory = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise ConfigurationError(f"--engine: {name!r} cannot be imported: {error}") from None
    if not callable(factory):
        raise ConfigurationError(f"--engine: {name!r} is not callable; it is called with an EngineContext.")
    return factory  # type: ignore[no-any-return]


class Observed:
    """One engine with the retriever through which it is observed; used by one thread at a time."""

    def __init__(self, factory: Factory, context: EngineContext) -> None:
        self._retriever = RecordingRetriever(context.retriever)
        self.engine = factory(EngineContext(self._retriever, context.llm, context.aliases, context.settings))

    def run(self, case: Case) -> Outcome:
        """Give a case to the engine; whatever it raises passes through."""
        history = case.chat_history()
        self._retriever.found.clear()
        if hasattr(self.engine, "explain"):
            return _from_trace(case, self.engine.explain(case.question, chat_history=history))
        self.engine.reset()
        return self._from_chat(case, history)

    def _from_chat(self, case: Case, history: list[ChatMessage]) -> Outcome:
        response = self.engine.chat(case.question, chat_history=history)
        found = tuple(self._retriever.found)
        query = found[0][0] if found else case.question
        return Outcome(
            case_id=case.id,
            query=query,
            rewrite_asked=bool(history),
            reason="stock",
            rewriter="stock",
            attempts=((query, True),) if history else (),
            lists=found,
            nodes=_ids(response.source_nodes) or (found[-1][1] if found else ()),
        )


def _from_trace(case: Case, trace: CondenseTrace) -> Outcome:
    return Outcome(
        case_id=case.id,
        query=trace.search_query,
        rewrite_asked=trace.decision.rewrite,
        reason=trace.decision.reason.value,
        score=trace.decision.score,
        rewriter=trace.rewrite.rewriter,
        attempts=tuple((a.query, a.accepted) for a in trace.rewrite.attempts if a.query),
        lists=tuple((ranked.query.text, _ids(ranked.nodes)) for ranked in trace.retrievals if ranked.used),
        nodes=_ids(trace.nodes),
    )


def _needed(context: EngineContext, name: str) -> LLM:
    if context.llm is None:
        raise ConfigurationError(f"--engine {name} needs a model: give --api-base and --model, or OPENAI_API_KEY.")
    return context.llm


def _ids(nodes: Sequence[NodeWithScore]) -> tuple[str, ...]:
    return tuple(node.node.node_id for node in nodes)
