"""The first half of a turn: from the user's words to what is searched. Writes nothing."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.schema import QueryBundle

from llama_index_condense_plus.cleanup import safe_line
from llama_index_condense_plus.errors import InvalidMessageError
from llama_index_condense_plus.flow import Step, delegate
from llama_index_condense_plus.languages import detect_language
from llama_index_condense_plus.observability.events import (
    QueryPlanEvent,
    RewriteEvent,
    TriggerDecisionEvent,
    TurnProgressEvent,
    dispatcher,
)
from llama_index_condense_plus.operations import Flow, Operation, Predict
from llama_index_condense_plus.retrieval.blend import prefetcher
from llama_index_condense_plus.retrieval.parallel import aretrieve
from llama_index_condense_plus.retrieval.plan import says_something
from llama_index_condense_plus.retrieval.variants import expand
from llama_index_condense_plus.rewriting.history import build_window
from llama_index_condense_plus.rewriting.spoken import SummaryKind
from llama_index_condense_plus.turn.chain import Pipeline, RewriteChain
from llama_index_condense_plus.turn.models import ask
from llama_index_condense_plus.types import (
    CHAT_HISTORY,
    CONTEXT_WINDOW,
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
class ResolvedQuery:
    """What a message means, and what is searched for it; filled by ``resolve``."""

    pipeline: Pipeline
    turn_id: str
    wanted: bool | str | None = None
    """None: the gate decides on a rewrite; False: never; True: always; a text: search this."""
    retriever: BaseRetriever | None = None
    """Searches the original beside the rewrite; None: nothing is prefetched."""
    tenant: str = ""
    """Whose rewrites are cached together."""
    keep: bool = True
    """False: leave no trace in cache and circuit breaker."""
    summary: SummaryKind = "none"
    """Where the memory keeps its summary; no other system message reaches the rewriting model."""
    window: HistoryWindow = field(init=False)
    decision: TriggerDecision = field(init=False)
    result: RewriteResult = field(init=False)
    plan: QueryPlan = field(init=False)
    prefetched: dict[str, Any] = field(default_factory=dict)
    """By its words: the original's retrieval, begun beside the rewrite."""
    timings: dict[str, float] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    """What went wrong without ending the turn."""

    def resolve(self, message: str, history: Sequence[ChatMessage]) -> Flow[None]:
        """Find out what to search for a message.

        Args:
            message: the user's words.
            history: the conversation, oldest first.
        """
        clock = self.pipeline.clock
        began = clock()
        self.window = self._window(history)
        self.decision = self._decide(message)
        decided = clock()
        self._tell(TriggerDecisionEvent(turn_id=self.turn_id, decision=self.decision))
        try:
            self.result = yield from self._rewrite(message, history)
            rewritten = clock()
            self._tell(RewriteEvent(turn_id=self.turn_id, result=self.result))
            self.plan = yield from self._plan()
            self._tell(QueryPlanEvent(turn_id=self.turn_id, plan=self.plan))
        except BaseException:
            self.cancel()
            raise
        self.timings.update(decide=decided - began, rewrite=rewritten - decided, plan=clock() - rewritten)

    def cancel(self) -> None:
        """Drop the prefetched retrieval: the turn ends early."""
        for pending in self.prefetched.values():
            pending.cancel()

    def _window(self, history: Sequence[ChatMessage]) -> HistoryWindow:
        own = self.pipeline
        build = partial(build_window, history, own.settings.history, summary=self.summary)
        try:
            return build(extractor=own.extractor, count_tokens=own.count_tokens)
        except Exception as error:  # noqa: BLE001 - parts of the user's own must not end the turn
            self.warnings.append(f"entity extractor or token counter failed: {type(error).__name__}")
            return build()

    def _decide(self, message: str) -> TriggerDecision:
        language, window = detect_language(message), self.window
        if not self.pipeline.settings.enabled:
            return TriggerDecision(False, TriggerReason.DISABLED, language)
        if self.wanted is not None:
            return TriggerDecision(self.wanted is True and bool(window), TriggerReason.FORCED, language)
        try:
            decision: Any = self.pipeline.trigger.decide(message, window)
            if not isinstance(decision, TriggerDecision):
                raise TypeError(type(decision).__name__)
            return decision
        except Exception as error:  # noqa: BLE001 - a gate of the user's own must not end the turn
            self.warnings.append(f"trigger failed: {type(error).__name__}")
            return TriggerDecision(bool(window), TriggerReason.UNKNOWN_LANGUAGE, language)

    def _rewrite(self, message: str, history: Sequence[ChatMessage]) -> Flow[RewriteResult]:
        pipeline, decision = self.pipeline, self.decision
        if isinstance(self.wanted, str) and pipeline.settings.enabled:
            return RewriteResult(message, safe_line(self.wanted), RewriteStatus.REWRITTEN, "user")
        original = pipeline.reviewer.original(message)
        query = original.query or message
        if not decision.rewrite:
            skipped = RewriteStatus.SKIPPED
            return RewriteResult(message, query, skipped, edits=original.edits, language=decision.language)
        if self.retriever is not None and self._wants_prefetch(message):
            begun, bundle = prefetcher(self.retriever, pipeline.settings.retrieval.blend), QueryBundle(query)
            retrieve, retrieve_async = partial(begun.retrieve, bundle), partial(aretrieve, begun, bundle)
            self.prefetched[query] = yield Step("prefetch", retrieve, retrieve_async, is_beside=True)
        self._tell(TurnProgressEvent(turn_id=self.turn_id, stage="rewriting"))
        extra = {
            CHAT_HISTORY: list(history),
            CONTEXT_WINDOW: lambda: pipeline.condense_llm().metadata.context_window,
        }
        request = RewriteRequest(message, self.window, decision, extra=extra)
        return (yield from RewriteChain(pipeline, request, self.tenant, keep=self.keep).run())

    def _wants_prefetch(self, message: str) -> bool:
        retrieval = self.pipeline.settings.retrieval
        if not retrieval.prefetch or retrieval.dual == "never":
            return False
        return retrieval.dual == "always" or says_something(message)

    def _plan(self) -> Flow[QueryPlan]:
        result, pipeline = self.result, self.pipeline
        try:
            plan = pipeline.planner.plan(result, self.window)
            expanding = expand(plan, result, self.window, pipeline.settings, pipeline.carry)
            plan = yield from delegate(expanding, self._perform)
            return replace(plan, queries=tuple(self._as_prefetched(query) for query in plan.queries))
        except Exception as error:  # noqa: BLE001 - one query is better than none
            self.warnings.append(f"planning failed: {type(error).__name__}")
            return QueryPlan((PlannedQuery(result.query, QueryRole.REWRITTEN),), reason="planning failed")

    def _as_prefetched(self, query: PlannedQuery) -> PlannedQuery:
        """Search the user's own words as the retrieval under way does: aliases expanded, no whole paste."""
        if query.role is not QueryRole.ORIGINAL:
            return query
        return replace(query, text=self.pipeline.reviewer.original(query.text).query or query.text)

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
