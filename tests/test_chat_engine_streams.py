"""Streams: read, left, unread, dying, cancelled, reset."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from llama_index.core.memory import ChatMemoryBuffer

from llama_index_condense_plus import ConversationBusyError
from tests.conftest import PRICE
from tests.fakes import ScriptedLLM
from tests.modes import LIMIT_S, Mode, aask, in_thread, said

Make = Callable[..., Any]


def test_reader_who_leaves_early_still_gets_the_turn_stored(make_engine: Make, stream_mode: Mode) -> None:
    llm = ScriptedLLM(rewrite=PRICE, answer="one two three four", token_delay_s=0.01)
    engine = make_engine(llm=llm)
    response = stream_mode.begin(engine, "and its price?")
    if stream_mode.is_async:

        async def leave() -> str:
            reader = response.async_response_gen()
            first = await reader.__anext__()
            await reader.aclose()
            return str(first)

        assert stream_mode.run(leave()) == "one "
    else:
        reader = response.response_gen
        assert next(reader) == "one "
        reader.close()
    stream_mode.wait_until(lambda: getattr(response, "is_done", True))
    assert said(engine)[-2:] == [("user", "and its price?"), ("assistant", "one two three four")]
    assert stream_mode.ask(engine, "and its warranty?").text == "one two three four"


def test_stream_that_nobody_reads_is_stored_and_holds_nobody_up(make_engine: Make, mode: Mode) -> None:
    engine = make_engine()
    mode.begin(engine, "and its price?")
    assert mode.ask(engine, "and its warranty?").text == "the answer"
    assert [text for role, text in said(engine) if role == "user"][1:] == ["and its price?", "and its warranty?"]


def test_stream_text_is_whole_before_and_after_reading(make_engine: Make, mode: Mode) -> None:
    engine = make_engine(llm=ScriptedLLM(rewrite=PRICE, answer="one two three"))
    response = mode.begin(engine, "and its price?")
    mode.wait_until(lambda: getattr(response, "is_done", True))
    assert str(response) == "one two three"
    assert mode.read(response) == "one two three"
    assert str(response) == response.response == "one two three"


def test_stream_that_dies_raises_in_the_reader_and_leaves_the_history(make_engine: Make, stream_mode: Mode) -> None:
    llm = ScriptedLLM(rewrite=PRICE, answer="one two three", fail_after_tokens=2)
    engine = make_engine(llm=llm)
    response = stream_mode.begin(engine, "and its price?")
    with pytest.raises(ConnectionError, match="the stream was cut"):
        stream_mode.read(response)
    assert len(said(engine)) == 2
    llm.fail_after_tokens = None
    assert stream_mode.ask(engine, "and its price?").text == "one two three"


def test_reset_during_a_stream_leaves_it_empty(make_engine: Make, stream_mode: Mode) -> None:
    llm = ScriptedLLM(rewrite=PRICE, answer="one two three four", token_delay_s=0.02)
    engine = make_engine(llm=llm)
    response = stream_mode.begin(engine, "and its price?")
    engine.reset()
    assert stream_mode.read(response) == "one two three four"
    stream_mode.wait_until(lambda: response.is_done)
    assert said(engine) == []
    stream_mode.ask(engine, "Is there a printer?")
    assert [text for role, text in said(engine) if role == "user"] == ["Is there a printer?"]


def test_reset_during_an_answer_leaves_it_empty(make_engine: Make) -> None:
    llm = ScriptedLLM(rewrite=PRICE, delay_s=0.2)
    for name in ("chat", "achat"):
        engine = make_engine(llm=llm, memory=ChatMemoryBuffer.from_defaults(token_limit=9_000))
        before = llm.count("answer")
        result = in_thread(lambda engine=engine, name=name: asyncio.run(aask(engine, name, "Tell me about scanners")))
        Mode("chat").wait_until(lambda before=before: llm.count("answer") > before)
        engine.reset()
        assert result().text == "the answer"
        assert said(engine) == []


def test_cancelled_reader_leaves_the_writer_alone(make_engine: Make) -> None:
    llm = ScriptedLLM(rewrite=PRICE, answer="one two three four", token_delay_s=0.02)
    engine = make_engine(llm=llm)

    async def run() -> None:
        response = await engine.astream_chat("and its price?")
        writer = response.awrite_response_to_history_task
        started = asyncio.Event()

        async def read() -> None:
            async for _ in response.async_response_gen():
                started.set()

        reader = asyncio.create_task(read())
        await started.wait()
        reader.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reader
        await asyncio.wait_for(asyncio.wait({writer}), LIMIT_S)

    asyncio.run(run())
    assert said(engine)[-2:] == [("user", "and its price?"), ("assistant", "one two three four")]


def test_cancelled_writer_ends_the_reader_and_writes_nothing(make_engine: Make) -> None:
    llm = ScriptedLLM(rewrite=PRICE, answer="one two three four", token_delay_s=0.05)
    engine = make_engine(llm=llm)

    async def run() -> None:
        response = await engine.astream_chat("and its price?")
        writer = response.awrite_response_to_history_task
        reader = response.async_response_gen()
        await reader.__anext__()
        writer.cancel()

        async def rest() -> None:
            async for _ in reader:
                pass

        with pytest.raises(Exception, match="cancelled"):
            await asyncio.wait_for(rest(), LIMIT_S)
        llm.token_delay_s = 0.0
        again = await asyncio.wait_for(engine.achat("and its warranty?"), LIMIT_S)
        assert str(again) == "one two three four"

    asyncio.run(run())
    assert [text for role, text in said(engine) if role == "user"][1:] == ["and its warranty?"]


def test_loop_that_ends_before_the_stream_writes_nothing_half(make_engine: Make) -> None:
    llm = ScriptedLLM(rewrite=PRICE, answer="one two three four", token_delay_s=0.2)
    engine = make_engine(llm=llm)

    async def leave() -> None:
        await engine.astream_chat("and its price?")

    asyncio.run(leave())  # asyncio.run cancels what is left, the writer among it
    assert len(said(engine)) == 2
    llm.token_delay_s = 0.0
    assert Mode("chat").ask(engine, "and its price?").text == "one two three four"


def test_chat_inside_a_running_event_loop_with_an_async_rewriter_of_ones_own(make_engine: Make) -> None:
    async def rewriter(_: Any) -> str:
        await asyncio.sleep(0.001)
        return PRICE

    engine = make_engine(rewriters={"own": rewriter}, rewrite={"chain": ["own"]})

    async def run() -> Any:
        return engine.chat("and its price?")

    assert asyncio.run(run()).sources[0].raw_input == {"query": PRICE}


def test_chat_never_waits_for_a_stream_of_its_own_event_loop(make_engine: Make) -> None:
    engine = make_engine(llm=ScriptedLLM(rewrite=PRICE, answer="one two three", token_delay_s=0.01))

    async def run() -> None:
        response = await engine.astream_chat("and its price?")
        with pytest.raises(ConversationBusyError):
            engine.chat("and its warranty?")
        assert "".join([part async for part in response.async_response_gen()]) == "one two three"
        assert str(engine.chat("and its warranty?")) == "one two three"

    asyncio.run(run())
