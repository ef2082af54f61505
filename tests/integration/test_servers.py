"""Conversations on real Redis and PostgreSQL: two workers, a killed one, and stores that go away."""

import asyncio
import threading
import time

import httpx
import pytest

from tests.integration.servers import PostgresServer, RedisServer, Worker, events, find

pytestmark = [pytest.mark.integration, pytest.mark.servers]
pytest.importorskip("fastapi")
pytest.importorskip("redis")
pytest.importorskip("asyncpg")

LEASE_S = "3"


@pytest.fixture(scope="module")
def redis_server(tmp_path_factory):
    if find("redis-server") is None:
        pytest.skip("redis-server is not installed (Debian: apt-get install redis-server)")
    server = RedisServer(tmp_path_factory.mktemp("redis") / "data")
    yield server
    server.stop()


@pytest.fixture(scope="module")
def postgres_server():
    if find("initdb") is None:
        pytest.skip("PostgreSQL is not installed (Debian: apt-get install postgresql)")
    server = PostgresServer()
    yield server
    server.remove()


@pytest.fixture(scope="module", params=["postgres", "redis", "both"])
def stores(request):
    names = ["postgres", "redis"] if request.param == "both" else [request.param]
    urls = {f"SERVICE_{name.upper()}_URL": request.getfixturevalue(f"{name}_server").url for name in names}
    return {**urls, "SERVICE_REQUESTS_PER_MINUTE": "0", "SERVICE_LEASE_S": LEASE_S}


@pytest.fixture
def start():
    started = []

    def start_workers(n, **settings):
        workers = [Worker(**settings) for _ in range(n)]
        started.extend(workers)
        return [worker.wait() for worker in workers]

    yield start_workers
    for worker in started:
        worker.stop()


def named(name, stores):
    """Return a conversation's id that no other combination of stores uses."""
    return "-".join([name, *(key.split("_")[1] for key in sorted(stores) if key.endswith("_URL"))])


def check_history(history, acknowledged, asked):
    """Every acknowledged turn is there once, in order, with its own answer; no other one more than once."""
    messages = [turn["message"] for turn in history]
    assert len(messages) == len(set(messages))
    assert [m for m in messages if m in acknowledged] == [m for m in asked if m in acknowledged]
    assert set(acknowledged) <= set(messages) <= set(asked)
    for turn in history:
        number = turn["message"].split("number ")[1].split(" ")[0].rstrip("?")
        assert f"number {number} " in turn["answer"]


def test_two_workers_lose_and_double_nothing_in_alternating_turns(stores, start):
    workers = start(2, **stores)
    n_turns = 500 if len(stores) == 4 else 60  # PostgreSQL and Redis together carry the long run
    asked = [f"What is the price of part number n{i} ?" for i in range(n_turns)]
    for i, message in enumerate(asked):
        answer = workers[i % 2].ask(named("alternating", stores), message)
        assert "error" not in answer, answer
    history = workers[0].history(named("alternating", stores))
    assert [turn["message"] for turn in history] == asked
    check_history(history, asked, asked)
    assert all(turn["searched"] and turn["turn_id"] for turn in history)


async def test_simultaneous_turns_on_two_workers_are_never_interleaved(stores, start):
    workers = start(2, **stores, WORKER_TOKEN_DELAY_S="0.01")
    asked = [f"What is the price of part number n{i} ?" for i in range(40)]
    async with httpx.AsyncClient(timeout=120) as client:
        answers = await asyncio.gather(
            *(
                client.post(
                    f"{workers[i % 2].url}/conversations/{named('together', stores)}/messages",
                    json={"message": message},
                )
                for i, message in enumerate(asked)
            )
        )
    told = [events(answer) for answer in answers]
    acknowledged = {message for message, answer in zip(asked, told, strict=True) if "done" in answer}
    assert all("done" in answer or answer.get("status") == 409 for answer in told)
    history = workers[0].history(named("together", stores))
    assert {turn["message"] for turn in history} == acknowledged
    for turn in history:
        number = turn["message"].split("number ")[1].split(" ")[0]
        assert f"number {number} " in turn["answer"]


def test_history_queries_and_cache_survive_a_killed_worker(stores, start):
    first, second = start(2, **stores, WORKER_TOKEN_DELAY_S="0.2")
    first.ask(named("killed", stores), "When is Falkner Hut open, part number n0 ?")
    rewritten = first.ask(named("killed", stores), "How many people can sleep there?")
    assert rewritten["trace"]["status"] == "rewritten", rewritten

    def left_alone():
        with pytest.raises(httpx.HTTPError):
            first.ask(named("killed", stores), "When is Tarn Hut open, part number n2 ?")

    reader = threading.Thread(target=left_alone)
    reader.start()
    time.sleep(0.6)
    first.kill()
    reader.join()
    history = second.history(named("killed", stores))
    assert [turn["message"] for turn in history][-1] == "How many people can sleep there?"
    assert history[1]["turn_id"] == rewritten["trace"]["turn_id"]
    assert "done" in second.ask(
        named("killed", stores), "When is Larch Hut open, part number n3 ?"
    )  # after the dead one's lease
    assert len(second.history(named("killed", stores))) == 3
    second.ask(named("copy", stores), "When is Falkner Hut open, part number n0 ?")
    second.ask(named("copy", stores), "How many people can sleep there?")
    assert "condense_plus_cache_hits_total 1" in second.client.get("/metrics").text


def test_summary_is_shared_by_the_workers(stores, start):
    workers = start(2, **stores)
    for i in range(12):
        workers[i % 2].ask(
            named("long", stores), f"What is the price of the Falkner{i:02} part number n{i} in the spring catalogue ?"
        )
        time.sleep(0.1)
    assert len(workers[1].history(named("long", stores))) == 12
    follow_up = workers[1].ask(named("long", stores), "How many people can sleep there, number n12 ?")
    assert "done" in follow_up


@pytest.mark.parametrize("gone", ["redis", "postgres"])
def test_a_store_that_goes_away_costs_turns_and_no_history(gone, redis_server, postgres_server, start):
    server = {"redis": redis_server, "postgres": postgres_server}[gone]
    workers = start(
        2,
        SERVICE_REDIS_URL=redis_server.url,
        SERVICE_POSTGRES_URL=postgres_server.url,
        SERVICE_REQUESTS_PER_MINUTE="0",
        SERVICE_LEASE_S=LEASE_S,
        SERVICE_WAIT_S="10",
    )
    conversation, asked, acknowledged, told = f"without-{gone}", [], [], []

    def ask(i):
        message = f"What is the price of part number n{i} ?"
        asked.append(message)
        answer = workers[i % 2].ask(conversation, message)
        told.append(answer)
        if "done" in answer:
            acknowledged.append(message)

    for i in range(10):
        ask(i)
    assert len(acknowledged) == 10
    stopping = threading.Timer(0.3, server.stop)
    stopping.start()
    for i in range(10, 16):
        ask(i)
        time.sleep(0.1)
    stopping.join()
    for i in range(16, 20):
        ask(i)
    assert workers[0].client.get("/health").status_code == 503
    assert any("done" not in answer for answer in told)
    assert all("done" in answer or answer["error"] for answer in told)
    server.start()
    deadline = time.monotonic() + 30
    while workers[0].client.get("/health").status_code != 200 and time.monotonic() < deadline:
        time.sleep(0.2)
    time.sleep(float(LEASE_S))
    for i in range(20, 30):
        ask(i)
    assert len([m for m in acknowledged if m in asked[22:]]) == 8
    check_history(workers[1].history(conversation), acknowledged, asked)
