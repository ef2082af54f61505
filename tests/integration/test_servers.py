"""Conversations on real Redis and PostgreSQL: two workers, a killed one, and stores that go away."""

import asyncio
import threading
import time
from pathlib import Path

import httpx
import pytest

from tests.integration.servers import Worker, events, stored, until

pytestmark = [pytest.mark.integration, pytest.mark.servers]
pytest.importorskip("fastapi")
pytest.importorskip("redis")
pytest.importorskip("asyncpg")

LEASE_S = "3"
N_TURNS = 500


@pytest.fixture(scope="module", params=["postgres", "both"])
def stores(request, tmp_path_factory):
    names = ["postgres", "redis"] if request.param == "both" else ["postgres"]
    urls = {f"SERVICE_{name.upper()}_URL": request.getfixturevalue(f"{name}_server").url for name in names}
    folder = tmp_path_factory.mktemp("logs")
    logs = {"WORKER_SUMMARY_LOG": str(folder / "summaries"), "CONDENSE_PLUS_LOG__PATH": str(folder / "log.jsonl")}
    limits = {"SERVICE_REQUESTS_PER_MINUTE": "0", "SERVICE_LEASE_S": LEASE_S}
    return {**urls, **logs, **limits, "CONDENSE_PLUS_LOG__ENABLED": "true"}


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


@pytest.fixture(scope="module")
def workers(stores):
    started = [Worker(**stores) for _ in range(2)]
    yield [worker.wait() for worker in started]
    for worker in started:
        worker.stop()


def named(name, stores):
    """Return a conversation's id that no other combination of stores uses."""
    return "-".join([name, *(key.split("_")[1].lower() for key in sorted(stores) if key.endswith("_URL"))])


def check_history(history, acknowledged, asked):
    """Every acknowledged turn is there once, in order, with its own answer; no other one more than once."""
    messages = [turn["message"] for turn in history]
    assert len(messages) == len(set(messages))
    assert [m for m in messages if m in acknowledged] == [m for m in asked if m in acknowledged]
    assert set(acknowledged) <= set(messages) <= set(asked)
    for turn in history:
        number = turn["message"].split("number ")[1].split(" ")[0].rstrip("?")
        assert f"number {number} " in turn["answer"]


def test_two_workers_lose_and_double_nothing_in_alternating_turns(stores, workers):
    asked = [f"What is the price of part number n{i} ?" for i in range(N_TURNS)]
    for i, message in enumerate(asked):
        answer = workers[i % 2].ask(named("alternating", stores), message)
        assert "done" in answer, answer
    history = workers[0].history(named("alternating", stores))
    assert history == workers[1].history(named("alternating", stores))
    assert [turn["message"] for turn in history] == asked
    check_history(history, asked, asked)
    assert all(turn["searched"] and turn["turn_id"] for turn in history)


async def test_simultaneous_turns_on_two_workers_are_never_interleaved(stores, workers):
    asked = [f"What is the price of part number n{i} ?" for i in range(40)]
    async with httpx.AsyncClient(timeout=300) as client:
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
    assert len(acknowledged) > 2
    assert all("done" in answer or answer.get("status") == 409 for answer in told)
    history = workers[0].history(named("together", stores))
    assert {turn["message"] for turn in history} == acknowledged
    check_history(history, acknowledged, [turn["message"] for turn in history])


def test_history_queries_cache_and_summary_survive_a_killed_worker(stores, workers, start):
    (doomed,) = start(1, **stores)
    killed, long = named("killed", stores), named("long", stores)
    doomed.ask(killed, "When is Falkner Hut open, part number n0 ?")
    rewritten = doomed.ask(killed, "How many people can sleep there?")
    assert rewritten["trace"]["status"] == "rewritten", rewritten
    n_turns = 0

    def go_on(worker):
        nonlocal n_turns
        about = f"What does the Falkner{n_turns:02} cost, piece number m{n_turns} of the spring catalogue ?"
        answer = worker.ask(long, about)
        assert "done" in answer, answer
        n_turns += 1
        time.sleep(0.05)
        return answer["text"]

    while "by the summary" not in go_on(doomed):
        assert n_turns < 40

    def left_alone():
        with pytest.raises(httpx.HTTPError):
            doomed.ask(killed, "When is Corvin Hut open, part number n2 , slowly ?")

    reader = threading.Thread(target=left_alone)
    reader.start()
    time.sleep(0.9)
    doomed.kill()
    reader.join()
    history = workers[1].history(killed)
    assert [turn["message"] for turn in history][-1] == "How many people can sleep there?"
    assert history[1]["turn_id"] == rewritten["trace"]["turn_id"]
    # once the dead one's lease is over
    assert "done" in workers[1].ask(killed, "When is Brindle Hut open, part number n3 ?")
    assert len(workers[0].history(killed)) == 3
    for message in ("When is Falkner Hut open, part number n0 ?", "How many people can sleep there?"):
        workers[1].ask(named("copy", stores), message)
    assert "condense_plus_cache_hits_total 1.0" in workers[1].client.get("/metrics").text
    assert all("by the summary" in go_on(workers[i % 2]) for i in range(12))
    assert len(workers[1].history(long)) == n_turns
    summarised = Path(stores["WORKER_SUMMARY_LOG"]).read_text().split()
    assert summarised == [f"m{i}" for i in range(len(summarised))]  # each turn once, by whichever worker
    assert n_turns - 12 <= len(summarised) <= n_turns - 4


def test_deletion_on_one_worker_leaves_nothing_anywhere(stores, workers):
    conversation = named("deleted", stores)
    before = stored(stores)
    workers[0].ask(conversation, "When is Zebra77 Hut open, part number n0 ?")
    workers[1].ask(conversation, "How many people can sleep there?")
    workers[0].ask(conversation, "What does Zebra77 Hut cost, part number n2 ?")
    history = workers[1].history(conversation)
    assert history == workers[0].history(conversation)
    assert history[1]["status"] == "rewritten"
    log = Path(stores["CONDENSE_PLUS_LOG__PATH"])
    until(lambda: log.read_text().count("Zebra77") >= 3, "the log's rows")
    assert "Zebra77" in "".join(stored(stores))
    assert len(stored(stores)) > len(before)
    assert workers[1].client.delete(f"/conversations/{conversation}").status_code == httpx.codes.NO_CONTENT
    assert [worker.history(conversation) for worker in workers] == [[], []]
    assert stored(stores) == before
    assert "Zebra77" not in log.read_text()
    assert "done" in workers[0].ask(conversation, "When is Corvin Hut open, part number n3 ?")


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
