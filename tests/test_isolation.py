"""What a user may search is what every restriction allows, in all four modes and on every path."""

from __future__ import annotations

import asyncio
import contextvars
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from llama_index.core import VectorStoreIndex
from llama_index.core.vector_stores.types import FilterCondition, FilterOperator, MetadataFilter, MetadataFilters

from llama_index_condense_plus import ConfigurationError
from tests.conftest import PRICE
from tests.fakes import PlainQueryEngine, ScriptedLLM, WordRetriever
from tests.isolation_parts import ALL, EVERYTHING, NEW, NORTH, Make, conversation, found, searched, where
from tests.modes import Mode, said


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
