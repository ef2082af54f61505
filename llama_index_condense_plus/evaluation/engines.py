"""The engines that can be evaluated: built-in names, the stock engine, and anything by import path."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.callbacks import CallbackManager
from llama_index.core.chat_engine import CondenseQuestionChatEngine
from llama_index.core.llms import MockLLM
from llama_index.core.llms.llm import LLM
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.response_synthesizers.no_text import NoText
from llama_index.core.schema import NodeWithScore, QueryBundle
from pydantic import ImportString, TypeAdapter, ValidationError

from llama_index_condense_plus.chat_engine import CondensePlusChatEngine
from llama_index_condense_plus.errors import ConfigurationError
from llama_index_condense_plus.evaluation.cases import Case, Outcome
from llama_index_condense_plus.settings import CondensePlusSettings


@dataclass(frozen=True)
class EngineContext:
    """What a factory makes an engine from.

    Attributes:
        retriever: searches the data set's corpus; the engine is to use it, it is what is observed.
        llm: the model, if one is configured.
        aliases: the data set's alias table.
        settings: settings that the user gave for this package's engine.
    """

    retriever: BaseRetriever
    llm: LLM | None = None
    aliases: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)


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
    return plus(EngineContext(context.retriever, settings={"enabled": False}))


def stock(context: EngineContext) -> CondenseQuestionChatEngine:
    """Return LlamaIndex's CondenseQuestionChatEngine; it searches, and writes no answers that nobody reads."""
    if context.llm is None:
        raise ConfigurationError("--engine stock needs a model: give --api-base and --model, or OPENAI_API_KEY.")
    silent = RetrieverQueryEngine(context.retriever, NoText(llm=context.llm))
    memory = ChatMemoryBuffer.from_defaults(llm=context.llm)
    return CondenseQuestionChatEngine.from_defaults(silent, llm=context.llm, memory=memory)


ENGINES: dict[str, Factory] = {"plus": plus, "stock": stock, "as-typed": as_typed}
"""The engines by name."""


def load_factory(name: str) -> Factory:
    """Return a built-in factory, or the one that ``package.module:factory`` names.

    Raises:
        ConfigurationError: there is none of this name.
    """
    if name in ENGINES:
        return ENGINES[name]
    try:
        return TypeAdapter(ImportString[Factory]).validate_python(name)
    except ValidationError as error:
        known, reason = ", ".join(ENGINES), error.errors()[0]["msg"]
        raise ConfigurationError(f"--engine: {name!r} is none of {known}, and no module:factory: {reason}.") from None


class RecordingRetriever(BaseRetriever):
    """Passes queries on, and notes each with what it found."""

    def __init__(self, inner: BaseRetriever) -> None:
        super().__init__(callback_manager=CallbackManager([]))
        self.inner = inner
        self.similarity_top_k: int | None = getattr(inner, "similarity_top_k", None)
        self.found: list[tuple[str, tuple[str, ...]]] = []

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        nodes = self.inner.retrieve(query_bundle)
        self.found.append((query_bundle.query_str, _ids(nodes)))
        return nodes


class Observed:
    """One engine with the retriever through which it is observed; used by one thread at a time."""

    def __init__(self, factory: Factory, context: EngineContext) -> None:
        self._retriever = RecordingRetriever(context.retriever)
        self.engine: Any = factory(EngineContext(self._retriever, context.llm, context.aliases, context.settings))

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
            reason="always",
            rewriter="always",
            lists=found,
            nodes=_ids(response.source_nodes) or (found[-1][1] if found else ()),
        )


def _ids(nodes: Sequence[NodeWithScore]) -> tuple[str, ...]:
    return tuple(node.node.node_id for node in nodes)
