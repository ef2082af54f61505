"""What is kept beside the messages of one conversation is never another's."""

from __future__ import annotations

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from llama_index.core.base.llms.types import LLMMetadata, MessageRole
from llama_index.core.memory import ChatMemoryBuffer, Memory
from llama_index.core.storage.chat_store import SimpleChatStore
from llama_index.core.storage.kvstore import SimpleKVStore

from llama_index_condense_plus import CondensePlusChatEngine, CondensePlusSettings, ConfigurationError
from llama_index_condense_plus.rewriting.cache import InProcessRewriteCache
from llama_index_condense_plus.turn.lock import ConversationLock
from tests.conftest import FIRST_ROUND, PRICE
from tests.fakes import ScriptedLLM, WordRetriever, query_engine
from tests.isolation_parts import NORTH, TENANTS, Make, conversation, searched
from tests.modes import Mode, said


def test_conversations_with_a_default_key_share_nothing_but_the_store(make: Make, mode: Mode, tmp_path: Path) -> None:
    keys: list[str] = []

    def locks(key: str) -> Any:
        keys.append(key)
        raise AssertionError("a conversation without a key of its own has no lock among processes")

    log = tmp_path / "log.jsonl"
    engine = make(store=SimpleKVStore(), locks=locks, log={"enabled": True, "path": str(log)})
    anna, bert = conversation(engine), conversation(engine)
    mode.ask(anna, "and its price?")
    mode.ask(bert, "and its size?")
    assert [turn.message.content for turn in bert.history_with_queries() if turn.query] == ["and its size?"]
    bert.delete_conversation()
    assert [turn.message.content for turn in anna.history_with_queries() if turn.query] == ["and its price?"]
    assert [json.loads(line)["original"] for line in log.read_text(encoding="utf-8").splitlines()] == ["and its price?"]
    assert anna._conversation.lock is not bert._conversation.lock
    assert keys == []


def test_default_and_blank_keys_over_a_shared_chat_store_are_refused(make: Make, tmp_path: Path) -> None:
    shared = SimpleChatStore()
    engine = make()
    with pytest.raises(ConfigurationError, match="key of its own"):
        engine.for_conversation("chat_history")  # the key of the engine's own memory
    first = ChatMemoryBuffer.from_defaults(chat_store=shared)
    kept = engine.for_conversation(first)
    assert engine.for_conversation(first)._conversation.lock is kept._conversation.lock
    with pytest.raises(ConfigurationError, match="key of its own"):
        engine.for_conversation(ChatMemoryBuffer.from_defaults(chat_store=shared))
    for key in ("", " "):
        with pytest.raises(ConfigurationError, match="key"):
            engine.for_conversation(key)
    nameless = Memory.from_defaults(async_database_uri=f"sqlite+aiosqlite:///{tmp_path}/chat.db")
    nameless.session_id = ""
    with pytest.raises(ConfigurationError, match="key of its own"):
        engine.for_conversation(nameless)


def memory_at(path: Path, session: str = "s") -> Memory:
    return Memory.from_defaults(session_id=session, async_database_uri=f"sqlite+aiosqlite:///{path}")


class Summing(ScriptedLLM):
    """Repeats what it is told to summarise, and otherwise answers OK."""

    def _reply(self, messages: Any) -> tuple[str, str]:
        words = str(messages[-1].content)
        if "<conversation>" in words:
            return "answer", words
        return super()._reply(messages)


async def test_equal_sessions_of_two_databases_share_nothing(tmp_path: Path) -> None:
    store, keys = SimpleKVStore(), []
    settings = CondensePlusSettings(
        summary={"enabled": True, "after_messages": 4, "keep_messages": 2, "min_chars": 0},
        log={"enabled": True, "path": str(tmp_path / "log.jsonl")},
    )

    def locks(key: str) -> Any:
        keys.append(key)
        return ConversationLock()

    def engine_over(name: str) -> tuple[CondensePlusChatEngine, ScriptedLLM]:
        llm = Summing(answer="OK.", rewrite="x")
        memory = memory_at(tmp_path / name)
        parts = {"settings": settings, "store": store, "locks": locks}
        return CondensePlusChatEngine.from_defaults(query_engine(llm=llm), memory=memory, llm=llm, **parts), llm

    north, _ = engine_over("north.db")
    south, llm = engine_over("south.db")
    for i in range(4):
        await north.achat(f"What does the secret of north number {i} cost?")
        await asyncio.sleep(0.05)
    await asyncio.sleep(0.3)
    for i in range(4):
        await south.achat(f"What does the GTE-{i}000 of south cost?")
        await south.achat("and its warranty?")
    assert not any("secret" in prompt for _, prompt in llm.calls)
    assert not any("secret" in str(turn) for turn in await south.ahistory_with_queries())
    assert len(set(keys)) == 2
    stored = await north.ahistory_with_queries()
    await south.adelete_conversation()
    assert await north.ahistory_with_queries() == stored
    assert all(turn.query for turn in stored)
    rows = (tmp_path / "log.jsonl").read_text(encoding="utf-8")
    assert rows.count("secret") >= 4
    assert "south" not in rows
    again = CondensePlusChatEngine.from_defaults(
        query_engine(llm=llm), memory=memory_at(tmp_path / "north.db"), llm=llm, settings=settings, store=store
    )
    assert await again.ahistory_with_queries() == stored  # the same database, another process


def test_namespaces_keep_equal_keys_apart_in_one_store_and_log(make: Make, tmp_path: Path) -> None:
    store, log = SimpleKVStore(), {"enabled": True, "path": str(tmp_path / "log.jsonl")}
    engines = [make(store=store, log=log, cache={"namespace": tenant}).for_conversation("s") for tenant in TENANTS]
    for engine, part in zip(engines, ("GTE-3000", "T-10"), strict=True):
        engine.chat(f"Tell me about the {part}")
    engines[0].delete_conversation()
    engines[1]._log.close()  # what waits is written
    assert [turn.query for turn in engines[1].history_with_queries()] == ["Tell me about the T-10"]
    assert (tmp_path / "log.jsonl").read_text(encoding="utf-8").count("T-10") > 0


class Located(ScriptedLLM):
    """A model with the fields that tell two of one name apart."""

    api_base: str = "https://one.example"


@pytest.mark.parametrize(
    "other",
    [{"api_base": "https://two.example"}, {"system_prompt": "Speak like a pirate."}, {"cls": ScriptedLLM}, {}],
    ids=["other server", "other system prompt", "other class", "the same"],
)
def test_rewrites_are_shared_by_one_and_the_same_model_alone(make: Make, mode: Mode, other: dict[str, Any]) -> None:
    cache = InProcessRewriteCache()
    is_same, cls = not other, other.pop("cls", Located)
    first, second = Located(rewrite=PRICE), cls(rewrite=PRICE, **other)
    for model in (first, second):
        mode.ask(make(cache=cache, condense_llm=model), "and its price?")
    assert (first.count("rewrite"), second.count("rewrite")) == (1, 0 if is_same else 1)


def test_last_trace_of_a_pooled_thread_is_not_the_one_before(make: Make) -> None:
    engine = make()

    def request(message: str) -> Any:
        before = engine.last_trace
        engine.chat(message)
        return before, engine.last_trace

    with ThreadPoolExecutor(1) as pool:
        for message in ("and its price?", "and its size?"):
            before, trace = pool.submit(request, message).result()
            assert before is None
            assert trace.message == message
        assert pool.submit(lambda: engine.last_trace).result() is None


def test_failing_locks_are_named(make: Make, mode: Mode) -> None:
    def broken(key: str) -> Any:
        return 1 / 0

    with pytest.raises(ConfigurationError, match=r"locks=.*broken.*ZeroDivisionError"):
        make(locks=broken).for_conversation("s")
    with pytest.raises(ConfigurationError, match=r"locks=.*no acquire"):
        make(locks=lambda key: object()).for_conversation("s")


def test_model_without_a_system_role_gets_none_and_roles_alternate(make_engine: Make, mode: Mode) -> None:
    class NoSystem(ScriptedLLM):
        @property
        def metadata(self) -> LLMMetadata:
            return LLMMetadata(is_chat_model=True, model_name="no system", system_role=MessageRole.USER)

    llm = NoSystem(rewrite=PRICE)
    engine = make_engine(llm=llm, retriever=WordRetriever(["GTE-3000"]), system_prompt="Be brief.", summary={})
    mode.ask(engine, "and its price?")
    mode.ask(engine, "thanks!")
    for messages in llm._messages:
        roles = [message.role.value for message in messages]
        assert roles[::2] == ["user"] * len(roles[::2])
        assert roles[1::2] == ["assistant"] * len(roles[1::2])
    assert any("Be brief." in str(messages[0].content) for messages in llm._messages)


def test_memory_that_is_put_in_place_of_the_engines_is_used(make: Make, mode: Mode) -> None:
    engine = make(filters=NORTH)
    engine._memory = ChatMemoryBuffer.from_defaults(chat_history=list(FIRST_ROUND), token_limit=9_000)
    assert searched(mode.ask(engine, "and its price?")) == {("north", 2024), ("north", 2025)}
    assert len(said(engine)) == 4
    engine.reset()
    assert said(engine) == []
