"""What the example service refuses: long and slow bodies, other callers' conversations, path and header tricks."""

import asyncio
import json

import pytest

SHOP, BANK = {"X-API-Key": "of the shop"}, {"X-API-Key": "of the bank"}
KEYS = {"of the shop": "shop", "of the bank": "bank"}


async def ask(client, message, conversation="c", **kwargs):
    return await client.post(f"/conversations/{conversation}/messages", json={"message": message}, **kwargs)


async def raw(client, path, *, headers=(), body=(b"",), method="GET"):
    """Send a request as a careless or hostile server front would hand it on; return status and body."""
    parts = [{"type": "http.request", "body": part, "more_body": i < len(body) - 1} for i, part in enumerate(body)]
    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "root_path": "",
        "headers": [(b"content-type", b"application/json"), *headers],
        "client": ("10.0.0.1", 1),
        "server": ("service", 80),
    }
    sent = []

    async def receive():
        return parts.pop(0) if parts else await asyncio.Event().wait()

    async def send(message):
        sent.append(message)

    await client.app(scope, receive, send)
    return sent[0]["status"], b"".join(message.get("body", b"") for message in sent[1:]), len(parts)


async def test_app_refuses_what_is_too_long_or_blank(served):
    async with served(max_message_chars=40, max_body_bytes=2000) as client:
        assert (await ask(client, "x" * 41)).status_code == 422
        assert (await ask(client, "x" * 4000)).status_code == 413
        assert (await ask(client, "  ")).status_code == 422
        assert (await ask(client, None)).status_code == 422
        assert (await client.get("/conversations/c")).json() == []


async def test_app_stops_reading_a_body_that_declares_no_length(served):
    async with served(max_body_bytes=2000) as client:
        status, _, unread = await raw(
            client, "/conversations/c/messages", method="POST", body=[b"x" * 1000 for _ in range(100)]
        )
        assert (status, unread) == (413, 97)


async def test_app_gives_up_on_a_body_that_never_ends(served):
    async with served(body_timeout_s=0.05) as client:
        hanging = [{"type": "http.request", "body": b"{", "more_body": True}]
        sent = []

        async def receive():
            return hanging.pop() if hanging else await asyncio.Event().wait()

        async def send(message):
            sent.append(message)

        scope = {"type": "http", "method": "POST", "path": "/conversations/c/messages", "headers": []}
        await client.app(scope, receive, send)
        assert sent[0]["status"] == 408


@pytest.mark.parametrize(
    "path",
    [
        "/conversations/../health/messages",
        "/conversations/a%2Fb/messages",
        "/conversations/..%2f..%2fetc%2fpasswd/messages",
        "/conversations/%2e%2e/messages",
        "/conversations/bank%3Ac/messages",
        "/conversations/bank:c/messages",
        "/conversations/c%00/messages",
        "/conversations/c%0a/messages",
        "/conversations/c*/messages",
        "/conversations/%C3%A9/messages",
        "/conversations//messages",
        "/conversations/" + "c" * 65 + "/messages",
    ],
)
async def test_app_takes_no_path_trick_for_a_conversation(served, path):
    async with served() as client:
        answer = await client.post(path, json={"message": "hello"})
        assert answer.status_code in {404, 422}
        assert await client.parts.engine.for_conversation("c").ahistory_with_queries() == []


async def test_app_shows_callers_only_their_own_conversations(served):
    async with served(api_keys=KEYS) as client:
        await ask(client, "When is Falkner Hut open?", headers=SHOP)
        await ask(client, "Where is Corvin Hut?", headers=BANK)
        for caller, message in ((SHOP, "When is Falkner Hut open?"), (BANK, "Where is Corvin Hut?")):
            history = (await client.get("/conversations/c", headers=caller)).json()
            assert [turn["message"] for turn in history] == [message]
        assert (await client.delete("/conversations/c", headers=BANK)).status_code == 204
        assert len((await client.get("/conversations/c", headers=SHOP)).json()) == 1
        for trick in ("shop:c", "shop%3Ac", "../shop/c"):
            answer = await client.get(f"/conversations/{trick}", headers=BANK)
            assert answer.status_code in {404, 422}


@pytest.mark.parametrize("host", [b"x/health?", b"x/metrics#", b"x/health"])
async def test_app_asks_for_the_key_whatever_the_host_header_says(served, host):
    async with served(api_keys=KEYS) as client:
        status, body, _ = await raw(client, "/conversations/c", headers=[(b"host", host)])
        assert (status, json.loads(body)) == (401, {"error": "Send a valid key in X-API-Key."})


async def test_app_counts_by_caller_and_never_stores_a_key(served):
    async with served(api_keys=KEYS, requests_per_minute=1) as client:
        assert [(await ask(client, "hello", headers=SHOP)).status_code for _ in range(2)] == [200, 429]
        assert (await ask(client, "hello", headers=BANK)).status_code == 200
        gate = client.app.state.gate
        assert {key.split(":", 3)[3] for key in gate._counts} == {"shop", "bank"}
