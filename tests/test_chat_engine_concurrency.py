"""Many users, many turns, streams left early: nothing crosses, nothing hangs, nothing is half-written."""

from __future__ import annotations

import asyncio
import random
import re
from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Any

import pytest
from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.memory import ChatMemoryBuffer

from llama_index_condense_plus import CondensePlusChatEngine, CondensePlusSettings
from tests.conftest import FIRST_ROUND, PRICE
from tests.fakes import Log, RecordingPostprocessor, ScriptedLLM, WordRetriever, query_engine
from tests.modes import LIMIT_S, MODES, Mode, Reply, aask, in_thread, said

Make = Callable[..., Any]


def answer_to(query: str) -> str:
    """Return the one answer that belongs to a query; it holds none of its words, for guards look at repetitions."""
    return f"answer {sha256(query.encode()).hexdigest()[:12]}"


def echo(messages: Sequence[ChatMessage]) -> str:
    """Answer what is asked, so that a crossed answer shows."""
    return answer_to(str(messages[-1].content).split("Query: ")[-1].split("\nAnswer:")[0])


def rewrite_for(messages: Sequence[ChatMessage]) -> str:
    """Resolve ``it`` to the thing of the conversation that is asked about."""
    conversation, message = str(messages[-1].content).rsplit("<conversation>", 1)[1].rsplit("<message>", 1)
    (thing,) = set(re.findall("ALPHA-1|BETA-2", conversation))  # never both
    return message.split("</message>", 1)[0].replace("it", f"the {thing}")


def shared_parts() -> tuple[Any, ScriptedLLM]:
    llm = ScriptedLLM(rewrite=rewrite_for, answer=echo, delay_s=0.001, token_delay_s=0.0)
    texts = [f"the {thing} costs {price} euros" for thing, price in (("ALPHA-1", 10), ("BETA-2", 20))]
    return query_engine(texts, llm=llm, node_postprocessors=[RecordingPostprocessor()]), llm


def user(engine: Any, llm: ScriptedLLM, thing: str, **options: Any) -> CondensePlusChatEngine:
    return CondensePlusChatEngine.from_defaults(
        engine,
        llm=llm,
        memory=ChatMemoryBuffer.from_defaults(
            token_limit=100_000,
            chat_history=[
                ChatMessage(role=MessageRole.USER, content=f"Tell me about the {thing}"),
                ChatMessage(role=MessageRole.ASSISTANT, content=f"The {thing} is a printer."),
            ],
        ),
        settings=CondensePlusSettings(answer={"mode": "rewritten"}, history={"max_rounds": 60}, **options),
    )


@pytest.mark.parametrize("flag", [False, True])
@pytest.mark.parametrize("names", [("achat", "astream_chat"), MODES], ids=["async", "all modes"])
def test_two_users_on_one_query_engine_never_cross(names: tuple[str, ...], flag: bool) -> None:
    engine, llm = shared_parts()
    engine._response_synthesizer._streaming = flag
    flags: set[bool] = set()
    users = {thing: user(engine, llm, thing) for thing in ("ALPHA-1", "BETA-2")}
    dice = random.Random(7)  # noqa: S311
    turns = [(thing, dice.choice(names), number) for number in range(25) for thing in users]

    async def turn(thing: str, name: str, number: int) -> None:
        await asyncio.sleep(dice.random() / 100)
        message = f"how much is it in month {number}?"
        wanted = f"how much is the {thing} in month {number}?"
        reply = await aask(users[thing], name, message)
        flags.add(engine._response_synthesizer._streaming)
        assert reply.text == answer_to(wanted)
        assert reply.query == wanted
        assert reply.response.trace.message == message
        assert len(reply.response.source_nodes) == 2

    async def all_turns() -> None:
        await asyncio.wait_for(asyncio.gather(*(turn(*one) for one in turns)), 60)

    asyncio.run(all_turns())
    assert flags == {flag}
    for thing, engine_of_one in users.items():
        stored = said(engine_of_one)[2:]
        assert len(stored) == 50
        for (role, question), (answered, answer) in zip(stored[::2], stored[1::2], strict=True):
            assert (role, answered) == ("user", "assistant")
            assert answer == answer_to(question.replace("it", f"the {thing}"))


def test_two_conversations_of_one_engine_never_cross() -> None:
    engine, llm = shared_parts()
    first = user(engine, llm, "ALPHA-1")
    memory = ChatMemoryBuffer.from_defaults(token_limit=100_000, chat_history=said_about("BETA-2"))
    second = first.for_conversation(memory)

    async def both() -> list[Reply]:
        return await asyncio.gather(
            *(aask(one, name, "how much is it?") for one in (first, second) for name in ("achat", "astream_chat"))
        )

    queries = [reply.query for reply in asyncio.run(both())]
    assert queries == ["how much is the ALPHA-1?"] * 2 + ["how much is the BETA-2?"] * 2
    assert len(said(first)) == len(said(second)) == 6
    first.reset()
    assert (len(said(first)), len(said(second))) == (0, 6)


def said_about(thing: str) -> list[ChatMessage]:
    return [
        ChatMessage(role=MessageRole.USER, content=f"Tell me about the {thing}"),
        ChatMessage(role=MessageRole.ASSISTANT, content=f"The {thing} is a printer."),
    ]


def test_overlapping_turns_of_one_conversation_run_in_order_in_tasks(make_engine: Make) -> None:
    llm = ScriptedLLM(rewrite=PRICE, answer="the answer is here", token_delay_s=0.002, delay_s=0.01)
    engine = make_engine(llm=llm, memory=ChatMemoryBuffer.from_defaults(token_limit=9_000), first=False)

    async def overlapping() -> None:
        tasks = []
        for number in range(8):
            name = ("achat", "astream_chat")[number % 2]
            tasks.append(asyncio.create_task(aask(engine, name, f"question number {number} about printers")))
            await asyncio.sleep(0)  # they arrive in this order
        await asyncio.wait_for(asyncio.gather(*tasks), LIMIT_S)

    asyncio.run(overlapping())
    expected = [
        (("user", f"question number {n} about printers"), ("assistant", "the answer is here")) for n in range(8)
    ]
    assert said(engine) == [one for pair in expected for one in pair]


def test_overlapping_turns_of_one_conversation_run_in_order_in_threads(make_engine: Make) -> None:
    log = Log()
    llm = ScriptedLLM(answer="the answer", log=log)
    engine = make_engine(llm=llm, memory=ChatMemoryBuffer.from_defaults(token_limit=9_000), first=False, enabled=False)
    lock = engine._conversation.lock
    lock.acquire()
    results = []
    for number in range(5):
        results.append(in_thread(lambda n=number: Mode(MODES[n % 3]).ask(engine, f"question number {n}")))
        Mode("chat").wait_until(lambda n=number: len(lock._waiting) == n + 1)
    assert llm.calls == []
    lock.release()
    for result in results:
        result()
    assert [text for role, text in said(engine) if role == "user"] == [f"question number {n}" for n in range(5)]
    begun = [prompt.split("Query: ")[-1].split("\n")[0] for _, prompt in llm.calls]
    assert begun == [f"question number {n}" for n in range(5)]  # each began when its time had come


def test_turns_with_a_history_given_run_at_the_same_time(make_engine: Make) -> None:
    engine = make_engine(memory=ChatMemoryBuffer.from_defaults(token_limit=9_000), first=False)
    started = asyncio.Event()
    llm = engine._answering_llm()

    class Waiting(ScriptedLLM):
        async def achat(self, messages: Any, **kwargs: Any) -> Any:
            self._calls.append(("answer", ""))
            self._messages.append([])
            if len(self._calls) == 2:
                started.set()
            await asyncio.wait_for(started.wait(), LIMIT_S)  # only the other turn ends the waiting
            return await ScriptedLLM(answer="done").achat(messages)

    waiting = Waiting()
    engine = make_engine(llm=waiting, memory=ChatMemoryBuffer.from_defaults(token_limit=9_000), first=False)

    async def both() -> None:
        await asyncio.gather(engine.achat("question about printers", []), engine.achat("another about scanners", []))

    asyncio.run(both())
    assert llm is not waiting
    assert waiting.count("answer") == 2


def test_cancelled_turn_leaves_history_and_lock_free(make_engine: Make) -> None:
    for delays in ({"rewrite_delay_s": 5.0}, {"delay_s": 5.0}):
        llm = ScriptedLLM(rewrite=PRICE, **delays)
        engine = make_engine(llm=llm)

        async def cancelled(engine: Any = engine, llm: ScriptedLLM = llm) -> None:
            task = asyncio.create_task(engine.achat("and its price?"))
            while not llm.calls:  # noqa: ASYNC110
                await asyncio.sleep(0.005)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            llm.delay_s = llm.rewrite_delay_s = 0.0
            await asyncio.wait_for(engine.achat("and its warranty?"), LIMIT_S)

        asyncio.run(cancelled())
        assert [text for role, text in said(engine) if role == "user"][1:] == ["and its warranty?"]


def test_chat_works_inside_a_running_event_loop(make_engine: Make) -> None:
    engine = make_engine()

    async def run() -> tuple[str, str]:
        first = str(engine.chat("and its price?"))
        second = "".join(engine.stream_chat("and its warranty?").response_gen)
        trace = engine.explain("and its colour?")
        assert trace.decision.rewrite
        return first, second

    assert asyncio.run(run()) == ("the answer", "the answer")
    assert len(said(engine)) == 6


def test_last_trace_belongs_to_the_context(make_engine: Make) -> None:
    engine = make_engine(memory=ChatMemoryBuffer.from_defaults(token_limit=9_000, chat_history=list(FIRST_ROUND)))

    async def request(message: str) -> str:
        assert engine.last_trace is None
        await engine.achat(message)
        await asyncio.sleep(0.01)  # others run
        return str(engine.last_trace.message)

    async def all_requests() -> list[str]:
        messages = ["and its price?", "and its warranty?", "and its colour?"]
        assert await asyncio.gather(*(request(message) for message in messages)) == messages
        return messages

    asyncio.run(all_requests())
    assert engine.last_trace is None
    assert in_thread(lambda: (engine.chat("and its size?"), engine.last_trace.message))()[1] == "and its size?"
    assert engine.last_trace is None


def test_prefetch_of_a_cancelled_turn_is_dropped(make_engine: Make) -> None:
    class Slow(WordRetriever):
        cancelled = 0

        async def _aretrieve(self, query_bundle: Any) -> Any:
            try:
                await asyncio.sleep(5)
            except asyncio.CancelledError:
                Slow.cancelled += 1
                raise
            return []

    llm = ScriptedLLM(rewrite=PRICE, rewrite_delay_s=5)
    engine = make_engine(llm=llm, retriever=Slow(["x"]))

    async def run() -> None:
        task = asyncio.create_task(engine.achat("and its price?"))
        while not llm.calls:  # noqa: ASYNC110
            await asyncio.sleep(0.005)
        task.cancel()
        await asyncio.wait({task})
        await asyncio.sleep(0.01)

    asyncio.run(run())
    assert Slow.cancelled == 1
