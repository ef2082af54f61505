"""The example service: events, history, keys, health, deletion."""

import asyncio
import json

from config import ServiceConfig
from limits import Gatekeeper

from tests.fakes import ScriptedLLM
from tests.service.conftest import REWRITE


async def ask(client, message, conversation="c", **kwargs):
    return await client.post(f"/conversations/{conversation}/messages", json={"message": message}, **kwargs)


def read(answer):
    blocks = [block.split("\n", 1) for block in answer.text.split("\n\n") if block]
    return [(name.removeprefix("event: "), json.loads(data.removeprefix("data: "))) for name, data in blocks]


async def test_app_streams_the_trace_then_the_answer_then_the_end(served):
    async with served() as client:
        await ask(client, "When is Falkner Hut open?")
        told = read(await ask(client, "How many people can sleep there?"))
        assert [name for name, _ in told] == ["trace", "token", "token", "done"]
        assert told[0][1]["searched"] == REWRITE
        assert told[0][1]["sources"]
        assert told[-1][1]["turn_id"] == told[0][1]["turn_id"]
        history = (await client.get("/conversations/c")).json()
        assert [turn["searched"] for turn in history] == ["When is Falkner Hut open?", REWRITE]
        assert history[1]["answer"] == "the answer"


async def test_app_keeps_conversations_apart_and_deletes_one(served):
    async with served() as client:
        await asyncio.gather(ask(client, "When is Falkner Hut open?", "a"), ask(client, "Where is Corvin Hut?", "b"))
        assert [turn["message"] for turn in (await client.get("/conversations/b")).json()] == ["Where is Corvin Hut?"]
        assert (await client.delete("/conversations/a")).status_code == 204
        assert (await client.get("/conversations/a")).json() == []
        assert len((await client.get("/conversations/b")).json()) == 1


async def test_app_tells_an_error_in_the_stream_and_stores_nothing(served):
    async with served(ScriptedLLM(fail_after_tokens=1, answer="a b c")) as client:
        told = read(await ask(client, "When is Falkner Hut open?"))
        assert told[-1][0] == "error"
        assert "not stored" in told[-1][1]["error"]
        assert (await client.get("/conversations/c")).json() == []


async def test_app_gives_a_hung_answer_up_and_goes_on(served):
    llm = ScriptedLLM(answer="a b c", token_delay_s=30)
    async with served(llm, answer_timeout_s=0.2) as client:
        assert read(await ask(client, "When is Falkner Hut open?"))[-1][0] == "error"
        llm.token_delay_s = 0.0
        assert read(await ask(client, "When is Falkner Hut open?"))[-1][0] == "done"


async def test_app_wants_a_key_and_counts_requests(served):
    async with served(api_keys={"secret": "shop", "newer": "shop"}, requests_per_minute=2) as client:
        assert (await ask(client, "hello")).status_code == 401
        assert (await ask(client, "hello", headers={"X-API-Key": "secre"})).status_code == 401
        keys = ["secret", "newer", "secret"]  # two keys of one caller are counted together
        assert [(await ask(client, "hello", headers={"X-API-Key": key})).status_code for key in keys] == [200, 200, 429]
        assert (
            await ask(client, "hello", headers={"X-API-Key": "guess"})
        ).status_code == 429  # guessing is counted too
        assert (await client.get("/health")).status_code == 200


async def test_gatekeeper_counts_itself_when_redis_is_gone_and_forgets_old_minutes():
    class Gone:
        def pipeline(self, transaction):
            raise ConnectionError

    now = [0.0]
    gate = Gatekeeper(ServiceConfig(_env_file=None), Gone(), clock=lambda: now[0])
    assert [await gate._count("me"), await gate._count("me"), await gate._count("you")] == [1, 2, 1]
    now[0] = 61.0
    assert await gate._count("me") == 1
    assert len(gate._counts) == 1


async def test_app_shows_health_by_store_and_counters(served):
    async with served() as client:
        await ask(client, "When is Falkner Hut open?")

        async def gone():
            raise ConnectionError

        client.parts.checks["postgres"] = gone
        health = await client.get("/health")
        assert (health.status_code, health.json()) == (503, {"postgres": False})
        counters = (await client.get("/metrics")).text
        assert 'condense_plus_turns_total{reason="no_history",status="skipped"}' in counters
        assert "# TYPE condense_plus_turns_total counter" in counters
