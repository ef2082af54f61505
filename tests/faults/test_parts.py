"""Embedding, retriever, memory, cache and log failing or hanging: what the caller sees, and what is left."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from llama_index.core import VectorStoreIndex
from llama_index.core.embeddings import MockEmbedding
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import TextNode

from llama_index_condense_plus import (
    CondensePlusChatEngine,
    CondensePlusSettings,
    RetrievalFailedError,
    RewriteStatus,
    construction,
    flow,
    workers,
)
from llama_index_condense_plus.observability import rewrite_log
from llama_index_condense_plus.turn import chain
from tests.conftest import FIRST_ROUND, PRICE
from tests.fakes import ScriptedLLM
from tests.faults.parts import BadCache, BadDisk, BadEmbedding, BadMemory, Hang
from tests.modes import Mode, said

Make = Callable[..., CondensePlusChatEngine]
FOLLOW_UP = "and its price?"
BEFORE = [(message.role.value, message.content) for message in FIRST_ROUND]
AFTER = [*BEFORE, ("user", FOLLOW_UP), ("assistant", "the answer")]


@pytest.fixture(autouse=True)
def _nothing_left(mode: Mode) -> Iterator[None]:
    """No thread, no task and no lock is left behind by any test here."""
    before = workers.live_workers()
    yield
    mode.wait_until(lambda: workers.live_workers() <= before)
    mode.wait_until(lambda: not asyncio.all_tasks(mode.loop))


@pytest.fixture
def hang() -> Iterator[Hang]:
    """Something that hangs until the test's end, at the latest."""
    made = Hang()
    yield made
    made.let_go.set()


def embedding_engine(make_engine: Make, llm: ScriptedLLM, embedding: BadEmbedding, **sections: Any) -> Any:
    nodes = [TextNode(text="the GTE-3000 costs 99 euros", id_="n0")]
    index = VectorStoreIndex(nodes, embed_model=MockEmbedding(4))
    searches = RetrieverQueryEngine.from_args(index.as_retriever(embed_model=embedding), llm=llm)
    return make_engine(query_engine=searches, **sections)


def memory(**how: Any) -> BadMemory:
    made = BadMemory.from_defaults(chat_history=list(FIRST_ROUND), token_limit=10_000)
    made._fails, made._hang = how.get("fails", ""), how.get("hang")
    return made


def test_embedding_that_fails_is_one_error_and_nothing_is_stored(
    make_engine: Make, llm: ScriptedLLM, mode: Mode
) -> None:
    engine = embedding_engine(make_engine, llm, BadEmbedding())
    with pytest.raises(RetrievalFailedError, match="ConnectionError") as caught:
        mode.ask(engine, FOLLOW_UP)
    assert isinstance(caught.value.__cause__, ConnectionError)
    assert said(engine) == BEFORE
    assert not engine._conversation.lock.held


def test_embedding_that_hangs_is_left_at_its_deadline(
    make_engine: Make, llm: ScriptedLLM, mode: Mode, hang: Hang
) -> None:
    engine = embedding_engine(make_engine, llm, BadEmbedding(hang), retrieval={"timeout_s": 0.1})
    with pytest.raises(RetrievalFailedError, match="TimeoutError"):
        mode.ask(engine, FOLLOW_UP)
    assert said(engine) == BEFORE
    assert workers.live_workers() <= 4  # counted until the call returns, which the fixture waits for
    hang.let_go.set()
    assert mode.ask(engine, FOLLOW_UP).node_ids == ["n0"]


@pytest.mark.parametrize("place", ["get", "put"])
def test_memory_that_fails_reaches_the_caller_and_frees_the_conversation(
    make_engine: Make, mode: Mode, place: str
) -> None:
    bad = memory(fails=place)
    engine = make_engine(memory=bad)
    with pytest.raises(ConnectionError, match="the chat store is away"):
        mode.ask(engine, FOLLOW_UP)
    bad._fails = ""
    assert said(engine) == BEFORE
    assert mode.ask(engine, FOLLOW_UP).text == "the answer"
    assert said(engine) == AFTER


def test_memory_that_hangs_can_be_cancelled(
    make_engine: Make, mode: Mode, hang: Hang, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not mode.is_async:
        pytest.skip("a blocking call cannot be cancelled; its database has a timeout of its own")
    monkeypatch.setattr(flow, "CANCEL_GRACE_S", 0.05)
    engine = make_engine(memory=memory(hang=hang))
    with pytest.raises(asyncio.TimeoutError):
        mode.run(asyncio.wait_for(getattr(engine, mode.name)(FOLLOW_UP), 0.1))
    assert not engine._conversation.lock.held
    hang.let_go.set()
    assert said(engine) == BEFORE
    assert mode.ask(engine, FOLLOW_UP).text == "the answer"


@pytest.mark.parametrize("hangs", [False, True], ids=["fails", "hangs"])
def test_cache_that_is_away_costs_a_call_and_no_turn(
    make_engine: Make, llm: ScriptedLLM, mode: Mode, hang: Hang, hangs: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chain, "CACHE_TIMEOUT_S", 0.05)
    engine = make_engine(cache=BadCache(hang if hangs else None))
    reply = mode.ask(engine, FOLLOW_UP)
    assert reply.query == PRICE
    assert reply.response.trace.rewrite.status is RewriteStatus.REWRITTEN
    assert llm.count("rewrite") == 1
    assert said(engine) == AFTER


def test_cache_that_keeps_hanging_is_left_alone(
    make_engine: Make, mode: Mode, hang: Hang, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chain, "CACHE_TIMEOUT_S", 0.02)
    engine = make_engine(cache=BadCache(hang))
    for number in range(6):
        mode.ask(engine, f"and its price in {2000 + number}?")
    assert hang.calls == construction.CACHE_FAILURES


@pytest.mark.parametrize("hangs", [False, True], ids=["full", "hangs"])
def test_log_on_a_bad_disk_disturbs_no_turn_and_repeats_nobodys_words(
    make_engine: Make,
    mode: Mode,
    hang: Hang,
    hangs: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(rewrite_log.LineFile, "append", BadDisk(hang if hangs else None))
    monkeypatch.setattr(rewrite_log, "CLOSE_TIMEOUT_S", 0.1)
    engine = make_engine(settings=CondensePlusSettings(log={"enabled": True, "path": tmp_path / "log.jsonl"}))
    assert mode.ask(engine, FOLLOW_UP).text == "the answer"
    assert mode.ask(engine, "and its warranty?").text == "the answer"
    log = engine._log
    assert log is not None
    log.close()
    assert log.dropped == 2
    assert said(engine)[: len(AFTER)] == AFTER
    assert "price" not in "".join(capfd.readouterr())


FOLLOW_UP = "and its price?"


def fail(*_: Any) -> Any:
    raise ZeroDivisionError


PARTS: dict[str, dict[str, Any]] = {
    "rewriter returns a number": {"rewriters": {"own": lambda _: 42}, "rewrite": {"chain": ["own", "rules"]}},
    "cache returns a number": {"cache": SimpleNamespace(get=lambda _: 7, set=lambda *_: None)},
    "guard returns nothing": {"guards": [SimpleNamespace(name="own", check=lambda *_: None)]},
    "extractor fails": {"entity_extractor": SimpleNamespace(extract=fail)},
    "extractor returns nonsense": {"entity_extractor": SimpleNamespace(extract=lambda _: [None])},
    "token counter fails": {"count_tokens": fail},
    "token counter is below zero": {"count_tokens": lambda _: -5},
    "trigger returns nothing": {"trigger": SimpleNamespace(decide=lambda *_: None)},
    "planner returns nothing": {"planner": SimpleNamespace(plan=lambda *_: None)},
}


@pytest.mark.parametrize("part", PARTS)
def test_part_of_ones_own_never_ends_the_turn(make_engine: Make, llm: ScriptedLLM, mode: Mode, part: str) -> None:
    reply = mode.ask(make_engine(**PARTS[part]), FOLLOW_UP)
    assert reply.text == "the answer"
    trace = reply.response.trace
    assert any("GTE-3000" in query.text for query in trace.plan.queries)
    assert trace.warnings or trace.rewrite.rewriter != "own"
