"""LlamaIndex's own Redis and PostgreSQL chat stores, and Memory on PostgreSQL, on real servers."""

import asyncio

import pytest
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.memory import ChatMemoryBuffer, Memory

from llama_index_condense_plus import CondensePlusChatEngine, CondensePlusSettings, RewriteStatus
from llama_index_condense_plus.memory.sql_store import SQLKeyValueStore
from tests.fakes import ScriptedLLM, query_engine
from tests.integration.test_model_server import in_mode

pytestmark = [pytest.mark.integration, pytest.mark.servers]
sqlalchemy = pytest.importorskip("sqlalchemy")
pytest.importorskip("asyncpg")
redis_store = pytest.importorskip("llama_index.storage.chat_store.redis")
postgres_store = pytest.importorskip("llama_index.storage.chat_store.postgres")
redis_kv = pytest.importorskip("llama_index.storage.kvstore.redis")

REWRITE = "What is the warranty of the GTE-3000?"
ASKED = ["What does the GTE-3000 cost?", "And its warranty?"]


@pytest.fixture(params=["redis", "postgres", "memory"])
def place(request, redis_server, postgres_server):
    """Return two functions that open the same place anew: a memory by key, and the store beside it."""
    if request.param == "redis":
        url = redis_server.url
        return (
            lambda key: ChatMemoryBuffer.from_defaults(
                chat_store=redis_store.RedisChatStore(redis_url=url), chat_store_key=key
            ),
            lambda: redis_kv.RedisKVStore(redis_uri=url),
        )
    uri, engines = postgres_server.url, sqlalchemy.ext.asyncio

    def engine():
        return engines.create_async_engine(uri, poolclass=sqlalchemy.pool.NullPool)  # of no event loop

    if request.param == "memory":
        return lambda key: Memory.from_defaults(session_id=key, async_engine=engine()), lambda: None
    blocking = uri.replace("asyncpg", "psycopg")
    return (
        lambda key: ChatMemoryBuffer.from_defaults(
            chat_store=postgres_store.PostgresChatStore.from_params(
                connection_string=blocking, async_connection_string=f"{uri}?prepared_statement_cache_size=0"
            ),
            chat_store_key=key,
        ),
        lambda: SQLKeyValueStore(engine()),
    )


def make_engine(place, key, llm=None, **kwargs):
    memory, store = place
    llm = llm or ScriptedLLM(rewrite=REWRITE)
    return CondensePlusChatEngine.from_defaults(
        query_engine(llm=llm), memory=memory(key), llm=llm, store=store(), **kwargs
    )


@pytest.mark.parametrize("mode", ["chat", "stream_chat"])
def test_synchronous_turns_are_there_for_the_next_process(place, mode, request):
    key = request.node.name

    def ask(message):
        engine = make_engine(place, key)
        if mode == "chat":
            return str(engine.chat(message))
        return "".join(engine.stream_chat(message).response_gen)

    answers = [ask(message) for message in ASKED]
    engine = make_engine(place, key)
    check(engine.chat_history, engine.history_with_queries(), answers)
    engine.delete_conversation()
    assert make_engine(place, key).history_with_queries() == []


@pytest.mark.parametrize("mode", ["achat", "astream_chat"])
async def test_asynchronous_turns_are_there_for_the_next_process(place, mode, request):
    key = request.node.name
    answers = [(await in_mode(make_engine(place, key), mode, message))[1] for message in ASKED]
    engine = make_engine(place, key)
    check(await engine._memory.aget_all(), await engine.ahistory_with_queries(), answers)
    await engine.adelete_conversation()
    assert await make_engine(place, key).ahistory_with_queries() == []


def check(messages, rounds, answers):
    assert [m.content for m in messages] == [ASKED[0], answers[0], ASKED[1], answers[1]]
    assert [(turn.query, turn.status) for turn in rounds] == [
        (ASKED[0], RewriteStatus.SKIPPED),
        (REWRITE, RewriteStatus.REWRITTEN),
    ]


async def test_conversations_over_one_store_are_kept_apart(place, request):
    base = make_engine(place, f"{request.node.name}-base")
    engines = [base.for_conversation(f"{request.node.name}-{i}") for i in range(6)]

    async def converse(engine, number):
        for i in range(5):
            await engine.achat(f"What does the part GTE-{number}{i} cost?")

    await asyncio.gather(*(converse(engine, i) for i, engine in enumerate(engines)))
    for number, engine in enumerate(engines):
        asked = [turn.message.content for turn in await engine.ahistory_with_queries()]
        assert asked == [f"What does the part GTE-{number}{i} cost?" for i in range(5)]


async def test_a_turn_that_fails_leaves_the_store_as_it_was(place, request):
    key = request.node.name
    await make_engine(place, key).achat(ASKED[0])
    failing = make_engine(place, key, ScriptedLLM(rewrite=REWRITE, answer="a b c", fail_after_tokens=1))
    response = await failing.astream_chat(ASKED[1])
    with pytest.raises(ConnectionError):
        [piece async for piece in response.async_response_gen()]
    assert len(await make_engine(place, key)._memory.aget_all()) == 2


async def test_summary_on_postgresql_is_seen_by_the_next_process(postgres_server):
    def open_engine(llm):
        engine = sqlalchemy.ext.asyncio.create_async_engine(postgres_server.url, poolclass=sqlalchemy.pool.NullPool)
        memory = Memory.from_defaults(session_id="long", async_engine=engine)
        settings = CondensePlusSettings(summary={"enabled": True, "after_messages": 4, "keep_messages": 2})
        return CondensePlusChatEngine.from_defaults(query_engine(llm=llm), memory=memory, llm=llm, settings=settings)

    def answer(messages):
        return "They compared parts." if "<summary>" in str(messages[-1].content) else "It is on page 7. " * 10

    engine = open_engine(ScriptedLLM(answer=answer, rewrite=REWRITE))
    for i in range(4):
        await engine.achat(f"What does the GTE-{i}000 cost?")
    llm = ScriptedLLM(answer=answer, rewrite=REWRITE)
    other = open_engine(llm)
    for _ in range(100):  # the refresh is beside the turns
        shown: list[ChatMessage] = await other._memory.aget()
        if "They compared parts." in str(shown):
            break
        await asyncio.sleep(0.1)
    await other.achat("And its warranty?")
    assert any("They compared parts." in prompt for _, prompt in llm.calls)
    assert len(await other._memory.aget_all()) == 10
