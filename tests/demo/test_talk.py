import io
import json

import pytest
from rich.console import Console

from llama_index_condense_plus.demo.compare import make_engine
from llama_index_condense_plus.demo.talk import talk


@pytest.fixture
def chat(index, monkeypatch, capsys):
    def run(*lines, as_json=False):
        monkeypatch.setattr("sys.stdin", io.StringIO("\n".join(lines) + "\n"))
        engine = make_engine(index, None)
        talk(engine, Console(width=200), as_json=as_json)
        return engine, capsys.readouterr().out

    return run


def test_talk_streams_answers_and_shows_what_was_searched(chat):
    _, shown = chat("When is Falkner Hut open?", "How many people can sleep there?")
    assert "from mid June" in shown
    assert "hut/falkner-beds" in shown


def test_talk_explains_the_last_question_on_request(chat):
    _, shown = chat("/why", "When is Falkner Hut open?", "/why")
    assert "Nothing was searched yet." in shown
    assert "decision" in shown


def test_talk_forgets_the_conversation_on_request(chat):
    engine, _ = chat("When is Falkner Hut open?", "/reset")
    assert engine.chat_history == []


def test_talk_stops_on_request(chat):
    engine, _ = chat("/quit", "When is Falkner Hut open?")
    assert engine.chat_history == []


def test_talk_prints_json_lines(chat):
    _, shown = chat("When is Falkner Hut open?", "", "And the price?", as_json=True)
    rows = [json.loads(line) for line in shown.splitlines()]
    assert [row["question"] for row in rows] == ["When is Falkner Hut open?", "And the price?"]
    assert rows[0]["sources"][0] == "hut/falkner-season"
    assert rows[1]["trace"]["decision"]["rewrite"] is True
