"""THE turn, written once for chat, achat, stream_chat and astream_chat."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.base.response.schema import AsyncStreamingResponse, Response, StreamingResponse
from llama_index.core.llms.llm import LLM
from llama_index.core.schema import NodeWithScore
from llama_index.core.tools import ToolOutput

from llama_index_condense_plus import _compat
from llama_index_condense_plus.errors import (
    AnswerTimeoutError,
    CondensePlusError,
    InvalidMessageError,
    MessageTooLongError,
)
from llama_index_condense_plus.memory.records import topic_start
from llama_index_condense_plus.observability.clean import printable
from llama_index_condense_plus.observability.events import FusionEvent, TurnEvent, TurnProgressEvent, dispatcher
from llama_index_condense_plus.observability.trace import CondenseTrace
from llama_index_condense_plus.operations import Flow
from llama_index_condense_plus.rewriting.history import summary_kind
from llama_index_condense_plus.turn import flow
from llama_index_condense_plus.turn.answer import (
    answer_query,
    clarifying_question,
    conversation_reply,
    prompt_tokens,
    recent_turns,
)
from llama_index_condense_plus.turn.conversation import Conversation, TurnRequest
from llama_index_condense_plus.turn.history import Commit
from llama_index_condense_plus.turn.keeping import Keeper
from llama_index_condense_plus.turn.pipeline import Pipeline
from llama_index_condense_plus.turn.query import Finder, Found, checked_history, checked_message
from llama_index_condense_plus.turn.search import TurnSearch
from llama_index_condense_plus.turn.stream import CondensePlusChatResponse, CondensePlusStreamingResponse, deliver
from llama_index_condense_plus.types import CARRY, PlannedQuery, QueryPlan, QueryRole, TriggerReason

LONG_SHARE = 0.5
"""A prompt that takes more of the context window than this, without documents, is why core refused it."""

ChatResponse = CondensePlusChatResponse | CondensePlusStreamingResponse


@dataclass(frozen=True)
class Service:
    """What all turns of an engine share."""

    query_engine: BaseQueryEngine
    """Searches and answers."""
    llm: Callable[[], LLM]
    """Returns the answering model; called only when one is needed."""
    prefix_messages: Sequence[ChatMessage] = ()
    """System prompt and prefix messages of every answer call."""
    retrievers: Mapping[str, BaseRetriever] = field(default_factory=dict)
    """Named retrievers that each query goes to, in place of the query engine's own."""
    verbose: bool = False
    """Print one line a turn."""
    after_turn: Callable[[CondenseTrace, Conversation], None] | None = None
    """Called with the trace once a turn is stored."""


@dataclass
class Turn:
    """One turn of one conversation."""

    service: Service
    pipeline: Pipeline
    conversation: Conversation
    request: TurnRequest

    def __post_init__(self) -> None:
        self.turn_id = uuid.uuid4().hex
        restriction = self.request.options.restriction.within(self.conversation.restriction)
        self._retrievers = restriction.retrievers(self.service.query_engine, self.service.retrievers)

    def run(self) -> Flow[ChatResponse]:
        """Answer the message and store both; the history is as it was if anything fails."""
        if not self.request.replaces_last:
            checked_message(self.request.message)
        lock, explicit = self.conversation.lock, self.request.chat_history is not None
        commit: Commit | None = None
        finder: Finder | None = None
        delivered: ChatResponse | None = None
        try:
            if not explicit:
                yield flow.acquire(lock)
            stores = not explicit or self.pipeline.is_stock
            commit = self.conversation.commit(self.request.message, stores=stores)
            commit.holds_lock = not explicit
            message, history = yield from self._read(commit)
            finder = self._finder()
            found = yield from finder.run(message, history, (yield from self._topic_start(history)))
            response, source, trace = yield from self._answer(message, found)
            delivered = yield from self._deliver(response, source, trace, commit)
            return delivered
        finally:
            if finder is not None:
                finder.cancel()  # what is still under way is not needed any more
            if commit is not None and not (delivered is not None and self.request.streaming):
                commit.abandon()

    def explain(self) -> Flow[CondenseTrace]:
        """Do everything up to the merged nodes; answer nothing, change nothing."""
        message = checked_message(self.request.message)
        given = self.request.chat_history
        history = (
            (yield flow.read_history(self.conversation.memory, message)) if given is None else checked_history(given)
        )
        finder = self._finder(keep=False)
        found = yield from finder.run(message, history, (yield from self._topic_start(history)))
        if not self._retrievers:
            return self._trace(found, None, "", ())
        own = self._search(found)
        try:
            nodes = yield flow.search(own.engine(found.result.query), own.bundle)
        finally:
            finder.cancel()
        return self._trace(found, own, "", tuple(nodes))

    def _read(self, commit: Commit) -> Flow[tuple[str, list[ChatMessage]]]:
        request, memory = self.request, self.conversation.memory
        if request.replaces_last:
            stored = yield flow.read_all(memory)
            last = max((i for i, m in enumerate(stored) if m.role == MessageRole.USER), default=None)
            if last is None:
                raise InvalidMessageError("There is no earlier turn to answer anew.")
            message = checked_message(request.message or stored[last].content)
            commit.replace_from(last, message)
            return message, stored[:last]
        if request.chat_history is not None:
            return request.message, checked_history(request.chat_history)
        return request.message, (yield flow.read_history(memory, request.message))

    def _topic_start(self, history: Sequence[ChatMessage]) -> Flow[int]:
        """Return where in a history the present topic begins; a history that the caller gives is taken whole."""
        state = self.conversation.state
        if self.request.chat_history is not None or not history:
            return 0
        if state.must_read_topic:
            yield state.reading_topic()
        return topic_start(history, state.topic)

    def _finder(self, *, keep: bool = True) -> Finder:
        only = next(iter(self._retrievers.values())) if len(self._retrievers) == 1 else None
        options = replace(self.request.options, tenant=self.conversation.tenants.cache)
        summary = summary_kind(self.conversation.memory) if self.request.chat_history is None else "none"
        return Finder(self.pipeline, self.turn_id, options, only, keep=keep, summary=summary)

    def _search(self, found: Found) -> TurnSearch:
        return TurnSearch(self.service.query_engine, self._retrievers, self.pipeline.settings, found)

    def _before(self, found: Found) -> list[ChatMessage]:
        answer = self.pipeline.settings.answer
        if answer.mode not in ("conversation", "history"):
            return list(self.service.prefix_messages)
        context_window = _compat.context_window_of(self.service.query_engine)
        return [*self.service.prefix_messages, *recent_turns(found.window, answer.history_rounds, context_window)]

    def _answer(self, message: str, found: Found) -> Flow[tuple[Any, ToolOutput | None, CondenseTrace]]:
        settings, clock, began = self.pipeline.settings, self.pipeline.clock, self.pipeline.clock()
        ask_which = self._candidates(found)
        if ask_which:
            question = clarifying_question(ask_which, found.decision.language)
            return Response(question), None, self._trace(found, None, "", ())
        if found.decision.reason is TriggerReason.SMALL_TALK and settings.retrieval.small_talk == "skip":
            reply = yield from self._converse(message, found)
            return reply, None, self._trace(found, None, message, ())
        query, asked = found.plan.search_query, answer_query(settings.answer.mode, found.result, found.plan)
        self._progress("searching")
        search: TurnSearch | None = None
        engine: BaseQueryEngine = self.service.query_engine
        if self._retrievers:
            search = self._search(found)
            engine = search.engine(
                asked,
                self._before(found),
                streaming=self.request.streaming,
                on_answer=lambda: self._progress("answering"),
            )
        elif len(found.plan.queries) > 1:
            found.warnings.append("plan_collapsed: the query engine has no retriever, one query was searched")
            found.plan = QueryPlan((self._only_query(found),), reason=found.plan.reason)
            query = found.plan.search_query
        try:
            response = yield flow.answer(engine, search.bundle if search else query, settings.answer.timeout_s)
        except (TimeoutError, asyncio.TimeoutError) as error:
            if settings.answer.timeout_s is None:
                raise
            raise AnswerTimeoutError(f"No answer within answer.timeout_s = {settings.answer.timeout_s:g} s.") from error
        except ValueError as error:
            self._refuse_what_is_too_long(asked, found, error)
            raise
        nodes = list(getattr(response, "source_nodes", None) or ())
        if search is not None and not nodes:
            found.warnings.append("empty_retrieval")
            if settings.answer.on_empty == "llm":
                response = yield from self._converse(message, found)
        found.timings["answer"] = clock() - began
        trace = self._trace(found, search, asked, nodes)
        return response, self._source(query, response), trace

    @staticmethod
    def _only_query(found: Found) -> PlannedQuery:
        """Return what to search where one query is all there is: the lead, or a doubted query of the user's own words.

        What was carried over without a model holds nothing but words of the conversation.
        """
        made = found.result.rewriter == CARRY
        return next((q for q in found.plan.queries if made and q.role is QueryRole.REWRITTEN), found.plan.queries[0])

    def _refuse_what_is_too_long(self, asked: str, found: Found, error: ValueError) -> None:
        """Say clearly what core says in its own terms: the prompt is beyond the model's context window."""
        most = None if isinstance(error, CondensePlusError) else _compat.context_window_of(self.service.query_engine)
        n_tokens = prompt_tokens(asked, self._before(found)) if most is not None else 0
        if most is not None and n_tokens > most * LONG_SHARE:
            raise MessageTooLongError(
                f"The answer's prompt takes about {n_tokens} tokens without documents, and the answering model's "
                f"context_window is {most}. Shorten the message or the system prompt, give the model its real "
                'context_window, or set answer.mode = "rewritten", which asks the rewritten question alone.'
            ) from error

    def _candidates(self, found: Found) -> tuple[str, ...]:
        if self.pipeline.settings.rewrite.on_ambiguous != "ask" or not found.result.ambiguous:
            return ()
        return next((a.candidates for a in found.result.attempts if a.candidates), ())

    def _converse(self, message: str, found: Found) -> Flow[Any]:
        before = [
            *self.service.prefix_messages,
            *recent_turns(
                found.window, self.pipeline.settings.answer.history_rounds, self.service.llm().metadata.context_window
            ),
        ]
        messages = conversation_reply(message, found.decision.language, before)
        self._progress("answering")
        return (yield flow.converse(self.service.llm(), messages, streaming=self.request.streaming))

    def _deliver(
        self, response: Any, source: ToolOutput | None, trace: CondenseTrace, commit: Commit
    ) -> Flow[ChatResponse]:
        service = self.service
        commit.keeper = Keeper(self.conversation, trace, service.after_turn)
        if service.verbose:
            print(f"Querying with: {printable(trace.search_query)}" if self.pipeline.is_stock else trace.summary())
        if not self.pipeline.is_stock:
            dispatcher.event(TurnEvent(turn_id=self.turn_id, trace=trace))
        if self.request.streaming:
            timeout_s = self.pipeline.settings.answer.timeout_s
            return (yield deliver(response, source, trace, commit, timeout_s))  # type: ignore[no-any-return]
        text = str(response)
        yield commit.writing(text)
        return CondensePlusChatResponse(
            response=text,
            sources=[source] if source else [],
            source_nodes=list(trace.nodes),
            metadata={"condense_plus": trace.to_dict()},
            trace=trace,
        )

    def _trace(
        self, found: Found, search: TurnSearch | None, asked: str, nodes: Sequence[NodeWithScore]
    ) -> CondenseTrace:
        lists = search.lists if search is not None else ()
        if lists and not self.pipeline.is_stock:
            dispatcher.event(FusionEvent(turn_id=self.turn_id, retrievals=lists, n_nodes=len(nodes)))
        failed = (f"retrieval failed: {ranked.query.role.value}: {ranked.error}" for ranked in lists if ranked.error)
        return CondenseTrace(
            turn_id=self.turn_id,
            message=found.result.original,
            decision=found.decision,
            window=found.window,
            rewrite=found.result,
            plan=found.plan,
            retrievals=lists,
            nodes=tuple(nodes),
            provenance=search.provenance if search is not None else {},
            answer_query=asked,
            timings=found.timings,
            warnings=(*found.warnings, *failed),
        )

    def _progress(self, stage: str) -> None:
        if not self.pipeline.is_stock:
            dispatcher.event(TurnProgressEvent(turn_id=self.turn_id, stage=stage))

    def _source(self, query: str, response: Any) -> ToolOutput:
        streams = isinstance(response, (StreamingResponse, AsyncStreamingResponse))
        return ToolOutput(
            content="" if streams else str(response),
            tool_name="query_engine",
            raw_input={"query": query},
            raw_output=response,
        )
