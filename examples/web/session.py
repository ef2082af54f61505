"""One visitor's conversation: asking, replaying a turn with other settings, and searching something else instead."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import cast

from llama_index.core import VectorStoreIndex
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.chat_engine import CondenseQuestionChatEngine
from llama_index.core.llms.llm import LLM
from llama_index.core.memory import Memory
from llama_index.core.query_engine import RetrieverQueryEngine
from views import Passage, TurnView, passages_of, view_of

from llama_index_condense_plus import (
    CondensePlusChatEngine,
    CondensePlusSettings,
    CondenseTrace,
    ConfigurationError,
    review_rewrite,
)
from llama_index_condense_plus.demo.compare import TOP_K, WITHOUT_MODEL, make_engine
from llama_index_condense_plus.demo.quoting import QuoteSynthesizer


@dataclass(frozen=True, slots=True)
class Toggles:
    """The settings that the panel offers; names and defaults are those of ``CondensePlusSettings``."""

    enabled: bool = True
    trigger: str = CondensePlusSettings.model_fields["trigger"].default.mode
    guards: str = "faithful"
    dual: str = "auto"
    topic: bool = True
    answer: str = "conversation"

    def settings(self, *, with_model: bool) -> CondensePlusSettings:
        """Return the engine's settings.

        Args:
            with_model: False: no model is configured, rules rewrite.
        """
        return CondensePlusSettings(
            **({} if with_model else WITHOUT_MODEL),
            enabled=self.enabled,
            trigger={"mode": self.trigger},
            guards={"profile": self.guards},
            retrieval={"dual": self.dual, "small_talk": "skip", "variants": ("topic",) if self.topic else ()},
            answer={"mode": self.answer},
        )


@dataclass(frozen=True, slots=True)
class Asked:
    """One turn that was answered, and what is needed to run it again."""

    question: str
    """The user's words."""
    answer: str
    """The answer."""
    history: tuple[ChatMessage, ...]
    """The conversation before it."""
    view: TurnView
    """What to show of it."""


@dataclass(frozen=True, slots=True)
class Parts:
    """What all visitors share."""

    index: VectorStoreIndex
    """What is searched."""
    llm: LLM | None
    """Rewrites and answers; None: rules and quotes."""
    engine: CondensePlusChatEngine
    """The engine whose conversations the visitors have."""

    @classmethod
    def build(cls, index: VectorStoreIndex, llm: LLM | None) -> Parts:
        """Return the parts over an index."""
        return cls(index, llm, make_engine(index, llm))


@dataclass(slots=True)
class Session:
    """A conversation with its turns."""

    parts: Parts
    """What is shared."""
    turns: list[Asked] = field(default_factory=list)
    """The turns answered, oldest first."""
    _engine: CondensePlusChatEngine = field(init=False)

    def __post_init__(self) -> None:
        self._engine = self.parts.engine.for_conversation(Memory.from_defaults())

    def ask(self, question: str, toggles: Toggles) -> Iterator[str]:
        """Answer a question: yield the answer as it grows, then keep the turn."""
        settings = self._settings(toggles)
        history = tuple(self._engine.chat_history)
        with self._engine.options(settings=settings):  # closed before the first piece is handed on
            response = self._engine.stream_chat(question)
        answer = ""
        for piece in response.response_gen:
            answer += piece
            yield answer
        trace = cast(CondenseTrace, self._engine.trace_of(response))
        self.turns.append(Asked(question, answer, history, _view(trace, history, settings)))

    def replay(self, turn: Asked, toggles: Toggles) -> TurnView:
        """Return what would be searched in a turn with other settings; changes nothing."""
        settings = self._settings(toggles)
        with self._engine.options(settings=settings) as engine:
            trace = engine.explain(turn.question, chat_history=list(turn.history))
        return _view(trace, turn.history, settings)

    def instead(self, turn: Asked, text: str, toggles: Toggles) -> TurnView:
        """Return what a question completed by hand finds in a turn; changes nothing."""
        settings = self._settings(toggles)
        with self._engine.options(rewrite=text, settings=settings) as engine:
            trace = engine.explain(turn.question, chat_history=list(turn.history))
        return _view(trace, turn.history, settings)

    def stock(self, turn: Asked) -> tuple[str, tuple[Passage, ...]]:
        """Return what LlamaIndex's own engine searches and finds in a turn.

        Raises:
            ConfigurationError: no model is configured, and it needs one for every rewrite.
        """
        if self.parts.llm is None:
            raise ConfigurationError("The stock engine needs a language model.")
        finder = RetrieverQueryEngine(self.parts.index.as_retriever(similarity_top_k=TOP_K), QuoteSynthesizer())
        engine = CondenseQuestionChatEngine.from_defaults(query_engine=finder, llm=self.parts.llm)
        response = engine.chat(turn.question, chat_history=list(turn.history))
        return str(response.sources[0].raw_input["query"]), passages_of(response.source_nodes)

    def _settings(self, toggles: Toggles) -> CondensePlusSettings:
        return toggles.settings(with_model=self.parts.llm is not None)


def _view(trace: CondenseTrace, history: Sequence[ChatMessage], settings: CondensePlusSettings) -> TurnView:
    """Return the view of a trace; where the guards were not asked, with what they would have said."""
    if trace.rewrite.verdicts or trace.rewrite.query == trace.message:
        return view_of(trace)
    apart = review_rewrite(trace.rewrite.query, trace.message, list(history), settings)
    return view_of(trace, apart.verdicts)
