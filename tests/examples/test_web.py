"""The debug panel: what it shows of a turn, what its settings do, and a browser that uses it."""

from __future__ import annotations

import importlib
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from llama_index.core import VectorStoreIndex

from llama_index_condense_plus import (
    CondensePlusSettings,
    ConfigurationError,
    Cue,
    RetrievalFailedError,
    RewriteStatus,
    TriggerReason,
    Trust,
)
from llama_index_condense_plus.demo.embedding import NgramEmbedding
from llama_index_condense_plus.demo.knowledge import demo_passages
from tests.fakes import ScriptedLLM

WEB = Path(__file__).parents[2] / "examples" / "web"
VIEW = ("wording", "views", "markup", "session")
WIDGETS = ("layout", "panel")
SCREENSHOTS = Path(__file__).parents[2] / "build" / "screenshots"
FIRST, FOLLOW_UP = "Which commuter e-bikes do you build?", "How much does the second one cost?"


@pytest.fixture(scope="module")
def index() -> VectorStoreIndex:
    return VectorStoreIndex(demo_passages(), embed_model=NgramEmbedding())


@pytest.fixture
def web(monkeypatch: pytest.MonkeyPatch) -> Iterator[SimpleNamespace]:
    """The panel's modules but for those with widgets."""
    monkeypatch.syspath_prepend(str(WEB))
    try:
        yield SimpleNamespace(**{name: importlib.import_module(name) for name in VIEW})
    finally:
        for name in (*VIEW, *WIDGETS):
            sys.modules.pop(name, None)


@pytest.fixture
def widgets(web: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """The modules with widgets."""
    monkeypatch.setenv("GRADIO_ANALYTICS_ENABLED", "False")
    pytest.importorskip("gradio", reason="the panel needs gradio: pip install '.[web]'")
    return SimpleNamespace(**{name: importlib.import_module(name) for name in WIDGETS})


@pytest.fixture
def session(web: SimpleNamespace, index: VectorStoreIndex) -> Any:
    session = web.session.Session(web.session.Parts.build(index, None))
    for question in (FIRST, FOLLOW_UP):
        list(session.ask(question, web.session.Toggles()))
    return session


def test_view_tells_what_was_searched_and_why(session):
    first, follow_up = (turn.view for turn in session.turns)
    assert (first.query, first.changed, first.reason) == (FIRST, False, "no_history")
    assert {"original", "rewritten"} <= {search.role for search in follow_up.searches}
    assert follow_up.changed
    assert (follow_up.trust, len(follow_up.reasons)) == ("doubted", 1)
    assert follow_up.rewriter == "rules"
    assert ("ordinal", "second one") in [(kind, text.removeprefix("the ")) for kind, text in follow_up.message if kind]
    assert "".join(text for kind, text in follow_up.diff if kind != "deleted") in [
        search.text for search in follow_up.searches
    ]
    assert "".join(text for kind, text in follow_up.diff if kind != "added") == FOLLOW_UP


def test_view_tells_which_query_found_a_passage_at_which_rank(session):
    view = session.turns[1].view
    best = view.passages[0]
    assert any(found.rpartition("#")[0] for found in best.found_by)
    assert {name for name, _ in view.timings} >= {"decide", "rewrite", "answer"}


def test_view_shows_the_guards_that_stopped_a_model(web, index):
    refused = "I am sorry, but as an AI language model I cannot help with that."
    llm = ScriptedLLM(rewrite=refused)
    session = web.session.Session(web.session.Parts.build(index, llm))
    for question in (FIRST, FOLLOW_UP):
        list(session.ask(question, web.session.Toggles()))
    view = session.turns[1].view
    assert all("sorry" not in search.text for search in view.searches)
    assert any(name == "llm" and "sorry" in said for name, said in view.refused)


@pytest.mark.parametrize(
    ("cues", "expected"),
    [
        ([], [("", "And its price?")]),
        ([Cue("pronoun", "its", 4)], [("", "And "), ("pronoun", "its"), ("", " price?")]),
        ([Cue("short", "And its price?", 0), Cue("opener", "And", 0)], [("opener", "And"), ("", " its price?")]),
        (
            [Cue("long", "And its", 0), Cue("pronoun", "its", 4)],
            [("long", "And "), ("pronoun", "its"), ("", " price?")],
        ),
        ([Cue("odd", "price?!!", 8)], [("", "And its "), ("odd", "price?")]),
    ],
)
def test_marked_cuts_the_message_where_cues_fired(web, cues, expected):
    assert list(web.views.marked("And its price?", cues)) == expected


def test_toggles_default_to_the_defaults_of_the_settings(web):
    assert web.session.Toggles().settings(with_model=True) == CondensePlusSettings(retrieval={"small_talk": "skip"})
    assert web.session.Toggles().settings(with_model=False).rewrite.chain == ("rules", "original")


def test_toggles_offer_every_value_that_the_settings_know(web, widgets):
    for name, values in widgets.layout.CHOICES.items():
        for value in values:
            web.session.Toggles(**{name: value}).settings(with_model=True)


def test_toggle_acts_on_the_next_turn_alone(web, session):
    list(session.ask("And the weight of it?", web.session.Toggles(enabled=False)))
    assert session.turns[2].view.query == "And the weight of it?"
    assert session.turns[2].view.reason == "disabled"
    list(session.ask("And the weight of it?", web.session.Toggles()))
    assert session.turns[3].view.changed


def test_replay_sees_the_history_of_its_turn_and_changes_nothing(web, session):
    replayed = session.replay(session.turns[1], web.session.Toggles())
    assert replayed.query == session.turns[1].view.query
    off = session.replay(session.turns[1], web.session.Toggles(enabled=False))
    assert off.query == FOLLOW_UP
    assert len(session.turns) == 2


def test_instead_searches_the_words_completed_by_hand(web, session):
    other = session.instead(session.turns[1], "What does the Osprey cost?", web.session.Toggles())
    assert other.query == "What does the Osprey cost?"
    assert any(passage.source.startswith("bike/osprey") for passage in other.passages)


def test_view_answers_the_questions_of_a_follow_up_that_finds_nothing(web, widgets, session):
    first, follow_up = (turn.view for turn in session.turns)
    assert first.answers == ()
    assert len(follow_up.answers) == 4
    list(session.ask("How much does it weigh?", web.session.Toggles(enabled=False)))
    off = session.turns[2].view
    assert [answer.answer for answer in off.answers][:2] == [False, True]
    assert off.answers[1].evidence == ("it",)
    panel = widgets.panel.Panel(session.parts)
    say = web.wording.words("zh")
    assert say["untried"] in panel.show(3, "zh", session)["view"]
    searched = panel.instead(3, "zh", session, "What is the deposit for a rental?", *_defaults(web, widgets))
    assert say["untried"] not in searched["view"]
    other = session.instead(session.turns[2], "What is the deposit for a rental?", web.session.Toggles())
    new = web.views.new_sources(off.passages, other.passages)
    assert new
    assert all(source in searched["view"] for source in new)


def _defaults(web, widgets):
    return [getattr(web.session.Toggles(), name) for name in widgets.layout.TOGGLES]


def test_stock_engine_needs_a_model(web, widgets, session, index):
    with pytest.raises(ConfigurationError, match="language model"):
        session.stock(session.turns[1])
    panel = widgets.panel.Panel(session.parts)
    said = panel.stock(2, "en", session)["compared"]
    assert "none is configured" in said
    llm = ScriptedLLM(rewrite="What does the Osprey weigh?", answer="What does the Osprey weigh?")
    with_model = web.session.Session(web.session.Parts.build(index, llm))
    query, passages = with_model.stock(session.turns[1])
    assert query == "What does the Osprey weigh?"
    assert passages


def test_sessions_of_two_visitors_are_apart(web, session):
    other = web.session.Session(session.parts)
    list(other.ask(FOLLOW_UP, web.session.Toggles()))
    assert other.turns[0].view.reason == "no_history"
    assert other.turns[0].history == ()


def test_html_escapes_every_word(web, session):
    evil = "<script>alert(1)</script> & second one?"
    list(session.ask(evil, web.session.Toggles()))
    html = web.markup.turn_html(session.turns[2].view, web.wording.words("en"))
    other = session.instead(session.turns[2], evil, web.session.Toggles())
    html += web.markup.comparison_html(session.turns[2].view, "<b>", evil, other.passages, web.wording.words("en"))
    assert "<script" not in html
    assert "&lt;script" in html


def test_small_talk_gets_a_reply_and_no_search(web, session):
    answer = list(session.ask("Thanks, that helps!", web.session.Toggles()))[-1]
    assert answer
    assert session.turns[2].view.reason == "small_talk"
    assert session.turns[2].view.passages == ()


def test_every_reason_status_and_trust_has_words(web):
    for code in ("en", "zh"):
        say = web.wording.words(code)
        names = [*(f"reason_{reason.value}" for reason in TriggerReason), *(trust.value for trust in Trust)]
        assert all(say[name] for name in [*names, *(f"status_{status.value}" for status in RewriteStatus)])


def test_html_holds_tag_diff_cues_guards_passages_and_timings(web, session):
    view = session.turns[1].view
    html = web.markup.turn_html(view, web.wording.words("zh"))
    assert f"<span>{view.query}</span>" in html
    assert 'cp-doubted">存疑' in html
    for part in ("<ins>", "<mark", "trust", view.passages[0].source, "判断", "耗时", " ms"):
        assert part in html


def test_words_are_the_same_keys_in_both_languages(web):
    assert web.wording.words("en").keys() == web.wording.words("zh").keys()
    assert web.wording.preferred("zh-CN,en;q=0.8") == "zh"
    assert web.wording.preferred("de,en") == "en"


def test_panel_answers_step_by_step_and_speaks_both_languages(web, widgets, session):
    panel = widgets.panel.Panel(session.parts)
    steps = list(panel.ask(FIRST, "zh", None, [], *(getattr(web.session.Toggles(), n) for n in widgets.layout.TOGGLES)))
    assert steps[0]["chat"][0]["content"] == FIRST
    assert "Kestrel" in [step for step in steps if "chat" in step][-1]["chat"][-1]["content"]
    assert steps[-1]["turn"]["choices"] == [1]
    assert "检索" in panel.speak(1, "zh", session)["view"]
    assert list(panel.ask("  ", "en", session, [])) == []


def test_panel_says_what_failed(web, widgets, session, monkeypatch):
    def broken(*_: Any) -> Iterator[str]:
        raise RetrievalFailedError("the index is gone")
        yield

    monkeypatch.setattr(web.session.Session, "ask", broken)
    toggles = [getattr(web.session.Toggles(), name) for name in widgets.layout.TOGGLES]
    *_, last = widgets.panel.Panel(session.parts).ask("And?", "en", session, [], *toggles)
    assert "the index is gone" in last["chat"][-1]["content"]


def test_panel_begins_anew(web, widgets, session):
    panel = widgets.panel.Panel(session.parts)
    cleared = panel.reset("en")
    assert cleared["session"] is None
    assert cleared["turn"]["choices"] == cleared["chat"] == []
    nothing = web.wording.words("en")["nothing"]
    assert nothing in cleared["view"]
    assert nothing in panel.replay(None, "en", None)["compared"]
    assert nothing in panel.instead(None, "en", None, "x")["compared"]
    assert web.wording.words("en")["needs_text"] in panel.instead(2, "en", session, " ")["compared"]


def test_page_has_every_word_of_the_panel(web, widgets, session):
    page = widgets.panel.Panel(session.parts).build()
    made = {component["props"].get("elem_id") for component in page.get_config_file()["components"]}
    assert made >= {*widgets.panel.LABELLED, *widgets.panel.BUTTONS, "view", "compared", "language"}


@pytest.fixture
def browser() -> Iterator[Any]:
    webdriver = pytest.importorskip("selenium.webdriver", reason="needs selenium")
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not chromium or not driver:
        pytest.skip("needs Chromium: apt install chromium chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--lang=en", "--window-size=1500,1250"):
        options.add_argument(argument)
    browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    try:
        yield browser
    finally:
        browser.quit()


@pytest.fixture
def address(web: SimpleNamespace, widgets: SimpleNamespace, index: VectorStoreIndex) -> Iterator[str]:
    page, address = widgets.panel.launch(widgets.panel.Panel(web.session.Parts.build(index, None)), block=False)
    try:
        yield address
    finally:
        page.close()


@pytest.mark.integration
def test_browser_asks_follows_up_and_sees_the_difference_of_a_setting(address, browser):
    waiting = importlib.import_module("selenium.webdriver.support.ui").WebDriverWait
    passing = importlib.import_module("selenium.common").WebDriverException  # a widget that is drawn anew meanwhile
    wait = waiting(browser, 60, ignored_exceptions=[passing])

    def find(selector: str) -> Any:
        return browser.find_element("css selector", selector)

    def shot(name: str) -> None:
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        browser.save_screenshot(str(SCREENSHOTS / f"{name}.png"))

    def ask(question: str, number: int) -> str:
        wait.until(lambda _: find("#message textarea")).send_keys(question)
        find("#send").click()
        wait.until(lambda _: len(browser.find_elements("css selector", "#turn input")) == number)
        wait.until(lambda _: find("#instead textarea, #instead input").get_attribute("value") in find("#view").text)
        return str(wait.until(lambda _: find("#view .cp-tag span").text))

    browser.get(address)
    wait.until(lambda _: find("#send").text == "Send")
    assert ask(FIRST, 1) == FIRST
    rewritten = ask(FOLLOW_UP, 2)
    assert "Kestrel" in rewritten
    assert "ordinal" in find("#view").text
    shot("follow-up")

    field = find("#instead textarea, #instead input")
    field.clear()
    field.send_keys("What does the Osprey cost?")
    find("#search").click()
    wait.until(lambda _: "bike/osprey-price" in find("#compared").text)
    browser.execute_script("document.querySelector('#compared').scrollIntoView({block: 'end'})")
    shot("instead")

    find("#stock").click()
    wait.until(lambda _: "none is configured" in find("#compared").text)

    find("#enabled input").click()
    find("#replay").click()
    wait.until(lambda _: "disabled" in find("#compared").text)
    shot("replay")
    assert ask(FOLLOW_UP, 3) == FOLLOW_UP
    assert "disabled" in find("#view").text
    shot("off")

    browser.find_elements("css selector", "#language input")[1].click()
    wait.until(lambda _: find("#send").text == "发送")
    assert "判断" in find("#view").text
    shot("chinese")
