"""Conversation locks among processes: leases in a database, order, loss, and a store that is away."""

import asyncio
import threading

import pytest
from llama_index.core.memory import ChatMemoryBuffer
from sqlalchemy import create_engine

from llama_index_condense_plus import CondensePlusChatEngine, ConversationBusyError
from llama_index_condense_plus.turn.lease import LeaseLocks, SQLLeaseStore
from tests.fakes import ScriptedLLM, query_engine


@pytest.fixture
def make_locks(tmp_path):
    made = []

    def make(**options):
        engine = create_engine(f"sqlite:///{tmp_path}/leases.db")
        made.append(LeaseLocks(SQLLeaseStore(engine), **options))
        return made[-1]

    yield make
    for locks in made:
        locks.close()


def test_lease_is_held_by_one_process_at_a_time(make_locks):
    one, two = make_locks()("c"), make_locks(wait_s=0.0)("c")
    one.acquire()
    with pytest.raises(ConversationBusyError, match="Another worker"):
        two.acquire()
    one.confirm()
    one.release()


async def test_lease_goes_to_the_next_process_that_waits(make_locks):
    one, two = make_locks()("c"), make_locks()("c")
    await one.aacquire()
    waiting = asyncio.create_task(two.aacquire())
    await asyncio.sleep(0.1)
    assert not waiting.done()
    one.release()
    await asyncio.wait_for(waiting, 30)
    await two.aconfirm()
    two.release()


async def test_cancelled_wait_leaves_the_lock_free(make_locks):
    locks, other = make_locks(), make_locks()
    await other("c").aacquire()
    waiting = asyncio.create_task(locks("c").aacquire())
    await asyncio.sleep(0.05)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    other("c").release()
    await asyncio.wait_for(locks("c").aacquire(), 30)


def test_expired_lease_is_taken_over_and_its_holder_told(make_locks):
    dead, alive = make_locks(ttl_s=0.05), make_locks()
    lock = dead("c")
    dead.keep_renewing = lambda: None  # a process that stands still renews nothing
    lock.acquire()
    alive("c").acquire()
    with pytest.raises(ConversationBusyError, match="not stored"):
        lock.confirm()
    lock.release()
    alive("c").confirm()


def test_lease_is_renewed_while_a_turn_runs(make_locks):
    locks = make_locks(ttl_s=0.3)
    locks("c").acquire()
    threading.Event().wait(0.8)
    with pytest.raises(ConversationBusyError):
        make_locks(wait_s=0.0)("c").acquire()


def test_store_that_is_away_is_a_clear_error():
    class Away:
        def take(self, *_):
            raise ConnectionError

        renew = drop = take

    locks = LeaseLocks(Away())
    with pytest.raises(ConversationBusyError, match="cannot be reached"):
        locks("c").acquire()
    locks.close()


async def test_turn_that_lost_its_lease_is_not_stored(make_locks):
    locks = make_locks()
    lost = []

    def answer(messages):
        lock = engine._conversation.lock
        lost.append(locks.store.drop(lock.key, lock.token))
        return "the answer"

    llm = ScriptedLLM(answer=answer)
    memory = ChatMemoryBuffer.from_defaults(chat_store_key="c")
    engine = CondensePlusChatEngine.from_defaults(query_engine(llm=llm), memory=memory, llm=llm, locks=locks)
    with pytest.raises(ConversationBusyError):
        await engine.achat("What does the GTE-3000 cost?")
    assert engine.chat_history == []
    llm.answer = "the answer"
    await engine.achat("What does the GTE-3000 cost?")
    assert len(engine.chat_history) == 2


async def test_two_engines_of_two_processes_never_interleave(make_locks):
    memory = ChatMemoryBuffer.from_defaults(chat_store_key="c")
    engines = []
    for _ in range(2):
        llm = ScriptedLLM(answer=lambda messages: str(messages[-1].content)[-200:], delay_s=0.01)
        engines.append(
            CondensePlusChatEngine.from_defaults(query_engine(llm=llm), memory=memory, llm=llm, locks=make_locks())
        )
    await asyncio.gather(*(engines[i % 2].achat(f"What does the GTE-{i}000 cost?") for i in range(10)))
    stored = [m.content for m in memory.get_all()]
    assert len(stored) == 20
    assert all(question in answer for question, answer in zip(stored[::2], stored[1::2], strict=True))
