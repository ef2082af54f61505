"""The first half of a turn: from the user's words to what is searched. Writes nothing."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.schema import QueryBundle

from llama_index_condense_plus.errors import InvalidMessageError
from llama_index_condense_plus.languages import detect_language
from llama_index_condense_plus.observability.events import (
    QueryPlanEvent,
    RewriteEvent,
    TriggerDecisionEvent,
    TurnProgressEvent,
    dispatcher,
)
from llama_index_condense_plus.operations import Flow, Operation, Predict, delegate
from llama_index_condense_plus.retrieval.blend import prefetcher
from llama_index_condense_plus.retrieval.plan import says_something
from llama_index_condense_plus.retrieval.variants import expand
from llama_index_condense_plus.rewriting.history import SummaryKind, build_window
from llama_index_condense_plus.rewriting.llm import CHAT_HISTORY, CONTEXT_WINDOW
from llama_index_condense_plus.turn.chain import RewriteChain
from llama_index_condense_plus.turn.conversation import TurnOptions
from llama_index_condense_plus.turn.flow import Start, retrieve
from llama_index_condense_plus.turn.models import ask
from llama_index_condense_plus.turn.pipeline import Pipeline
from llama_index_condense_plus.types import (
    HistoryWindow,
    PlannedQuery,
    QueryPlan,
    QueryRole,
    RewriteRequest,
    RewriteResult,
    RewriteStatus,
    TriggerDecision,
    TriggerReason,
)


@dataclass
class Found:
    """What the first half of a turn found out."""

    window: HistoryWindow
    """The conversation."""
    decision: TriggerDecision
    """Whether a rewrite was asked for."""
    result: RewriteResult
    """The standalone question."""
    plan: QueryPlan
    """What to search."""
    prefetched: dict[str, Any] = field(default_factory=dict)
    """By its words: the original's retrieval, begun beside the rewrite."""
    timings: dict[str, float] = field(default_factory=dict)
    """Seconds by stage."""
    warnings: list[str] = field(default_factory=list)
    """What went wrong without ending the turn."""


@dataclass
class Finder:
    """Runs the first half of one turn."""

    pipeline: Pipeline
    """The components."""
    turn_id: str
    """Identifier of the turn."""
    options: TurnOptions
    """What is different in this turn."""
    retriever: BaseRetriever | None
    """Searches the original beside the rewrite; None: nothing is prefetched."""
    keep: bool = True
    """False: leave no trace in cache and circuit breaker."""
    summary: SummaryKind = "none"
    """Where the memory keeps its summary; no other system message reaches the rewriting model."""

    def __post_init__(self) -> None:
        self.timings: dict[str, float] = {}
        self.warnings: list[str] = []
        self.prefetched: dict[str, Any] = {}

    def run(self, message: str, history: Sequence[ChatMessage], topic_start: int = 0) -> Flow[Found]:
        """Return what to search for a message.

        Args:
            message: the user's words.
            history: the conversation, oldest first.
            topic_start: where in it the present topic begins; a message that points back sees all of it.
        """
        clock = self.pipeline.clock
        began = clock()
        window = self._window(history, topic_start)
        decision = self._decide(message, window)
        if topic_start and decision.reason is TriggerReason.BACK_REFERENCE:
            window = self._window(history, 0)
        self.timings["decide"] = clock() - began
        self._tell(TriggerDecisionEvent(turn_id=self.turn_id, decision=decision))
        try:
            began = clock()
            result = yield from self._rewrite(message, history, window, decision)
            self.timings["rewrite"] = clock() - began
            self._tell(RewriteEvent(turn_id=self.turn_id, result=result))
            began = clock()
            plan = yield from self._plan(result, window)
            self.timings["plan"] = clock() - began
            self._tell(QueryPlanEvent(turn_id=self.turn_id, plan=plan))
        except BaseException:
            self.cancel()
            raise
        return Found(window, decision, result, plan, self.prefetched, self.timings, self.warnings)

    def _window(self, history: Sequence[ChatMessage], topic_start: int) -> HistoryWindow:
        settings, own = self.pipeline.settings.history, self.pipeline
        try:
            return build_window(
                history,
                settings,
                extractor=own.extractor,
                count_tokens=own.count_tokens,
                topic_start=topic_start,
                summary=self.summary,
            )
        except Exception as error:  # noqa: BLE001 - parts of the user's own must not end the turn
            self.warnings.append(f"entity extractor or token counter failed: {type(error).__name__}")
            return build_window(history, settings, topic_start=topic_start, summary=self.summary)

    def cancel(self) -> None:
        """Drop the prefetched retrieval: the turn ends early."""
        for pending in self.prefetched.values():
            pending.cancel()

    def _decide(self, message: str, window: HistoryWindow) -> TriggerDecision:
        wanted, language = self.options.rewrite, detect_language(message)
        if not self.pipeline.settings.enabled:
            return TriggerDecision(False, TriggerReason.DISABLED, language)
        if wanted is not None:
            return TriggerDecision(wanted is True and bool(window), TriggerReason.FORCED, language)
        try:
            decision: Any = self.pipeline.trigger.decide(message, window)
            if not isinstance(decision, TriggerDecision):
                raise TypeError(type(decision).__name__)
            return decision
        except Exception as error:  # noqa: BLE001 - a gate of the user's own must not end the turn
            self.warnings.append(f"trigger failed: {type(error).__name__}")
            return TriggerDecision(bool(window), TriggerReason.UNKNOWN_LANGUAGE, language)

    def _rewrite(
        self, message: str, history: Sequence[ChatMessage], window: HistoryWindow, decision: TriggerDecision
    ) -> Flow[RewriteResult]:
        pipeline = self.pipeline
        if isinstance(self.options.rewrite, str) and pipeline.settings.enabled:
            return RewriteResult(message, one_line(self.options.rewrite), RewriteStatus.REWRITTEN, "user")
        original = pipeline.reviewer.original(message)
        query = original.query or message
        if not decision.rewrite:
            return RewriteResult(
                message, query, RewriteStatus.SKIPPED, edits=original.edits, language=decision.language
            )
        if self._wants_prefetch(message) and self.retriever is not None:
            begun = prefetcher(self.retriever, pipeline.settings.retrieval.blend)
            self.prefetched[query] = yield Start(retrieve(begun, QueryBundle(query)))
        self._tell(TurnProgressEvent(turn_id=self.turn_id, stage="rewriting"))
        extra = {
            CHAT_HISTORY: list(history),
            CONTEXT_WINDOW: lambda: pipeline.condense_llm().metadata.context_window,
            "tenant": self.options.tenant,
        }
        request = RewriteRequest(message, window, decision, extra=extra)
        return (yield from RewriteChain(pipeline, request, keep=self.keep).run())

    def _wants_prefetch(self, message: str) -> bool:
        retrieval = self.pipeline.settings.retrieval
        if not retrieval.prefetch or retrieval.dual == "never":
            return False
        return retrieval.dual == "always" or says_something(message)

    def _plan(self, result: RewriteResult, window: HistoryWindow) -> Flow[QueryPlan]:
        try:
            plan = self.pipeline.planner.plan(result, window)
            expanding = expand(plan, result, window, self.pipeline.settings)
            expanded: QueryPlan = yield from delegate(expanding, self._perform)
            return self._with_own_words(expanded)
        except Exception as error:  # noqa: BLE001 - one query is better than none
            self.warnings.append(f"planning failed: {type(error).__name__}")
            return QueryPlan((PlannedQuery(result.query, QueryRole.REWRITTEN),), reason="planning failed")

    def _with_own_words(self, plan: QueryPlan) -> QueryPlan:
        """Search the user's own words as the retrieval that already runs does: aliases expanded, no whole paste."""
        own, original = QueryRole.ORIGINAL, self.pipeline.reviewer.original
        queries = [
            replace(query, text=original(query.text).query or query.text) if query.role is own else query
            for query in plan.queries
        ]
        return replace(plan, queries=tuple(queries))

    def _perform(self, operation: Operation) -> Flow[Any]:
        """Perform a lower stage's operation, its model calls asked of the rewriting model."""
        if isinstance(operation, Predict):
            return (yield from ask(operation, self.pipeline.condense_llm()))
        return (yield operation)

    def _tell(self, event: Any) -> None:
        if not self.pipeline.is_stock:
            dispatcher.event(event)


def checked_message(message: Any) -> str:
    """Return the message.

    Raises:
        InvalidMessageError: it is not text, or blank.
    """
    if not isinstance(message, str):
        raise InvalidMessageError(f"message must be a str, not {type(message).__name__}.")
    if all(unicodedata.category(char)[0] in "ZC" for char in message):
        raise InvalidMessageError("message is blank. Check for empty input before calling the chat engine.")
    return message


def one_line(text: str) -> str:
    """Return the text on one line, without control characters."""
    return " ".join("".join(" " if unicodedata.category(c)[0] == "C" else c for c in text).split())


def checked_history(history: Sequence[Any]) -> list[ChatMessage]:
    """Return an explicit history.

    Raises:
        InvalidMessageError: something in it is no ChatMessage.
    """
    for message in history:
        if not isinstance(message, ChatMessage):
            raise InvalidMessageError(
                f"chat_history must hold ChatMessage objects, not {type(message).__name__}: "
                "ChatMessage(role='user', content='…')."
            )
    return list(history)
