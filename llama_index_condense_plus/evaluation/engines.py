"""The engines that can be evaluated: built-in names, stock engines, and anything by import path."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.response.schema import Response
from llama_index.core.callbacks import CallbackManager
from llama_index.core.chat_engine import CondensePlusContextChatEngine, CondenseQuestionChatEngine
from llama_index.core.llms import MockLLM
from llama_index.core.llms.llm import LLM
from llama_index.core.schema import NodeWithScore, QueryBundle

from llama_index_condense_plus.chat_engine import CondensePlusChatEngine
from llama_index_condense_plus.errors import ConfigurationError
from llama_index_condense_plus.evaluation.cases import Case
from llama_index_condense_plus.settings import CondensePlusSettings

ALWAYS = "always"
"""Reason of an engine that rewrites each message with a history."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an engine did with one case."""

    case_id: str
    """The case."""
    query: str = ""
    """What was searched first; empty if the engine failed."""
    rewrite_asked: bool = False
    """Whether the engine wanted a rewrite."""
    reason: str = ""
    """Why, in the engine's words."""
    rewriter: str = ""
    """Who made the query."""
    trust: str = ""
    """Verdict on the rewrite, if there was one."""
    attempts: tuple[tuple[str, str], ...] = ()
    """Every rewrite that was considered, and the verdict on it."""
    lists: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Every searched query with the ids it found, best first."""
    nodes: tuple[str, ...] = ()
    """Ids of the passages given to the answer, best first."""
    latency_s: float = 0.0
    """Time in seconds."""
    llm_calls: int = 0
    """Calls of a language model."""
    error: str = ""
    """Why the engine failed: an exception's class and message."""

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Outcome:
        """Return what ``dataclasses.asdict`` made plain.

        Raises:
            TypeError: a field is missing or unknown.
        """
        plain = dict(values)
        plain["attempts"] = tuple((query, verdict) for query, verdict in values["attempts"])
        plain["lists"] = tuple((query, tuple(ids)) for query, ids in values["lists"])
        plain["nodes"] = tuple(values["nodes"])
        return cls(**plain)


class RecordingRetriever(BaseRetriever):
    """Passes queries on, and notes each with what it found."""

    def __init__(self, inner: BaseRetriever) -> None:
        super().__init__(callback_manager=CallbackManager([]))
        self.inner = inner
        self.similarity_top_k = getattr(inner, "similarity_top_k", None)
        self.found: list[tuple[str, tuple[str, ...]]] = []

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        nodes = self.inner.retrieve(query_bundle)
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


def plus(context: EngineContext) -> CondensePlusChatEngine:
    """Return this package's engine; without a model it carries the topic over."""
    settings = dict(context.settings)
    settings["aliases"] = {**context.aliases, **settings.get("aliases", {})}
    if context.llm is None:
        settings["rewrite"] = {"chain": ["rules", "original"], **settings.get("rewrite", {})}
    return CondensePlusChatEngine.from_defaults(
        retriever=context.retriever,
        llm=MockLLM(),
        condense_llm=context.llm,
        settings=CondensePlusSettings(**settings),
    )


def as_typed(context: EngineContext) -> CondensePlusChatEngine:
    """Return an engine that searches the user's words."""
    return plus(EngineContext(context.retriever, None, {}, {"enabled": False}))


def stock(context: EngineContext) -> CondenseQuestionChatEngine:
    """Return LlamaIndex's CondenseQuestionChatEngine."""
    return CondenseQuestionChatEngine.from_defaults(SearchOnly(context.retriever), llm=_needed(context, "stock"))


def stock_context(context: EngineContext) -> CondensePlusContextChatEngine:
    """Return LlamaIndex's CondensePlusContextChatEngine, which answers too: count one call less."""
    return CondensePlusContextChatEngine.from_defaults(context.retriever, llm=_needed(context, "stock-context"))


ENGINES: dict[str, Factory] = {"plus": plus, "stock": stock, "stock-context": stock_context, "as-typed": as_typed}
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
        self._retriever.found.clear()
        return self._explained(case) if hasattr(self.engine, "explain") else self._chatted(case)

    def _explained(self, case: Case) -> Outcome:
        trace = self.engine.explain(case.question, chat_history=case.chat_history())
        attempts = ((a.query, a.trust.value if a.trust else a.error) for a in trace.rewrite.attempts if a.query)
        return Outcome(
            case_id=case.id,
            query=trace.search_query,
            rewrite_asked=trace.decision.rewrite,
            reason=trace.decision.reason.value,
            rewriter=trace.rewrite.rewriter,
            trust=trace.rewrite.trust.value if trace.rewrite.attempts else "",
            attempts=tuple(attempts),
            lists=tuple((ranked.query.text, _ids(ranked.nodes)) for ranked in trace.retrievals if ranked.used),
            nodes=_ids(trace.nodes),
        )

    def _chatted(self, case: Case) -> Outcome:
        self.engine.reset()
        response = self.engine.chat(case.question, chat_history=case.chat_history())
        found = tuple(self._retriever.found)
        return Outcome(
            case_id=case.id,
            query=found[0][0] if found else case.question,
            rewrite_asked=bool(case.history),
            reason=ALWAYS,
            rewriter=ALWAYS,
            lists=found,
            nodes=_ids(response.source_nodes) or (found[-1][1] if found else ()),
        )


def _needed(context: EngineContext, name: str) -> LLM:
    if context.llm is None:
        raise ConfigurationError(f"--engine {name} needs a model: give --api-base and --model, or OPENAI_API_KEY.")
    return context.llm


def _ids(nodes: Sequence[NodeWithScore]) -> tuple[str, ...]:
    return tuple(node.node.node_id for node in nodes)
