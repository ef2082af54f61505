"""The debug panel: what the page is told of a turn, and a browser that uses it."""

from __future__ import annotations

import json
import shutil
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from llama_index.core import VectorStoreIndex
from llama_index.core.memory import ChatMemoryBuffer

from llama_index_condense_plus import CondensePlusSettings, Cue, QueryRole, RewriteStatus, TriggerReason, Trust
from llama_index_condense_plus.demo.compare import make_engine
from llama_index_condense_plus.demo.embedding import NgramEmbedding
from llama_index_condense_plus.demo.knowledge import demo_passages
from tests.fakes import ScriptedLLM

testclient = pytest.importorskip("starlette.testclient", reason="the panel needs starlette: pip install '.[web]'")
WEB = Path(__file__).parents[2] / "examples" / "web"
FIRST, FOLLOW_UP = "Which commuter e-bikes do you build?", "How much does the second one cost?"


@pytest.fixture(scope="module")
def index() -> VectorStoreIndex:
    return VectorStoreIndex(demo_passages(), embed_model=NgramEmbedding())


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.syspath_prepend(str(WEB))
    import panel  # noqa: PLC0415 - found on the path set above

    yield panel
    sys.modules.pop("panel", None)


class Page:
    """What the page asks, without a browser."""

    def __init__(self, app: Any) -> None:
        self.client = testclient.TestClient(app, base_url="http://localhost")

    def ask(self, message: str, talk: str = "a", **settings: Any) -> dict[str, Any]:
        response = self.client.post(f"/conversations/{talk}", json={"message": message, "settings": settings})
        lines = [json.loads(line) for line in response.text.splitlines()]
        assert lines[-1].get("error") or "".join(line["piece"] for line in lines[:-1]) == lines[-1]["turn"]["answer"]
        return lines[-1].get("turn") or lines[-1]

    def compare(self, number: int, way: str, text: str = "", **settings: Any) -> Any:
        body = {"text": text, "settings": settings}
        return self.client.post(f"/conversations/a/turns/{number}/{way}", json=body)

    def read(self, talk: str = "a") -> dict[str, Any]:
        return self.client.get(f"/conversations/{talk}").json()

    def data(self, path: str = "/") -> dict[str, Any]:
        page = self.client.get(path).text
        return json.loads(page.partition('id="data">')[2].partition("</script>")[0])


@pytest.fixture
def page(module: Any, index: VectorStoreIndex) -> Page:
    return Page(module.Panel(index).app())


def test_a_turn_tells_what_was_searched_and_why(page):
    assert page.ask(FIRST)["query"] == FIRST
    turn = page.ask(FOLLOW_UP)
    rewrite = turn["trace"]["rewrite"]
    assert (rewrite["trust"], rewrite["rewriter"]) == ("doubted", "rules")
    assert rewrite["reasons"]
    assert "".join(text for kind, text in turn["diff"] if kind != "added") == FOLLOW_UP
    assert turn["passages"][0]["found_by"]
    assert len(turn["questions"]) == 4
    assert all(Cue(**cue).text in FOLLOW_UP for cue in turn["trace"]["decision"]["cues"])


def test_settings_act_on_the_next_turn_alone(page):
    page.ask(FIRST)
    off = page.ask(FOLLOW_UP, enabled=False)
    assert (off["query"], off["trace"]["decision"]["reason"]) == (FOLLOW_UP, "disabled")
    assert page.ask("And the weight of it?")["trace"]["decision"]["rewrite"]


def test_every_setting_shown_is_one_of_the_engine(page):
    for option in page.data()["options"]:
        for value in option["choices"] or [True, False]:
            assert page.ask(FIRST, **{option["name"]: value})["answer"]
    assert {option["name"]: option["default"] for option in page.data()["options"]}["trigger.mode"] == (
        CondensePlusSettings().trigger.mode
    )


def test_replay_and_a_question_by_hand_change_nothing(page):
    page.ask(FIRST)
    page.ask(FOLLOW_UP)
    before = page.read()
    assert page.compare(1, "replay").json()["query"] == before["turns"][1]["query"]
    assert page.compare(1, "replay", enabled=False).json()["query"] == FOLLOW_UP
    by_hand = page.compare(1, "by_hand", "What is the deposit for a rental?").json()
    assert by_hand["query"] == "What is the deposit for a rental?"
    last = by_hand["questions"][-1]
    assert (last["question"], last["answer"]) == ("by_hand_finds_more", True)
    assert set(last["evidence"]) <= {passage["source"] for passage in by_hand["passages"]}
    assert page.read() == before
    assert page.compare(7, "replay").status_code == 404


def test_stock_engine_needs_a_model(module, index, page):
    page.ask(FIRST)
    assert page.compare(0, "stock").status_code == 409
    assert page.data()["model"] == ""
    with_model = Page(module.Panel(index, ScriptedLLM(rewrite="What does the Osprey weigh?", answer="8 kg")).app())
    with_model.ask(FIRST)
    with_model.ask(FOLLOW_UP)
    stock = with_model.compare(1, "stock").json()
    assert stock["query"] == "What does the Osprey weigh?"
    assert stock["passages"]


def test_conversations_are_apart(page):
    page.ask(FIRST)
    assert page.ask(FOLLOW_UP, talk="b")["trace"]["decision"]["reason"] == "no_history"
    assert [len(page.read(talk)["turns"]) for talk in "abc"] == [1, 1, 0]


def test_small_talk_gets_a_reply_and_no_search(page):
    page.ask(FIRST)
    turn = page.ask("Thanks, that helps!")
    assert turn["answer"]
    assert (turn["trace"]["decision"]["reason"], turn["passages"]) == ("small_talk", [])


def test_a_failure_is_told(page):
    assert "empty" in page.ask("   ")["error"]


def _logged(index: VectorStoreIndex, log: Path) -> Path:
    engine = make_engine(index, None, log={"enabled": True, "path": log})
    engine = engine.for_conversation(ChatMemoryBuffer.from_defaults())
    for question in (FIRST, FOLLOW_UP):
        engine.chat(question)
    engine._log.close()  # what waits is written
    return log


def test_a_row_of_the_log_is_searched_again(page, index, tmp_path):
    row = json.loads(_logged(index, tmp_path / "log.jsonl").read_text(encoding="utf-8").splitlines()[-1])
    loaded = page.client.post("/conversations/l/load", json={"row": row}).json()
    assert loaded["before"][0]["content"] == FIRST
    assert loaded["turns"][0]["logged"] == row["rewritten"]
    assert loaded["turns"][0]["trace"]["message"] == FOLLOW_UP
    assert page.ask("And its weight?", talk="l")["trace"]["decision"]["rewrite"]
    for wrong in ({}, {**row, "content": "none"}):
        assert page.client.post("/conversations/l/load", json={"row": wrong}).status_code == 422


def test_a_shared_page_holds_the_conversation_and_runs_nothing_of_it(page):
    evil = "<script>alert(1)</script> & “second”?"
    page.ask(evil)
    html = page.client.get("/conversations/a/share")
    assert "attachment" in html.headers["content-disposition"]
    assert "<script>alert" not in html.text
    assert page.data("/conversations/a/share")["saved"]["turns"][0]["trace"]["message"] == evil


def test_other_sites_cannot_reach_the_panel(page):
    assert page.client.get("/", headers={"host": "evil.example"}).status_code == 400


def test_every_reason_status_and_trust_has_words_in_both_languages(page):
    words = page.data()["words"]
    names = [*(f"reason_{reason.value}" for reason in TriggerReason), *(trust.value for trust in Trust)]
    names += [f"status_{status.value}" for status in RewriteStatus] + [f"role_{role.value}" for role in QueryRole]
    assert all(len(words[name]) == 2 and all(words[name]) for name in names)


@contextmanager
def served(app: Any) -> Iterator[str]:
    """Serve an application; what is yielded is its address."""
    uvicorn = pytest.importorskip("uvicorn")
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        thread.join(0.05)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    thread.join(10)


@pytest.fixture
def address(module: Any, index: VectorStoreIndex) -> Iterator[str]:
    with served(module.Panel(index).app()) as address:
        yield address


@pytest.fixture
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright")
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if not chromium:
        pytest.skip("needs Chromium: apt install chromium")
    with playwright.sync_playwright() as started:
        launched = started.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        context = launched.new_context(locale="en-GB", viewport={"width": 1280, "height": 800})
        context.set_default_timeout(90_000)  # a machine may be busy
        yield context
        launched.close()


def test_browser_follows_up_reloads_compares_and_saves(address, browser, tmp_path):
    page = browser.new_page()
    page.goto(address)
    assert page.locator("#stock").is_disabled()
    assert "language model" in page.locator("#stock").get_attribute("title")
    for question in (FIRST, FOLLOW_UP):  # by keyboard alone: the field has the focus
        page.keyboard.type(question)
        page.keyboard.press("Enter")
        page.locator(".me[aria-current=true]", has_text=question).wait_for()
    assert page.locator("#turn .doubted").inner_text() == "doubted"
    assert "without a model" in page.locator("#turn").inner_text()
    assert page.locator("#replay").bounding_box()["y"] < 800, "the actions are above the fold"
    page.reload()
    page.locator(".me[aria-current=true]", has_text=FOLLOW_UP).wait_for()
    page.fill("#instead", "What is the deposit for a rental?")
    page.press("#instead", "Enter")
    page.locator("#compared", has_text="only here").wait_for()
    assert "Does the question completed by hand find more?\tyes" in page.locator("#details").inner_text()
    page.uncheck("#enabled")
    page.click("#replay")
    page.locator("#compared", has_text="with the current settings").wait_for()
    page.click("#language")
    assert page.locator("#turn .doubted").inner_text() == "存疑"
    assert "不用模型的改写" in page.locator("#turn").inner_text()
    assert not page.locator("#enabled").is_checked()
    with page.expect_download() as saving:
        page.click("#share")
    saving.value.save_as(tmp_path / "saved.html")
    page.goto((tmp_path / "saved.html").as_uri())
    assert page.locator(".me").all_inner_texts()[1].startswith(FOLLOW_UP)
    assert not page.locator("#ask").is_visible()


def test_browser_shows_all_of_it_in_400_pixels_and_on_keys(address, browser):
    page = browser.new_page()
    page.set_viewport_size({"width": 400, "height": 800})
    page.goto(address)
    page.locator("#try button").first.focus()
    for _ in range(2):
        page.keyboard.press("Enter")
        page.locator(".me[aria-current=true]").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    page.locator(".me").first.focus()
    page.keyboard.press("Enter")
    assert page.locator(".me:focus").get_attribute("aria-current") == "true", "the focus stays"
    assert page.locator(".me").first.get_attribute("aria-current") == "true"


def test_browser_loads_a_log(address, browser, index, tmp_path):
    log = _logged(index, tmp_path / "log.jsonl")
    page = browser.new_page()
    page.goto(address)
    page.set_input_files("#row", log)
    page.locator("#try button", has_text=FOLLOW_UP).click()
    page.locator("#turn", has_text="The log says").wait_for()
    assert page.locator(".me").count() == 2


@pytest.mark.parametrize(
    ("rewrite", "trust"),
    [
        ("How much does the Kestrel cost?", "trusted"),
        ("As an AI language model I cannot help with that.", "refused"),
    ],
)
def test_browser_shows_trust_and_the_stock_engine_with_a_model(module, index, browser, rewrite, trust):
    with served(
        module.Panel(index, ScriptedLLM(rewrite=rewrite, answer="The Kestrel costs 1,590 euros.")).app()
    ) as url:
        page = browser.new_page()
        page.goto(url)
        for question in ("How much does the Heron weigh, and the Kestrel?", "How much does the Kestrel one cost?"):
            page.fill("#message", question)
            page.press("#message", "Enter")
            page.locator(".me[aria-current=true]", has_text=question).wait_for()
        shown = page.locator(f"#turn .{trust}")
        assert shown.inner_text() == trust
        colour = "getComputedStyle(document.querySelector('#turn .chip')).backgroundColor"
        assert page.evaluate(colour) != page.evaluate("getComputedStyle(document.body).backgroundColor")
        page.click("#stock")
        page.locator("#compared", has_text="stock engine").wait_for()
