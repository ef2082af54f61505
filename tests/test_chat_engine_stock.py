"""``stock()`` against the real stock engine: both run on identical parts, and everything visible is compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, MessageRole
from llama_index.core.callbacks import CallbackManager, CBEventType
from llama_index.core.callbacks.base_handler import BaseCallbackHandler
from llama_index.core.chat_engine import CondenseQuestionChatEngine
from llama_index.core.llms.callbacks import llm_chat_callback
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.prompts import PromptTemplate
from llama_index.core.query_engine import RetrieverQueryEngine

from llama_index_condense_plus import CondensePlusChatEngine, CondensePlusSettings
from tests.fakes import RecordingPostprocessor, ScriptedLLM, WordRetriever
from tests.modes import Mode, said

TEXTS = ("the GTE-3000 costs 99 euros", "the GTE-3000 has a warranty of two years", "the T-10 is a scanner")
CONVERSATION = ("Tell me about the GTE-3000", "and its price?", "Thanks!", "那它的保修呢？")


class TracedLLM(ScriptedLLM):
    """A scripted model whose calls LlamaIndex's instrumentation sees, as it sees those of real models."""

    @llm_chat_callback()
    def chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        return super().chat(messages, **kwargs)

    @llm_chat_callback()
    async def achat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        return await super().achat(messages, **kwargs)

    @llm_chat_callback()
    def stream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> Any:
        return super().stream_chat(messages, **kwargs)

    @llm_chat_callback()
    async def astream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> Any:
        return await super().astream_chat(messages, **kwargs)


class CallbackRecorder(BaseCallbackHandler):
    """Notes the older callbacks, which token counters and many integrations still read."""

    def __init__(self) -> None:
        super().__init__([], [])
        self.seen: list[str] = []

    def on_event_start(self, event_type: CBEventType, *args: Any, **kwargs: Any) -> str:
        self.seen.append(f"{event_type.value} starts")
        return ""

    def on_event_end(self, event_type: CBEventType, *args: Any, **kwargs: Any) -> None:
        self.seen.append(f"{event_type.value} ends")

    def start_trace(self, trace_id: str | None = None) -> None:
        self.seen.append(f"trace {trace_id} starts")

    def end_trace(self, trace_id: str | None = None, trace_map: Any = None) -> None:
        self.seen.append(f"trace {trace_id} ends")


@dataclass
class Seen:
    """Everything that can be seen of a conversation."""

    answers: list[str]
    responses: list[str]
    memory: list[tuple[str, str]]
    sources: list[list[tuple[str, str, Any, str]]]
    nodes: list[list[tuple[str, float | None]]]
    prompts: list[tuple[str, str]]
    searched: list[str]
    reranked: list[tuple[str, str, int]]
    events: list[str]
    callbacks: list[str]
    printed: str


@pytest.fixture
def converse(mode: Mode, events: list[Any], capsys: pytest.CaptureFixture[str]) -> Any:
    def run(kind: type, *, history: list[ChatMessage] | None = None, prompt: Any = None, **options: Any) -> Seen:
        recorder, start = CallbackRecorder(), len(events)
        callbacks = CallbackManager([recorder])
        llm = TracedLLM(
            rewrite=lambda messages: f"About the GTE-3000 ({len(messages)}): what is asked?",
            answer="It costs 99 euros.",
            callback_manager=callbacks,
        )
        retriever, post = WordRetriever(TEXTS), RecordingPostprocessor(callback_manager=callbacks)
        retriever.callback_manager = callbacks
        query_engine = RetrieverQueryEngine.from_args(
            retriever, llm=llm, node_postprocessors=[post], callback_manager=callbacks
        )
        engine = kind.from_defaults(query_engine, prompt, llm=llm, verbose=True, **options)
        engine.callback_manager = callbacks
        arguments = () if history is None else (history,)
        replies = [mode.ask(engine, message, *arguments) for message in CONVERSATION]
        return Seen(
            answers=[reply.text for reply in replies],
            responses=[str(reply.response) for reply in replies],
            memory=said(engine),
            sources=[
                [(s.tool_name, s.content, s.raw_input, type(s.raw_output).__name__) for s in reply.response.sources]
                for reply in replies
            ],
            nodes=[[(n.node.node_id, n.score) for n in reply.response.source_nodes] for reply in replies],
            prompts=llm.calls,
            searched=retriever.queries,
            reranked=post.seen,
            events=[type(event).__name__ for event in events[start:]],
            callbacks=recorder.seen,
            printed=capsys.readouterr().out,
        )

    return run


def assert_same(ours: Seen, stocks: Seen, mode: Mode) -> None:
    for name in ("answers", "responses", "memory", "sources", "prompts", "searched", "reranked", "events", "callbacks"):
        assert getattr(ours, name) == getattr(stocks, name), name
    assert ours.printed == stocks.printed
    if mode.name == "astream_chat":
        assert all(ours.nodes)  # where LlamaIndex's own response forgets them
    else:
        assert ours.nodes == stocks.nodes


def stock_settings() -> dict[str, Any]:
    return {"settings": CondensePlusSettings.stock()}


def test_stock_settings_equal_the_stock_engine(converse: Any, mode: Mode) -> None:
    ours = converse(CondensePlusChatEngine, **stock_settings())
    stocks = converse(CondenseQuestionChatEngine)
    assert stocks.events  # the comparison compares something
    assert len(stocks.prompts) == 2 * len(CONVERSATION) - 1
    assert_same(ours, stocks, mode)


def test_stock_settings_equal_the_stock_engine_with_a_history_given(converse: Any, mode: Mode) -> None:
    history = [
        ChatMessage(role=MessageRole.USER, content="Is there a printer?"),
        ChatMessage(role=MessageRole.ASSISTANT, content="The GTE-3000."),
    ]
    assert_same(
        converse(CondensePlusChatEngine, history=history, **stock_settings()),
        converse(CondenseQuestionChatEngine, history=history),
        mode,
    )


def test_stock_settings_equal_the_stock_engine_with_a_prompt_of_ones_own(converse: Any, mode: Mode) -> None:
    prompt = PromptTemplate("Make it standalone.\n{chat_history}\n---\n{question}")
    assert_same(
        converse(CondensePlusChatEngine, prompt=prompt, **stock_settings()),
        converse(CondenseQuestionChatEngine, prompt=prompt),
        mode,
    )


def test_stock_settings_equal_the_stock_engine_with_a_memory_of_ones_own(converse: Any, mode: Mode) -> None:
    assert_same(
        converse(CondensePlusChatEngine, memory=ChatMemoryBuffer.from_defaults(token_limit=40), **stock_settings()),
        converse(CondenseQuestionChatEngine, memory=ChatMemoryBuffer.from_defaults(token_limit=40)),
        mode,
    )


def test_stock_settings_raise_what_the_stock_engine_raises(mode: Mode) -> None:
    for kind, options in ((CondenseQuestionChatEngine, {}), (CondensePlusChatEngine, stock_settings())):
        llm = ScriptedLLM(rewrite=ConnectionError("the model is away"))
        engine = kind.from_defaults(RetrieverQueryEngine.from_args(WordRetriever(TEXTS), llm=llm), llm=llm, **options)
        mode.ask(engine, CONVERSATION[0])
        with pytest.raises(ConnectionError, match="the model is away"):
            mode.ask(engine, CONVERSATION[1])
        assert len(said(engine)) == 2


def test_stock_settings_deviate_where_documented(mode: Mode) -> None:
    llm = ScriptedLLM(rewrite="standalone")
    query_engine = RetrieverQueryEngine.from_args(WordRetriever(TEXTS), llm=llm)
    engine = CondensePlusChatEngine.from_defaults(query_engine, llm=llm, **stock_settings())
    mode.ask(engine, CONVERSATION[0])
    assert mode.ask(engine, CONVERSATION[1], []).query == CONVERSATION[1]  # [] is no history
    assert len(said(engine)) == 4  # stored, as the stock engine stores it
    with pytest.raises(ValueError, match="blank"):
        mode.ask(engine, " ")


def test_defaults_keep_the_stock_engines_memory_sources_and_first_turn(converse: Any, mode: Mode) -> None:
    ours = converse(CondensePlusChatEngine)
    stocks = converse(CondenseQuestionChatEngine)
    assert ours.memory == stocks.memory
    assert ours.answers == stocks.answers
    assert ours.sources[0] == stocks.sources[0]
    assert ours.prompts[0] == stocks.prompts[0]
    lengths = [len(nodes) for nodes in ours.nodes]
    assert lengths == [2] * len(CONVERSATION)
    own = {"TriggerDecisionEvent", "RewriteEvent", "QueryPlanEvent", "FusionEvent", "TurnEvent", "TurnProgressEvent"}
    first_turn = ours.events[: ours.events.index("TurnEvent")]
    kept = [name for name in first_turn if name not in own]
    assert kept == stocks.events[: len(kept)]
