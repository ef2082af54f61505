"""What the answer call reads: recent turns, the user's own words, and what they mean."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from llama_index.core.base.llms.base import BaseLLM
from llama_index.core.base.llms.generic_utils import messages_to_history_str
from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.base.response.schema import AsyncStreamingResponse, Response, StreamingResponse
from llama_index.core.llms.llm import LLM
from llama_index.core.prompts.base import BasePromptTemplate
from llama_index.core.response_synthesizers import BaseSynthesizer
from llama_index.core.schema import NodeWithScore, QueryBundle

from llama_index_condense_plus import _compat
from llama_index_condense_plus.flow import Step
from llama_index_condense_plus.languages import pack
from llama_index_condense_plus.rewriting.cutting import cut, estimate_tokens
from llama_index_condense_plus.types import HistoryWindow, QueryPlan, QueryRole, RewriteResult, RewriteStatus

EARLIER_MAX_CHARS = 4000
"""An earlier message is shown to the answer call up to this many characters."""
EARLIER_SHARE = 3
"""Earlier messages take at most a third of the answering model's context window: documents need the rest."""


def answer_query(mode: str, result: RewriteResult, plan: QueryPlan) -> str:
    """Return the question put to the answer call: the user's words, with what they mean where a rewrite leads."""
    lead = plan.queries[0]
    if mode == "rewritten":
        return lead.text
    if mode != "conversation" or result.status is not RewriteStatus.REWRITTEN or lead.role is not QueryRole.REWRITTEN:
        return result.original
    return pack(result.language).phrase("meaning").format(message=result.original, query=lead.text)


def recent_turns(window: HistoryWindow, rounds: int, context_window: int | None = None) -> list[ChatMessage]:
    """Return the last rounds as chat messages, the memory's summary before them.

    Args:
        window: the conversation.
        rounds: how many rounds, each a user's message and its answer.
        context_window: tokens of the answering model; older messages beyond their share of it are left out.
    """
    messages = [
        ChatMessage(role=MessageRole(message.role), content=message.full_text[:EARLIER_MAX_CHARS])
        for message in window.all_messages[-2 * rounds :]
        if rounds
    ]
    if context_window is not None:
        messages = _fitting(messages, context_window // EARLIER_SHARE)
    if window.summary and rounds:
        messages.insert(0, ChatMessage(role=MessageRole.SYSTEM, content=window.summary[:EARLIER_MAX_CHARS]))
    return messages


def prompt_tokens(asked: str, before: Sequence[ChatMessage]) -> int:
    """Return about how many tokens an answer's prompt has without documents."""
    return sum(estimate_tokens(text) for text in (asked, *(str(message.content or "") for message in before)))


def _fitting(messages: list[ChatMessage], budget: int) -> list[ChatMessage]:
    """Return the newest messages that fit into a number of tokens, the oldest of them cut."""
    if sum(len(str(message.content)) for message in messages) <= budget:  # a token has at least one character
        return messages
    kept: list[ChatMessage] = []
    for message in reversed(messages):
        text = cut(str(message.content), budget)
        if not text:
            break
        budget -= estimate_tokens(text)
        kept.append(ChatMessage(role=message.role, content=text))
    return kept[::-1]


def converse(llm: LLM, message: str, language: str, before: Sequence[ChatMessage], *, streaming: bool) -> Step:
    """Return the step that replies without documents: to small talk, or where nothing was found."""
    system = ChatMessage(role=MessageRole.SYSTEM, content=pack(language).phrase("converse"))
    messages = [*_systems_first([system, *before]), ChatMessage(role=MessageRole.USER, content=message)]
    fitting = _compat.messages_for(llm, messages)

    def run() -> Response | StreamingResponse:
        if streaming:
            return StreamingResponse(part.delta or "" for part in llm.stream_chat(fitting))
        return Response(llm.chat(fitting).message.content)

    async def arun() -> Response | AsyncStreamingResponse:
        if streaming:
            parts = await llm.astream_chat(fitting)
            return AsyncStreamingResponse(part.delta or "" async for part in parts)
        return Response((await llm.achat(fitting)).message.content)

    return Step("answer", run, arun)


def clarifying_question(candidates: Sequence[str], language: str) -> str:
    """Return a short question that names the candidates."""
    own = pack(language)
    return own.phrase("which").format(names=own.phrase("or").join(candidates))


class PrefixedPromptTemplate(BasePromptTemplate):  # type: ignore[no-redef]  # its field is called kwargs
    """A prompt with messages before it: system prompt, prefix messages and recent turns."""

    inner: BasePromptTemplate
    before: list[ChatMessage]
    told: str
    """The messages before it as one text."""

    @classmethod
    def around(cls, inner: BasePromptTemplate, before: list[ChatMessage], told: str) -> PrefixedPromptTemplate:
        """Put messages before a prompt."""
        return cls.model_construct(  # every part is a validated object already
            inner=inner,
            before=before,
            told=told,
            metadata=inner.metadata,
            template_vars=inner.template_vars,
            kwargs=inner.kwargs,
            output_parser=inner.output_parser,
            template_var_mappings={},
            function_mappings={},
        )

    def partial_format(self, **values: Any) -> PrefixedPromptTemplate:
        """Return the prompt with some values filled in."""
        return type(self).around(self.inner.partial_format(**values), self.before, self.told)

    def format(self, llm: BaseLLM | None = None, **kwargs: Any) -> str:
        """Return the prompt as one text, for models without chat."""
        return f"{self.told}\n\n{self.inner.format(llm=llm, **kwargs)}"

    def format_messages(self, llm: BaseLLM | None = None, **kwargs: Any) -> list[ChatMessage]:
        """Return the prompt as chat messages, all system text in one message at the top."""
        messages = [*self.before, *self.inner.format_messages(llm=llm, **kwargs)]
        return _compat.messages_for(llm, _systems_first(messages))

    def get_template(self, llm: BaseLLM | None = None) -> str:
        """Return the template's text."""
        return f"{self.told}\n\n{self.inner.get_template(llm=llm)}"


@dataclass
class TurnSynthesis:
    """The synthesizer of one turn: answers the answer query after recent turns."""

    synthesizer: BaseSynthesizer
    query: str
    """What to answer; the query that was searched stays with retriever and postprocessors."""
    before: Sequence[ChatMessage] = ()
    streaming: bool = False
    on_begin: Callable[[], None] = lambda: None
    """Called when there are nodes to answer from, before the answer call."""

    def synthesize(self, query: QueryBundle, nodes: list[NodeWithScore], **kwargs: Any) -> Any:
        """Answer from the nodes."""
        return self._begun(nodes).synthesize(query=self._asked(query), nodes=nodes, **kwargs)

    async def asynthesize(self, query: QueryBundle, nodes: list[NodeWithScore], **kwargs: Any) -> Any:
        """Answer from the nodes."""
        return await self._begun(nodes).asynthesize(query=self._asked(query), nodes=nodes, **kwargs)

    def _asked(self, query: QueryBundle) -> QueryBundle:
        if query.query_str == self.query:
            return query
        return QueryBundle(self.query, image_path=query.image_path, custom_embedding_strs=query.custom_embedding_strs)

    def _begun(self, nodes: Sequence[NodeWithScore]) -> BaseSynthesizer:
        if nodes:
            self.on_begin()
        synthesizer = _compat.synthesizer_for_turn(self.synthesizer, streaming=self.streaming)
        if self.before or _compat.lacks_system_role(synthesizer._llm):
            before, told = list(self.before), messages_to_history_str(self.before)
            _compat.wrap_prompts(synthesizer, lambda prompt: PrefixedPromptTemplate.around(prompt, before, told))
        return synthesizer


def _systems_first(messages: Sequence[ChatMessage]) -> list[ChatMessage]:
    """Return messages with all system text in one message at the top: many chat templates refuse a second one."""
    systems = [message.content for message in messages if message.role == MessageRole.SYSTEM and message.content]
    rest = [message for message in messages if message.role != MessageRole.SYSTEM]
    return [ChatMessage(role=MessageRole.SYSTEM, content="\n\n".join(systems)), *rest] if systems else rest
