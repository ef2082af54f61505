"""The engine with a real model behind an OpenAI-compatible server: structure and behaviour, never wording."""

import asyncio

import pytest
from llama_index.core.base.llms.types import ChatMessage

from llama_index_condense_plus import CondensePlusChatEngine, CondensePlusSettings, RewriteStatus
from llama_index_condense_plus.demo.compare import compare
from llama_index_condense_plus.demo.knowledge import demo_conversations, source_of

pytestmark = pytest.mark.integration

HISTORY = [
    ChatMessage(role="user", content="When is Falkner Hut open?"),
    ChatMessage(role="assistant", content="Falkner Hut is open from mid June to the end of September."),
]
FOLLOW_UP = "How many people can sleep there?"
GOLD = "hut/falkner-beds"


@pytest.fixture
def engine(index, llm):
    query_engine = index.as_query_engine(llm=llm, similarity_top_k=3)
    # A rewrite on two busy cores may take longer than a user would wait; the deadline is another test's subject.
    settings = CondensePlusSettings(rewrite={"timeout_s": 120}, cache={"enabled": False})
    return CondensePlusChatEngine.from_defaults(
        query_engine=query_engine, llm=llm, chat_history=list(HISTORY), settings=settings
    )


async def in_mode(engine, mode, message):
    """Ask in one of the four modes; return the response and its text."""
    if mode == "chat":
        response = await asyncio.to_thread(engine.chat, message)
        return response, str(response)
    if mode == "achat":
        response = await engine.achat(message)
        return response, str(response)
    if mode == "stream_chat":

        def read():
            response = engine.stream_chat(message)
            return response, "".join(response.response_gen)

        return await asyncio.to_thread(read)
    response = await engine.astream_chat(message)
    return response, "".join([piece async for piece in response.async_response_gen()])


@pytest.mark.parametrize("mode", ["chat", "achat", "stream_chat", "astream_chat"])
async def test_engine_answers_a_follow_up_from_the_right_passage(engine, mode):
    response, text = await in_mode(engine, mode, FOLLOW_UP)
    trace = engine.trace_of(response)
    assert trace.decision.rewrite
    assert trace.rewrite.status in {RewriteStatus.REWRITTEN, RewriteStatus.REJECTED, RewriteStatus.UNCHANGED}
    assert trace.rewrite.attempts[0].rewriter == "llm"
    assert trace.rewrite.attempts[0].raw
    assert GOLD in [source_of(node.node) for node in response.source_nodes]
    assert text.strip()
    assert [m.content for m in engine.chat_history][2:] == [FOLLOW_UP, text]
    assert response.sources[0].raw_input["query"] == trace.search_query


async def test_engine_asks_no_model_before_the_answer_of_a_complete_question(engine):
    response = await engine.achat("When is Corvin Hut open?")
    assert engine.trace_of(response).rewrite.status is RewriteStatus.SKIPPED
    assert engine.trace_of(response).rewrite.attempts == ()


async def test_engine_goes_on_when_the_model_is_too_slow(index, llm):
    settings = CondensePlusSettings(rewrite={"timeout_s": 0.01, "chain": ["llm", "original"]})
    engine = CondensePlusChatEngine.from_defaults(
        query_engine=index.as_query_engine(llm=llm, similarity_top_k=3), llm=llm, settings=settings
    )
    trace = await engine.aexplain(FOLLOW_UP, chat_history=HISTORY)
    assert trace.rewrite.status is RewriteStatus.FAILED
    assert trace.search_query == FOLLOW_UP


async def test_engine_keeps_two_conversations_apart_on_one_query_engine(index, llm):
    query_engine = index.as_query_engine(llm=llm, similarity_top_k=3)
    settings = CondensePlusSettings(rewrite={"timeout_s": 120})
    huts, bikes = (
        CondensePlusChatEngine.from_defaults(query_engine=query_engine, llm=llm, settings=settings) for _ in range(2)
    )

    async def streamed():
        response = await huts.astream_chat("When is Brindle Hut open?")
        return response, "".join([piece async for piece in response.async_response_gen()])

    (stream, text), answer = await asyncio.gather(streamed(), bikes.achat("How much does the Heron cost?"))
    assert "hut/brindle-season" in [source_of(node.node) for node in stream.source_nodes]
    assert "bike/heron-price" in [source_of(node.node) for node in answer.source_nodes]
    assert [m.content for m in huts.chat_history] == ["When is Brindle Hut open?", text]
    assert [m.content for m in bikes.chat_history] == ["How much does the Heron cost?", str(answer)]


def test_demo_shows_the_stock_engine_beside_ours(index, llm):
    turns = demo_conversations()[2][:2]
    first, second = compare(index, turns, llm)
    assert set(first["ways"]) == {"typed", "stock", "ours"}
    assert first["ways"]["ours"]["query"] == turns[0]["question"]
    assert second["trace"]["decision"]["rewrite"]
    assert second["answer"]
