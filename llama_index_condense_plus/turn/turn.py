"""THE turn, written once for chat, achat, stream_chat and astream_chat."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.base.response.schema import AsyncStreamingResponse, Response, StreamingResponse
from llama_index.core.llms.llm import LLM
from llama_index.core.schema import NodeWithScore
from llama_index.core.tools import ToolOutput

from llama_index_condense_plus import _compat
from llama_index_condense_plus._compat import memories
from llama_index_condense_plus.errors import (
    AnswerTimeoutError,
    CondensePlusError,
    InvalidMessageError,
    MessageTooLongError,
)
from llama_index_condense_plus.flow import twin, with_memory
from llama_index_condense_plus.observability.clean import printable
from llama_index_condense_plus.observability.events import FusionEvent, TurnEvent, TurnProgressEvent, dispatcher
from llama_index_condense_plus.observability.trace import CondenseTrace
from llama_index_condense_plus.operations import Flow
from llama_index_condense_plus.rewriting.spoken import summary_kind
from llama_index_condense_plus.turn.answer import (
    TurnSynthesis,
    answer_query,
    clarifying_question,
    converse,
    prompt_tokens,
    recent_turns,
)
from llama_index_condense_plus.turn.chain import Pipeline
from llama_index_condense_plus.turn.commit import Commit
from llama_index_condense_plus.turn.conversation import Conversation
from llama_index_condense_plus.turn.options import TurnOptions
from llama_index_condense_plus.turn.query import ResolvedQuery, checked_history, checked_message
from llama_index_condense_plus.turn.search import TurnSearch
from llama_index_condense_plus.turn.stream import CondensePlusChatResponse, CondensePlusStreamingResponse
from llama_index_condense_plus.types import CARRY, PlannedQuery, QueryPlan, QueryRole, TriggerReason

LONG_SHARE = 0.5
"""A prompt that takes more of the context window than this, without documents, is why core refused it."""

ChatResponse = CondensePlusChatResponse | CondensePlusStreamingResponse


@dataclass(frozen=True)
class Service:
    """What all turns of an engine share."""

    query_engine: BaseQueryEngine
    llm: Callable[[], LLM]
    """Returns the answering model; called only when one is needed."""
    prefix_messages: Sequence[ChatMessage] = ()
    retrievers: Mapping[str, BaseRetriever] = field(default_factory=dict)
    """Named retrievers that each query goes to, in place of the query engine's own."""
    verbose: bool = False
    after_turn: Callable[[CondenseTrace, Conversation], None] | None = None
    """Called with the trace once a turn is stored."""


@dataclass
class Turn:
    """One turn of one conversation."""

    service: Service
    pipeline: Pipeline
    conversation: Conversation
    message: str
    chat_history: list[ChatMessage] | None
    """None: the memory; a list: this turn reads it in place of the memory."""
    options: TurnOptions
    streaming: bool = False
    replaces_last: bool = False
    """True: the last round is taken back and answered anew."""

    def __post_init__(self) -> None:
        restriction, service = self.options.restriction.within(self.conversation.restriction), self.service
        self._retrievers = restriction.retrievers(service.query_engine, service.retrievers)
        self._settings = self.pipeline.settings
        self.turn_id: str = uuid.uuid4().hex

    def run(self) -> Flow[ChatResponse]:
        """Answer the message and store both; the history is as it was if anything fails."""
        if not self.replaces_last:
            checked_message(self.message)
        reads_memory = self.chat_history is None
        commit: Commit | None = None
        resolved: ResolvedQuery | None = None
        delivered: ChatResponse | None = None
        try:
            if reads_memory:
                yield twin(self.conversation.lock, "acquire")
            stores = reads_memory or self.pipeline.is_stock
            commit = Commit(self.conversation, self.message, stores=stores, holds_lock=reads_memory)
            message, history = yield from self._read(commit)
            resolved = self._resolved(history)
            yield from resolved.resolve(message, history)
            response, source, trace = yield from self._answer(message, resolved)
            delivered = yield from self._deliver(response, source, trace, commit)
            return delivered
        finally:
            if resolved is not None:
                resolved.cancel()  # what is still under way is not needed any more
            if commit is not None and not (delivered is not None and self.streaming):
                commit.abandon()

    def explain(self) -> Flow[CondenseTrace]:
        """Do everything up to the merged nodes; answer nothing, change nothing."""
        message, history = checked_message(self.message), (yield from self._history())
        resolved = self._resolved(history, keep=False)
        yield from resolved.resolve(message, history)
        if not self._retrievers:
            return self._trace(resolved, None, "", ())
        search = self._search(resolved)
        try:
            nodes = yield twin(search.engine(), "retrieve", search.bundle)
        finally:
            resolved.cancel()
        return self._trace(resolved, search, "", tuple(nodes))

    def _read(self, commit: Commit) -> Flow[tuple[str, list[ChatMessage]]]:
        if not self.replaces_last:
            return self.message, (yield from self._history())
        memory = self.conversation.memory
        stored = yield with_memory(memory, memory.get_all, memory.aget_all)
        last = max((i for i, m in enumerate(stored) if m.role == MessageRole.USER), default=None)
        if last is None:
            raise InvalidMessageError("There is no earlier turn to answer again.")
        message = checked_message(self.message or stored[last].content)
        commit.replace_from(last, message)
        return message, stored[:last]

    def _history(self) -> Flow[list[ChatMessage]]:
        if self.chat_history is not None:
            return checked_history(self.chat_history)
        memory, message = self.conversation.memory, self.message
        return (yield with_memory(memory, lambda: memories.read(memory, message), lambda: memory.aget(input=message)))  # type: ignore[no-any-return]

    def _resolved(self, history: Sequence[ChatMessage], *, keep: bool = True) -> ResolvedQuery:
        return ResolvedQuery(
            self.pipeline,
            self.turn_id,
            self.options.rewrite,
            next(iter(self._retrievers.values())) if len(self._retrievers) == 1 else None,
            self.conversation.tenants.cache,
            keep,
            summary_kind(self.conversation.memory, history) if self.chat_history is None else "none",
        )

    def _search(self, resolved: ResolvedQuery) -> TurnSearch:
        own = self.service.query_engine
        return TurnSearch(own, self._retrievers, self._settings, resolved.plan, resolved.prefetched)

    def _before(self, resolved: ResolvedQuery) -> list[ChatMessage]:
        """Return the messages before the answer call's own."""
        if self._settings.answer.mode not in ("conversation", "history"):
            return list(self.service.prefix_messages)
        return self._with_recent_turns(resolved, _compat.context_window_of(self.service.query_engine))

    def _with_recent_turns(self, resolved: ResolvedQuery, context_window: int | None) -> list[ChatMessage]:
        recent = recent_turns(resolved.window, self._settings.answer.history_rounds, context_window)
        return [*self.service.prefix_messages, *recent]

    def _answer(self, message: str, resolved: ResolvedQuery) -> Flow[tuple[Any, ToolOutput | None, CondenseTrace]]:
        settings, clock, began = self._settings, self.pipeline.clock, self.pipeline.clock()
        if ask_which := self._candidates(resolved):
            question = clarifying_question(ask_which, resolved.decision.language)
            return Response(question), None, self._trace(resolved, None, "", ())
        if resolved.decision.reason is TriggerReason.SMALL_TALK and settings.retrieval.small_talk == "skip":
            reply = yield from self._converse(message, resolved)
            return reply, None, self._trace(resolved, None, message, ())
        asked, search = answer_query(settings.answer.mode, resolved.result, resolved.plan), None
        self._progress("searching")
        engine: BaseQueryEngine = self.service.query_engine
        if self._retrievers:
            search = self._search(resolved)
            synthesizer, before = _compat.synthesizer_of(engine), self._before(resolved)
            on_begin = lambda: self._progress("answering")  # noqa: E731
            engine = search.engine(TurnSynthesis(synthesizer, asked, before, self.streaming, on_begin))
        elif len(resolved.plan.queries) > 1:
            resolved.warnings.append("plan_collapsed: the query engine has no retriever, one query was searched")
            resolved.plan = QueryPlan((_only_query(resolved),), reason=resolved.plan.reason)
        query = resolved.plan.search_query
        try:
            response = yield twin(
                engine, "query", search.bundle if search else query, timeout_s=settings.answer.timeout_s
            )
        except (TimeoutError, asyncio.TimeoutError) as error:
            if settings.answer.timeout_s is None:
                raise
            raise AnswerTimeoutError(f"No answer within answer.timeout_s = {settings.answer.timeout_s:g} s.") from error
        except ValueError as error:
            self._refuse_what_is_too_long(asked, resolved, error)
            raise
        nodes = list(getattr(response, "source_nodes", None) or ())
        if search is not None and not nodes:
            resolved.warnings.append("empty_retrieval")
            if settings.answer.on_empty == "llm":
                response = yield from self._converse(message, resolved)
        resolved.timings["answer"] = clock() - began
        return response, _source(query, response), self._trace(resolved, search, asked, nodes)

    def _refuse_what_is_too_long(self, asked: str, resolved: ResolvedQuery, error: ValueError) -> None:
        """Say clearly what core says in its own terms: the prompt is beyond the model's context window."""
        most = None if isinstance(error, CondensePlusError) else _compat.context_window_of(self.service.query_engine)
        n_tokens = prompt_tokens(asked, self._before(resolved)) if most is not None else 0
        if most is not None and n_tokens > most * LONG_SHARE:
            raise MessageTooLongError(
                f"The answer's prompt takes about {n_tokens} tokens without documents, and the answering model's "
                f"context_window is {most}. Shorten the message or the system prompt, give the model its real "
                'context_window, or set answer.mode = "rewritten", which reads only the rewritten question.'
            ) from error

    def _candidates(self, resolved: ResolvedQuery) -> tuple[str, ...]:
        if self._settings.rewrite.on_ambiguous != "ask" or not resolved.result.ambiguous:
            return ()
        return next((a.candidates for a in resolved.result.attempts if a.candidates), ())

    def _converse(self, message: str, resolved: ResolvedQuery) -> Flow[Any]:
        llm = self.service.llm()
        before = self._with_recent_turns(resolved, llm.metadata.context_window)
        self._progress("answering")
        return (yield converse(llm, message, resolved.decision.language, before, streaming=self.streaming))

    def _deliver(
        self, response: Any, source: ToolOutput | None, trace: CondenseTrace, commit: Commit
    ) -> Flow[ChatResponse]:
        commit.trace, commit.after_turn = trace, self.service.after_turn
        if self.service.verbose:
            print(f"Querying with: {printable(trace.search_query)}" if self.pipeline.is_stock else trace.summary())
        self._tell(TurnEvent(turn_id=self.turn_id, trace=trace))
        sources = [source] if source else []
        if self.streaming:
            nodes = list(getattr(response, "source_nodes", []))  # core leaves async streams out
            stream = CondensePlusStreamingResponse(sources=sources, source_nodes=nodes, trace=trace)
            return (yield twin(stream, "start", response, commit, self._settings.answer.timeout_s))  # type: ignore[no-any-return]
        text = str(response)
        yield from commit.write(text)
        return CondensePlusChatResponse(
            response=text,
            sources=sources,
            source_nodes=list(trace.nodes),
            metadata={"condense_plus": trace.to_dict()},
            trace=trace,
        )

    def _trace(
        self, resolved: ResolvedQuery, search: TurnSearch | None, asked: str, nodes: Sequence[NodeWithScore]
    ) -> CondenseTrace:
        lists = search.lists if search is not None else ()
        if lists:
            self._tell(FusionEvent(turn_id=self.turn_id, retrievals=lists, n_nodes=len(nodes)))
        failed = (f"retrieval failed: {ranked.query.role.value}: {ranked.error}" for ranked in lists if ranked.error)
        return CondenseTrace(
            turn_id=self.turn_id,
            message=resolved.result.original,
            decision=resolved.decision,
            window=resolved.window,
            rewrite=resolved.result,
            plan=resolved.plan,
            retrievals=lists,
            nodes=tuple(nodes),
            provenance=search.provenance if search is not None else {},
            answer_query=asked,
            timings=resolved.timings,
            warnings=(*resolved.warnings, *failed),
        )

    def _progress(self, stage: str) -> None:
        self._tell(TurnProgressEvent(turn_id=self.turn_id, stage=stage))

    def _tell(self, event: Any) -> None:
        if not self.pipeline.is_stock:
            dispatcher.event(event)


def _only_query(resolved: ResolvedQuery) -> PlannedQuery:
    """Return what to search where one query is all there is: the lead, or a doubted query of the user's own words.

    What was carried over without a model holds nothing but words of the conversation.
    """
    queries, made = resolved.plan.queries, resolved.result.rewriter == CARRY
    return next((query for query in queries if made and query.role is QueryRole.REWRITTEN), queries[0])


def _source(query: str, response: Any) -> ToolOutput:
    streams = isinstance(response, (StreamingResponse, AsyncStreamingResponse))
    content = "" if streams else str(response)
    return ToolOutput(content=content, tool_name="query_engine", raw_input={"query": query}, raw_output=response)
