"""Nobody else's words: what a user may search, and what is kept beside the messages, is never another's."""

from __future__ import annotations

import asyncio
import contextvars
import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from llama_index.core import MockEmbedding, VectorStoreIndex
from llama_index.core.base.llms.types import LLMMetadata, MessageRole
from llama_index.core.memory import ChatMemoryBuffer, Memory
from llama_index.core.schema import TextNode
from llama_index.core.storage.chat_store import SimpleChatStore
from llama_index.core.storage.kvstore import SimpleKVStore
from llama_index.core.vector_stores.types import FilterCondition, FilterOperator, MetadataFilter, MetadataFilters

from llama_index_condense_plus import CondensePlusChatEngine, CondensePlusSettings, ConfigurationError
from llama_index_condense_plus.rewriting.cache import InProcessRewriteCache
from llama_index_condense_plus.turn.lock import ConversationLock
from tests.conftest import FIRST_ROUND, PRICE
from tests.fakes import PlainQueryEngine, ScriptedLLM, WordRetriever, query_engine
from tests.modes import Mode, said

Make = Callable[..., CondensePlusChatEngine]
TENANTS, YEARS = ("north", "south"), (2024, 2025)
ALL = {(tenant, year) for tenant in TENANTS for year in YEARS}
EVERYTHING = MetadataFilters(filters=[])


def where(**equal: Any) -> MetadataFilters:
    return MetadataFilters(filters=[MetadataFilter(key=key, value=value) for key, value in equal.items()])


NORTH, NEW = where(tenant="north"), where(year=2025)


@pytest.fixture(scope="module")
def index() -> VectorStoreIndex:
    nodes = [
        TextNode(text=f"the GTE-3000 in {tenant} of {year} costs 99 euros", metadata={"tenant": tenant, "year": year})
        for tenant, year in sorted(ALL)
    ]
    return VectorStoreIndex(nodes, embed_model=MockEmbedding(8))


@pytest.fixture
def make(make_engine: Make, index: VectorStoreIndex, llm: ScriptedLLM) -> Make:
    def made(**options: Any) -> CondensePlusChatEngine:
        if "retrievers" not in options and "query_engine" not in options:
            options["query_engine"] = index.as_query_engine(llm=llm, similarity_top_k=4)
        return make_engine(**options)

    return made


def found(nodes: Any) -> set[tuple[str, int]]:
    return {(node.node.metadata["tenant"], node.node.metadata["year"]) for node in nodes}


def searched(reply: Any) -> set[tuple[str, int]]:
    """What every query of a turn found, the prefetched one included."""
    trace = reply.response.trace
    return found(trace.nodes).union(*(found(ranked.nodes) for ranked in trace.retrievals))


def conversation(engine: Any, **restriction: Any) -> Any:
    memory = ChatMemoryBuffer.from_defaults(chat_history=list(FIRST_ROUND), token_limit=9_000)
    return engine.for_conversation(memory, **restriction)


def of_engine(make: Make, ask: Any) -> Any:
    return ask(conversation(make(filters=NORTH)))


def of_engine_and_conversation(make: Make, ask: Any) -> Any:
    return ask(conversation(make(filters=NORTH), filters=NEW))


def of_two_conversations(make: Make, ask: Any) -> Any:
    return ask(conversation(conversation(make(), filters=NORTH), filters=NEW))


def of_conversation_and_options(make: Make, ask: Any) -> Any:
    engine = conversation(make(), filters=NORTH)
    with engine.options(filters=NEW):
        return ask(engine)


def of_nested_options(make: Make, ask: Any) -> Any:
    engine = make()
    with engine.options(filters=NORTH), engine.options(rewrite=True), engine.options(filters=NEW):
        return ask(engine)


def of_options_of_the_base(make: Make, ask: Any) -> Any:
    engine = make()
    with engine.options(filters=NORTH):
        return ask(conversation(engine, filters=NEW))


def of_options_and_the_turn(make: Make, ask: Any) -> Any:
    engine = make()
    with engine.options(filters=NORTH):
        return ask(engine, filters=NEW)


def of_an_own_retriever(make: Make, ask: Any, index: VectorStoreIndex) -> Any:
    engine = conversation(make(filters=NORTH), retriever=index.as_retriever(similarity_top_k=4, filters=NEW))
    return ask(engine)


BOTH, ONLY_NORTH = {("north", 2025)}, {("north", 2024), ("north", 2025)}
CHAINS = [
    (of_engine, ONLY_NORTH),
    (of_engine_and_conversation, BOTH),
    (of_two_conversations, BOTH),
    (of_conversation_and_options, BOTH),
    (of_nested_options, BOTH),
    (of_options_of_the_base, BOTH),
    (of_options_and_the_turn, BOTH),
    (of_an_own_retriever, BOTH),
]


@pytest.mark.parametrize(("chain", "expected"), CHAINS, ids=[chain.__name__ for chain, _ in CHAINS])
def test_restrictions_are_inherited_and_hold_all_at_once(
    make: Make, mode: Mode, index: VectorStoreIndex, chain: Any, expected: set[Any]
) -> None:
    more = (index,) if chain is of_an_own_retriever else ()

    def turn(engine: Any, **restriction: Any) -> set[Any]:
        began = getattr(engine, mode.name)("and its price?", **restriction)
        response = mode.run(began) if mode.is_async else began
        mode.read(response)
        assert response.trace.retrievals
        return found(response.trace.nodes).union(*(found(ranked.nodes) for ranked in response.trace.retrievals))

    def other_entries(engine: Any, **restriction: Any) -> set[Any]:
        if mode.is_async:
            explained = mode.run(engine.aexplain("and its price?", **restriction))
            mode.ask(engine, "and its price?") if not restriction else None
            again = mode.run(engine.aretry(**restriction))
            edited = mode.run(engine.aedit_last("and its size?", **restriction))
        else:
            explained = engine.explain("and its price?", **restriction)
            again, edited = engine.retry(**restriction), engine.edit_last("and its size?", **restriction)
        return found(explained.nodes) | found(again.source_nodes) | found(edited.source_nodes)

    assert chain(make, turn, *more) == expected
    assert chain(make, other_entries, *more) == expected


def test_options_of_an_engine_hold_for_the_conversations_made_of_it(make: Make, llm: ScriptedLLM, mode: Mode) -> None:
    engine = make()
    other = make()
    with engine.options(rewrite=False), engine.options(filters=NORTH):
        reply = mode.ask(conversation(engine), "and its price?")
        assert reply.query == "and its price?"
        assert mode.ask(other, "and its price?").query == PRICE
    assert searched(reply) == ONLY_NORTH
    assert searched(mode.ask(conversation(engine), "and its price?")) == ALL  # the block is over


def test_named_retrievers_obey_filters_and_are_replaced_by_a_retriever(
    make: Make, index: VectorStoreIndex, mode: Mode
) -> None:
    named = {name: index.as_retriever(similarity_top_k=4) for name in ("dense", "sparse")}
    engine = make(retrievers=named, filters=NORTH)
    assert searched(mode.ask(engine, "and its price?")) == ONLY_NORTH
    own = index.as_retriever(similarity_top_k=4, filters=NEW)
    with engine.options(retriever=own):
        assert searched(mode.ask(engine, "and its price?")) == BOTH


@pytest.mark.parametrize(
    ("own", "expected"),
    [
        (where(year=2025), BOTH),
        (MetadataFilters(filters=[where(year=2025), where(tenant="north")]), BOTH),
        (MetadataFilters(filters=[*where(year=2025).filters, *where(year=2023).filters], condition="or"), BOTH),
        (MetadataFilters(filters=where(tenant="south", year=2024).filters, condition="not"), BOTH),
    ],
    ids=["and", "nested and", "or of one key", "not"],
)
def test_filters_of_a_retriever_and_others_hold_both_without_nesting(
    make: Make, index: VectorStoreIndex, mode: Mode, own: MetadataFilters, expected: set[Any]
) -> None:
    engine = make(
        retrievers={"": index.as_retriever(similarity_top_k=4, filters=own)}, filters=MetadataFilters(filters=[NORTH])
    )
    assert searched(mode.ask(engine, "and its price?")) == expected


def test_alternatives_that_a_store_cannot_nest_are_refused_before_anything_is_searched(
    make: Make, index: VectorStoreIndex
) -> None:
    either = MetadataFilters(filters=where(tenant="north", year=2025).filters, condition=FilterCondition.OR)
    with pytest.raises(ConfigurationError, match=r"FilterOperator\.IN"):
        make(retrievers={"": index.as_retriever(filters=either)}, filters=NEW)
    alone = make(filters=either)  # nothing to nest
    assert searched(Mode("chat").ask(alone, "and its price?")) == ALL - {("south", 2024)}
    one_of = MetadataFilters(filters=[MetadataFilter(key="year", value=[2025], operator=FilterOperator.IN)])
    assert searched(Mode("chat").ask(make(filters=one_of), "and its price?")) == {("north", 2025), ("south", 2025)}


def test_restriction_that_cannot_be_applied_ends_the_turn_before_anything_is_searched(
    make_engine: Make, llm: ScriptedLLM, mode: Mode
) -> None:
    deaf, plain = WordRetriever(["the GTE-3000"]), PlainQueryEngine()
    for engine, kind in ((make_engine(retriever=deaf), "WordRetriever"), (make_engine(query_engine=plain), "Plain")):
        with engine.options(filters=NORTH), pytest.raises(ConfigurationError, match=kind):
            mode.ask(engine, "and its price?")
        with pytest.raises(ConfigurationError, match=kind):
            engine.for_conversation("u", filters=NORTH)
        with pytest.raises(ConfigurationError, match=kind):
            engine.explain("and its price?", filters=NORTH)
        assert len(said(engine)) == 2
    with pytest.raises(ConfigurationError, match="WordRetriever"):
        make_engine(retriever=deaf, filters=NORTH)
    with pytest.raises(ConfigurationError, match="Plain"):
        make_engine(query_engine=plain, retrievers={"named": deaf})
    with pytest.raises(ConfigurationError, match="Plain"):
        make_engine(query_engine=plain).for_conversation("u", retriever=deaf)
    assert (deaf.queries, plain.queries, llm.calls) == ([], [], [])


def test_turn_that_lost_its_context_is_refused_and_arguments_need_none(make: Make, llm: ScriptedLLM) -> None:
    engine = make()

    async def run() -> None:
        loop = asyncio.get_running_loop()
        for one in (engine, conversation(engine), conversation(engine, filters=NEW)):
            with engine.options(filters=NORTH), pytest.raises(ConfigurationError, match="does not see it"):
                await loop.run_in_executor(None, one.chat, "and its price?")
        with engine.options(filters=NORTH):
            kept = await asyncio.to_thread(engine.chat, "and its price?")
            context = contextvars.copy_context()
            carried = await loop.run_in_executor(None, lambda: context.run(engine.chat, "and its price?"))
            stated = await loop.run_in_executor(None, lambda: engine.chat("and its price?", filters=NORTH))
            every = await loop.run_in_executor(None, lambda: engine.chat("and its price?", filters=EVERYTHING))
        assert [found(r.source_nodes) for r in (kept, carried, stated, every)] == [ONLY_NORTH] * 3 + [ALL]

    asyncio.run(run())
    with ThreadPoolExecutor(1) as pool, engine.options(filters=NORTH):
        with pytest.raises(ConfigurationError):
            pool.submit(lambda: asyncio.run(engine.achat("and its price?"))).result()
        with engine.options(rewrite=False), pytest.raises(ConfigurationError):
            pool.submit(engine.retry).result()
        with pytest.raises(ConfigurationError):  # a restriction, but another one
            pool.submit(lambda: engine.chat("and its price?", filters=NEW)).result()


def test_other_requests_on_the_loop_are_not_held_up_by_a_request_with_options(make: Make) -> None:
    engine = make()
    inside, done = asyncio.Event(), asyncio.Event()

    async def restricted() -> None:
        with engine.options(filters=NORTH):
            inside.set()
            await done.wait()
            assert found((await conversation(engine).achat("and its price?")).source_nodes) == ONLY_NORTH

    async def free() -> None:
        await inside.wait()
        assert found((await conversation(engine).achat("and its price?")).source_nodes) == ALL
        done.set()

    async def both() -> None:
        await asyncio.gather(restricted(), free())

    asyncio.run(both())


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
    assert searched(mode.ask(engine, "and its price?")) == ONLY_NORTH
    assert len(said(engine)) == 4
    engine.reset()
    assert said(engine) == []
