"""Two workers behind the example's nginx.conf, with Redis: turns on either worker, streaming, limits, a dead worker."""

import time

import httpx
import pytest

from tests.integration.servers import Nginx, Worker, events, find

pytestmark = [pytest.mark.integration, pytest.mark.servers]
pytest.importorskip("fastapi")

KEY = {"X-API-Key": "a-long-key"}


@pytest.fixture(scope="module")
def workers(redis_server, postgres_server):
    urls = {"SERVICE_REDIS_URL": redis_server.url, "SERVICE_POSTGRES_URL": postgres_server.url}
    settings = {"SERVICE_API_KEYS": '{"a-long-key": "shop"}', "SERVICE_REQUESTS_PER_MINUTE": "1000"}
    started = [Worker(SERVICE_LEASE_S="3", **urls, **settings) for _ in range(2)]
    yield [worker.wait() for worker in started]
    for worker in started:
        worker.stop()


@pytest.fixture(scope="module")
def client(workers, tmp_path_factory):
    if find("nginx") is None:
        pytest.skip("nginx is not installed (Debian: apt-get install nginx-light)")
    nginx = Nginx(tmp_path_factory.mktemp("nginx") / "conf", [worker.port for worker in workers])
    with httpx.Client(base_url=nginx.url, timeout=120, headers=KEY) as opened:
        yield opened
    nginx.stop()


def ask(client, message, conversation="c"):
    return client.post(f"/conversations/{conversation}/messages", json={"message": message})


def n_turns(worker):
    lines = worker.client.get("/metrics").text.splitlines()
    return sum(float(line.split()[-1]) for line in lines if line.startswith("condense_plus_turns_total{"))


def test_turns_of_one_conversation_are_served_by_both_workers(client, workers):
    asked = [f"What is the price of part number n{i} ?" for i in range(20)]
    assert all("done" in events(ask(client, message)) for message in asked)
    history = client.get("/conversations/c").json()
    assert [turn["message"] for turn in history] == asked
    served = [n_turns(worker) for worker in workers]
    assert sum(served) == 20
    assert min(served) > 0


def test_tokens_pass_as_they_come(client):
    message = {"message": "What is the price of part number n0 , slowly ?"}
    with client.stream("POST", "/conversations/slow/messages", json=message) as answer:
        arrived = [time.monotonic() for line in answer.iter_lines() if line == "event: token"]
    assert len(arrived) > 5
    assert arrived[-1] - arrived[0] > 1.0  # 0.3 s before each: one that held them back would pass them all at once


def test_nginx_refuses_large_bodies_and_the_counters(client):
    assert ask(client, "x" * 40_000).status_code == 413
    assert ask(client, "x" * 20_000).status_code == 413
    assert client.get("/metrics").status_code == 403
    assert client.get("/health").json() == {"postgres": True, "redis": True}


def test_keys_and_paths_are_checked_behind_nginx(client):
    assert client.get("/conversations/c", headers={"X-API-Key": "another"}).status_code == 401
    # nginx turns this into /health, which is open, and shows nothing else
    assert client.get("/conversations/../health").json() == {"postgres": True, "redis": True}
    assert client.get("/conversations/..%2fhealth").status_code in {200, 404, 422}
    answer = client.get("/conversations/c", headers={"X-API-Key": "another", "Host": "x/health?"})
    assert answer.status_code in {400, 401}


def test_address_of_the_client_reaches_the_workers(client, redis_server):
    redis = pytest.importorskip("redis").Redis.from_url(redis_server.url)
    client.get("/conversations/c", headers={"X-API-Key": "another", "X-Forwarded-For": "8.8.8.8"})
    counted = {key.decode().split(":", 3)[3] for key in redis.scan_iter("condense_plus:rate:*")}
    redis.close()
    assert "127.0.0.1" in counted
    assert "8.8.8.8" not in counted
    assert "a-long-key" not in str(counted)


def test_dead_worker_is_passed_over(client, workers):
    workers[0].kill()
    answers = [events(ask(client, f"What is the price of part number n{i} ?", "after")) for i in range(8)]
    assert all("done" in answer for answer in answers)
    assert len(client.get("/conversations/after").json()) == 8
    assert len(client.get("/conversations/c").json()) == 20
