"""What was searched, kept by turn beside the messages; topics; deletion; copies of an engine."""

import copy
import json
import pickle
from collections.abc import Callable
from typing import Any

import pytest
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.embeddings import MockEmbedding
from llama_index.core.memory import (
    ChatMemoryBuffer,
    ChatSummaryMemoryBuffer,
    Memory,
    SimpleComposableMemory,
    VectorMemory,
)
from llama_index.core.storage.chat_store import SimpleChatStore
from llama_index.core.storage.kvstore import SimpleKVStore

from llama_index_condense_plus import (
    CondensePlusChatEngine,
    CondensePlusSettings,
    ConfigurationError,
    RewriteStatus,
)
from llama_index_condense_plus.flow import drive
from llama_index_condense_plus.memory.records import ConversationRecords, TurnRecord, rounds_with_records
from tests.fakes import ScriptedLLM, query_engine
from tests.modes import Mode

REWRITE = "What is the warranty of the GTE-3000?"


def memories(tmp_path):
    llm = ScriptedLLM()
    return {
        "memory": lambda: Memory.from_defaults(session_id="s"),
        "sqlite": lambda: Memory.from_defaults(
            session_id="s", async_database_uri=f"sqlite+aiosqlite:///{tmp_path}/chat.db"
        ),
        "buffer": lambda: ChatMemoryBuffer.from_defaults(chat_store=SimpleChatStore(), chat_store_key="s"),
        "summary": lambda: ChatSummaryMemoryBuffer.from_defaults(llm=llm, token_limit=2000),
        "vector": lambda: VectorMemory.from_defaults(
            vector_store=None, embed_model=MockEmbedding(embed_dim=8), retriever_kwargs={"similarity_top_k": 4}
        ),
        "composable": lambda: SimpleComposableMemory.from_defaults(
            primary_memory=ChatMemoryBuffer.from_defaults(), secondary_memory_sources=[]
        ),
    }


def make_engine(memory=None, **kwargs):
    llm = ScriptedLLM(rewrite=REWRITE)
    return CondensePlusChatEngine.from_defaults(query_engine(llm=llm), memory=memory, llm=llm, **kwargs)


@pytest.mark.parametrize("name", ["memory", "sqlite", "buffer", "summary", "vector", "composable"])
async def test_any_memory_keeps_the_turns_in_order(tmp_path, name):
    engine = make_engine(memories(tmp_path)[name]())
    await engine.achat("What does the GTE-3000 cost?")
    response = await engine.astream_chat("And its warranty?")
    text = "".join([part async for part in response.async_response_gen()])
    if name == "vector":  # it finds messages and cannot list them
        assert (await engine._memory.aget("warranty"))[-1].content == text
        assert [turn.query for turn in await engine.ahistory_with_queries()][1] == REWRITE
        return
    stored = [m.content for m in await engine._memory.aget_all()]
    assert stored == ["What does the GTE-3000 cost?", "the answer", "And its warranty?", text]
    first, second = await engine.ahistory_with_queries()
    assert (first.query, first.status) == ("What does the GTE-3000 cost?", RewriteStatus.SKIPPED)
    assert second.turn_id == engine.trace_of(response).turn_id
    assert (second.query, second.status) == (REWRITE, RewriteStatus.REWRITTEN)
    assert all(not m.additional_kwargs for m in await engine._memory.aget_all())


@pytest.mark.parametrize("name", ["memory", "buffer", "composable"])
def test_any_memory_keeps_the_turns_of_synchronous_calls(tmp_path, name):
    engine = make_engine(memories(tmp_path)[name]())
    engine.chat("What does the GTE-3000 cost?")
    engine.chat("And its warranty?")
    assert [turn.query for turn in engine.history_with_queries()] == ["What does the GTE-3000 cost?", REWRITE]


async def test_queries_are_kept_in_the_conversations_database(tmp_path):
    await make_engine(memories(tmp_path)["sqlite"]()).achat("What does the GTE-3000 cost?")
    again = make_engine(memories(tmp_path)["sqlite"]())
    assert [turn.query for turn in await again.ahistory_with_queries()] == ["What does the GTE-3000 cost?"]


def test_rounds_find_their_records_from_the_newest_on():
    said = [("user", "a"), ("assistant", "1"), ("user", "b"), ("assistant", "2"), ("user", "a"), ("assistant", "3")]
    messages = [ChatMessage(role=role, content=text) for role, text in said]
    records = [TurnRecord(f"t{i}", m, m.upper(), "skipped", "x", i) for i, m in enumerate("zba")]
    rounds = rounds_with_records(messages, records)
    assert [turn.turn_id for turn in rounds] == [None, "t1", "t2"]
    assert rounds[0].answers[0].content == "1"


def test_records_fail_open():
    class Broken(SimpleKVStore):
        def put(self, *args, **kwargs):
            raise ConnectionError

        def get(self, *args, **kwargs):
            raise ConnectionError

    records = ConversationRecords(Broken(), "s")
    drive(records.add(TurnRecord("t", "m", "q", "skipped", "x")))


async def test_deleting_a_conversation_leaves_nothing_of_it(tmp_path):
    store = SimpleKVStore()
    settings = CondensePlusSettings(log={"enabled": True, "path": tmp_path / "log.jsonl"})
    engine = make_engine(Memory.from_defaults(session_id="gone"), settings=settings, store=store)
    kept = engine.for_conversation("kept")
    for each in (engine, kept):
        await each.achat("What does the GTE-3000 cost?")
    response = await engine.achat("And its warranty?")
    engine.feedback(engine.trace_of(response).turn_id, good=True)
    assert len(engine._pipeline.cache) == 1
    await engine.adelete_conversation()
    assert await engine._memory.aget_all() == []
    assert await engine.ahistory_with_queries() == []
    assert len(engine._pipeline.cache) == 0
    assert len(await kept.ahistory_with_queries()) == 1
    rows = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert [row["kind"] for row in rows] == ["turn"]
    assert all(not values for name, values in store.to_dict().items() if "gone" in name or "gone" in values)


def test_deleting_a_conversation_works_in_synchronous_programs():
    engine = make_engine(ChatMemoryBuffer.from_defaults(chat_store_key="s"))
    engine.chat("What does the GTE-3000 cost?")
    engine.delete_conversation()
    assert engine.chat_history == []
    assert engine.history_with_queries() == []


def test_engines_for_one_key_share_lock_and_records():
    engine = make_engine(ChatMemoryBuffer.from_defaults(chat_store_key="a"))
    one, two, other = engine.for_conversation("b"), engine.for_conversation("b"), engine.for_conversation("c")
    assert one._conversation.lock is two._conversation.lock
    assert one._conversation.lock is not other._conversation.lock
    one.chat("What does the GTE-3000 cost?")
    assert len(two.history_with_queries()) == 1


class Cache:
    """The least that a cache can be."""

    def __init__(self) -> None:
        self.kept: dict[str, str] = {}

    def get(self, key: str) -> str | None:
        return self.kept.get(key)

    def set(self, key: str, value: str) -> None:
        self.kept[key] = value


class Deleting(Cache):
    def delete(self, key: str) -> None:
        del self.kept[key]


class AsyncDeleting(Cache):
    async def adelete(self, key: str) -> None:
        del self.kept[key]


@pytest.mark.parametrize(
    ("make", "left"),
    [(Cache, (1, 1)), (Deleting, (0, 0)), (AsyncDeleting, (0, 0))],
    ids=["keeps", "sync", "async"],
)
def test_deleting_a_conversation_deletes_what_the_cache_can_delete(
    make_engine: Callable[..., Any], mode: Mode, make: type[Cache], left: tuple[int, int]
) -> None:
    cache = make()
    engine = make_engine(cache=cache)
    mode.ask(engine, "and its price?")
    assert len(cache.kept) == 1
    if mode.is_async:
        mode.run(engine.adelete_conversation())
    else:
        engine.delete_conversation()
    assert len(cache.kept) == left[mode.is_async]
    assert engine.chat_history == []
    mode.ask(engine, "and its price?")  # the lock is free again


def test_engine_is_copied_for_its_conversation_and_neither_deep_copied_nor_pickled(
    make_engine: Callable[..., Any],
) -> None:
    engine = make_engine()
    twin = copy.copy(engine)
    assert twin is not engine
    assert twin.chat_history == engine.chat_history
    twin.reset()
    assert engine.chat_history == []
    with pytest.raises(ConfigurationError, match="for_conversation"):
        copy.deepcopy(engine)
    with pytest.raises(ConfigurationError, match=r"engine\.settings"):
        pickle.dumps(engine)
