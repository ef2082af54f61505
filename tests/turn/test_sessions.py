"""Many conversations of one process over one chat store."""

import asyncio

import pytest
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.memory import Memory
from llama_index.core.storage.chat_store.sql import SQLAlchemyChatStore

from llama_index_condense_plus import CondensePlusChatEngine, ConversationBusyError
from llama_index_condense_plus._compat import memories
from llama_index_condense_plus.turn.lock import ConversationLock
from tests.fakes import ScriptedLLM, query_engine


def make_engine(memory):
    llm = ScriptedLLM(rewrite="What is the warranty of the GTE-3000?")
    return CondensePlusChatEngine.from_defaults(query_engine(llm=llm), memory=memory, llm=llm)


@pytest.mark.parametrize("where", ["memory", "file"])
async def test_conversations_begun_at_once_over_one_store_lose_nothing(tmp_path, where):
    uri = None if where == "memory" else f"sqlite+aiosqlite:///{tmp_path}/chat.db"
    base = make_engine(Memory.from_defaults(session_id="base", async_database_uri=uri))
    engines = [base.for_conversation(f"c{i}") for i in range(8)]

    async def converse(engine, number):
        for i in range(3):
            await engine.achat(f"What does the part GTE-{number}{i} cost?")

    await asyncio.gather(*(converse(engine, i) for i, engine in enumerate(engines)))
    for number, engine in enumerate(engines):
        asked = [turn.message.content for turn in await engine.ahistory_with_queries()]
        assert asked == [f"What does the part GTE-{number}{i} cost?" for i in range(3)]


def test_synchronous_conversations_over_one_store_in_memory_lose_nothing():
    base = make_engine(Memory.from_defaults(session_id="base"))

    async def converse():
        await asyncio.gather(
            *(asyncio.to_thread(base.for_conversation(f"c{i}").chat, "What does it cost?") for i in range(6))
        )

    asyncio.run(converse())
    assert [len(base.for_conversation(f"c{i}").chat_history) for i in range(6)] == [2] * 6


async def test_shared_store_keeps_what_the_memory_held_and_shows_the_original_what_is_added():
    store = SQLAlchemyChatStore(table_name="chats")
    both = [Memory(session_id="a", sql_store=store, token_limit=1000) for _ in range(2)]
    await both[0].aput(ChatMessage(role="user", content="before"))
    for memory in both:
        memories.share_chat_store(memory, ConversationLock)
    assert both[0].sql_store is both[1].sql_store
    await both[1].aput(ChatMessage(role="assistant", content="after"))
    assert [m.content for m in await store.get_messages("a")] == ["before", "after"]
    assert [m.content for m in await both[0].aget_all()] == ["before", "after"]


async def test_shared_store_makes_its_table_again_after_a_failed_first_time(tmp_path):
    folder = tmp_path / "later"
    memory = Memory.from_defaults(session_id="a", async_database_uri=f"sqlite+aiosqlite:///{folder}/chat.db")
    memories.share_chat_store(memory, ConversationLock)
    with pytest.raises(Exception, match="unable to open"):
        await memory.aget_all()
    folder.mkdir()
    await memory.aput(ChatMessage(role="user", content="hello"))
    assert len(await memory.aget_all()) == 1


async def test_shared_store_tells_of_an_operation_that_never_gets_its_turn(monkeypatch):
    monkeypatch.setattr(memories, "STORE_WAIT_S", 0.01)
    memory = Memory.from_defaults(session_id="a")
    lock = ConversationLock()
    memories.share_chat_store(memory, lambda: lock)
    await lock.aacquire()
    with pytest.raises(ConversationBusyError, match="busy"):
        await memory.aget_all()
    lock.release()
    assert await memory.aget_all() == []
