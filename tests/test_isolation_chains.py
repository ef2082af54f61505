"""Random chains of engine, conversation, options, modes and threads of three tenants who share every store.

``ISOLATION_CHAINS=2000`` draws more of them.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from llama_index.core import MockEmbedding, VectorStoreIndex
from llama_index.core.indices.vector_store import VectorIndexRetriever
from llama_index.core.memory import ChatMemoryBuffer, Memory
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from llama_index.core.storage.chat_store import SimpleChatStore
from llama_index.core.storage.kvstore import SimpleKVStore
from llama_index.core.vector_stores.types import MetadataFilter, MetadataFilters

from llama_index_condense_plus import CondensePlusChatEngine, CondensePlusSettings, ConfigurationError
from llama_index_condense_plus.rewriting.cache import InProcessRewriteCache
from llama_index_condense_plus.turn.lock import ConversationLock
from tests.fakes import ScriptedLLM, query_engine
from tests.modes import MODES, Mode

N_CHAINS = int(os.environ.get("ISOLATION_CHAINS", "120"))
TENANTS = ("north", "south", "west")
SECRET = re.compile(r"secret-of-(\w+)")
Ask = Callable[..., Any]


def equal(key: str, value: Any) -> MetadataFilters:
    return MetadataFilters(filters=[MetadataFilter(key=key, value=value)])


class Echo(ScriptedLLM):
    """Repeats every secret that it is shown, so that a foreign one shows."""

    def _reply(self, messages: Any) -> tuple[str, str]:
        kind, _ = super()._reply(messages)
        shown = " ".join(sorted(set(SECRET.findall(str(messages)))))
        words = " ".join(f"secret-of-{tenant}" for tenant in shown.split())
        return kind, f"What is the price of the GTE-3000 with {words}?"


class Counting(VectorIndexRetriever):
    """Counts its searches."""

    n_searches = 0

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        Counting.n_searches += 1
        return super()._retrieve(query_bundle)

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        Counting.n_searches += 1
        return await super()._aretrieve(query_bundle)


class World:
    """What the three tenants share."""

    def __init__(self, folder: Path, chat_store: Any = None, **parts: Any) -> None:
        nodes = [
            TextNode(text=f"the GTE-3000 secret-of-{tenant}", metadata={"tenant": tenant, "year": year})
            for tenant in TENANTS
            for year in (2024, 2025)
        ]
        self.index = VectorStoreIndex(nodes, embed_model=MockEmbedding(8))
        self.log = folder / "log.jsonl"
        self.chat_store = chat_store or SimpleChatStore()
        self.is_alone = chat_store is None
        """True: no other process talks through the same stores."""
        self.keys: dict[str, str] = {}
        self.pool = ThreadPoolExecutor(2)
        self.mode = {name: Mode(name) for name in MODES}
        self._make_lock = parts.pop("locks", lambda _: ConversationLock())
        self._parts = {"store": SimpleKVStore(), "cache": InProcessRewriteCache(), **parts, "locks": self._lock}
        self._made: dict[bool, CondensePlusChatEngine] = {}
        self.tenant = ""
        self.memories: list[Any] = []

    def _lock(self, key: str) -> Any:
        assert self.keys.setdefault(key, self.tenant) == self.tenant, "another tenant's lock"
        return self._make_lock(key)

    def retriever(self, filters: MetadataFilters | None = None) -> Counting:
        return Counting(self.index, similarity_top_k=6, embed_model=MockEmbedding(8), filters=filters)

    def engine(self, *, summary: bool = False, **options: Any) -> CondensePlusChatEngine:
        llm = Echo()
        sections: dict[str, Any] = {"log": {"enabled": True, "path": str(self.log)}}
        if summary:
            sections["summary"] = {"enabled": True, "after_messages": 2, "keep_messages": 0, "min_chars": 0}
        options.setdefault("memory", Memory.from_defaults() if summary else ChatMemoryBuffer.from_defaults())
        return CondensePlusChatEngine.from_defaults(
            query_engine(retriever=self.retriever(), llm=llm),
            llm=llm,
            settings=CondensePlusSettings(**sections),
            **self._parts,
            **options,
        )

    def shared(self, *, summary: bool) -> CondensePlusChatEngine:
        if summary not in self._made:
            self._made[summary] = self.engine(summary=summary)
        return self._made[summary]


def memory_of(world: World, tenant: str, kind: str) -> Any:
    if kind == "summed":
        return Memory.from_defaults(session_id="s")  # equal sessions of different databases
    if kind == "default key":
        return ChatMemoryBuffer.from_defaults(token_limit=9_000)
    if kind == "equal key":
        return ChatMemoryBuffer.from_defaults(token_limit=9_000, chat_store=SimpleChatStore(), chat_store_key="s")
    return ChatMemoryBuffer.from_defaults(
        token_limit=9_000, chat_store=world.chat_store, chat_store_key=f"{tenant}{world.log}"
    )


def elsewhere(world: World, where: str, call: Callable[[], Any]) -> Any:
    """Run a call here, in a thread that has the context, or in one that lost it."""
    if where == "here":
        return call()
    if where == "to_thread":
        return asyncio.run(asyncio.to_thread(call))
    if where == "executor":
        return world.pool.submit(call).result()
    outcome: list[Any] = []

    def run() -> None:
        try:
            outcome.append(call())
        except Exception as error:  # noqa: BLE001 - raised again below
            outcome.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if isinstance(outcome[0], Exception):
        raise outcome[0]
    return outcome[0]


def draw(world: World, chance: random.Random) -> None:  # noqa: C901, PLR0915 - one story, read from top to bottom
    """Draw a chain, let one tenant talk through it, and look for what is not that tenant's."""
    tenant = world.tenant = chance.choice(TENANTS)
    own, year = equal("tenant", tenant), equal("year", 2025)
    place = chance.choice(["engine", "conversation", "nested conversation", "options", "turn", "retriever"])
    year_at = chance.choice(["nowhere", "engine", "conversation", "options", "turn"])
    kind = chance.choices(["default key", "equal key", "shared store", "summed"], [4, 4, 4, 1])[0]
    where = chance.choice(["here", "to_thread", "executor", "thread"])

    def at(level: str, **more: Any) -> dict[str, Any]:
        filters = [given for given, wanted in ((own, place), (year, year_at)) if wanted == level]
        both = MetadataFilters(filters=[f for one in filters for f in one.filters])
        return ({"filters": both} if filters else {}) | more

    fresh = place == "engine" or year_at == "engine"
    base = world.engine(summary=kind == "summed", **at("engine")) if fresh else world.shared(summary=kind == "summed")
    through = {"retriever": world.retriever(own)} if place == "retriever" else {}
    retriever_at = chance.choice(["conversation", "options", "turn"])
    engine = base
    if place == "nested conversation":
        between = Memory.from_defaults() if kind == "summed" else ChatMemoryBuffer.from_defaults()
        engine = engine.for_conversation(between, **at("nested conversation"))
    world.memories.append(memory_of(world, tenant, kind))
    engine = engine.for_conversation(
        world.memories[-1], **at("conversation", **(through if retriever_at == "conversation" else {}))
    )
    turn = at("turn", **(through if retriever_at == "turn" else {}))
    blocks = [at("options", **(through if retriever_at == "options" else {}))]
    if len(blocks[0].get("filters", MetadataFilters(filters=[])).filters) > 1:  # nested: the outer one must not be lost
        blocks = [{"filters": MetadataFilters(filters=[part])} for part in blocks[0].pop("filters").filters] + blocks
    sync = [name for name in MODES if not name.startswith("a")]  # a loop that stands still would hold a database up
    alone = kind == "summed" or not world.is_alone
    mode = world.mode[chance.choice(sync if alone else MODES)]

    def ask(message: str) -> Any:
        talk = Mode(mode.name) if where != "here" else mode
        reply = talk.run(getattr(engine, talk.name)(message, **turn)) if talk.is_async else None
        reply = reply if reply is not None else getattr(engine, talk.name)(message, **turn)
        text = talk.read(reply)
        if talk is not mode:
            talk.close()
        return text, reply

    lost = where in {"executor", "thread"} and any(blocks)
    before, rows = Counting.n_searches, []
    with ExitStack() as stack:
        for block in blocks:
            stack.enter_context(chance.choice([base, engine]).options(**block))
        for message in (f"Tell me about the GTE-3000 secret-of-{tenant}", "and its price?"):
            if lost:
                with pytest.raises(ConfigurationError, match="does not see it"):
                    elsewhere(world, where, lambda message=message: ask(message))
                assert Counting.n_searches == before, "searched without its restriction"
                return
            rows.append(elsewhere(world, where, lambda message=message: ask(message)))
        if where == "here":
            trace = engine.explain("and its size?", **turn)
            again = engine.retry(**turn)
            rows.append((str(again), again))
            assert {node.node.metadata["tenant"] for node in trace.nodes} <= {tenant}
    for text, reply in rows:
        seen = set(SECRET.findall(text + json.dumps(reply.trace.to_dict()) + str(engine.chat_history)))
        assert seen <= {tenant}, f"{tenant} sees {seen}"
        nodes = [*reply.source_nodes, *(node for ranked in reply.trace.retrievals for node in ranked.nodes)]
        assert nodes, "nothing is found"
        assert {node.node.metadata["tenant"] for node in nodes} == {tenant}
        assert year_at == "nowhere" or {node.node.metadata["year"] for node in nodes} == {2025}
    assert set(SECRET.findall(str(engine.history_with_queries()))) <= {tenant}
    if chance.random() < 0.3:
        others = _rows_of_others(world, tenant)
        engine.delete_conversation()
        assert engine.history_with_queries() == []
        assert _rows_of_others(world, tenant) == others, "another's rows are gone"


def _rows_of_others(world: World, tenant: str) -> int:
    world.shared(summary=False)._log._drained()  # type: ignore[union-attr]
    if not world.log.exists():
        return 0
    text = world.log.read_text(encoding="utf-8")
    return sum(f"secret-of-{other}" in line for line in text.splitlines() for other in TENANTS if other != tenant)


def test_no_chain_shows_a_tenant_what_is_anothers(tmp_path: Path) -> None:
    draw_many(World(tmp_path), 16, N_CHAINS)


def draw_many(world: World, seed: int, n_chains: int) -> None:
    """Draw chains, the same ones for equal seeds."""
    chance = random.Random(seed)  # noqa: S311 - the same chains every time
    try:
        for number in range(n_chains):
            try:
                draw(world, chance)
            except BaseException as error:
                error.add_note(f"chain {number}") if hasattr(error, "add_note") else None
                raise
    finally:
        world.pool.shutdown()
        for mode in world.mode.values():
            mode.close()
