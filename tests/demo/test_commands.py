"""What a user of the demo and of ``ask`` sees."""

from __future__ import annotations

import io
import json

import pytest

from llama_index_condense_plus import cli
from llama_index_condense_plus.demo.compare import TOP_K, compare
from llama_index_condense_plus.demo.knowledge import demo_conversations, demo_passages, source_of
from llama_index_condense_plus.demo.play import COMPLETE, WIDTH


@pytest.fixture(autouse=True)
def _no_key(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


@pytest.fixture(scope="module")
def turns(index):
    return [turn for conversation in demo_conversations() for turn in compare(index, conversation, None)]


def test_engine_finds_more_than_the_words_as_typed(turns):
    rows = [turn for turn in turns if turn["kind"] not in COMPLETE]
    first = {way: sum(turn["ways"][way]["rank"] == 1 for turn in rows) for way in ("typed", "ours")}
    assert len(rows) == 13
    assert first["ours"] > first["typed"] + len(rows) / 3
    assert all(len(turn["ways"]["ours"]["found"]) <= TOP_K for turn in rows)


def test_thanks_get_a_word_and_no_search(turns):
    thanks = [turn for turn in turns if turn["kind"] == "thanks"]
    assert thanks
    assert all(not turn["ways"]["ours"]["found"] and turn["answer"] for turn in thanks)


def test_answer_quotes_the_passage_that_was_ranked_first(turns):
    passages = {source_of(node): node.get_content() for node in demo_passages()}
    assert all(turn["answer"] == passages[turn["gold"]] for turn in turns if turn["ways"]["ours"]["rank"] == 1)


def test_first_screen_fits_and_all_shows_every_turn(index, capsys):
    assert cli.main(["demo"]) == 0
    first = capsys.readouterr().out
    assert max(map(len, first.splitlines())) <= WIDTH
    assert "ranked first" in first
    assert "An honest miss" in first
    assert cli.main(["demo", "--all"]) == 0
    assert capsys.readouterr().out.count("why  ") > first.count("why  ")


def test_screen_speaks_chinese(index, capsys):
    assert cli.main(["demo", "--lang", "zh"]) == 0
    assert "找到正确的段落了吗" in capsys.readouterr().out
    assert cli.main(["demo", "--lang", "xx"]) == cli.USAGE_ERROR
    assert "--lang is one of en, zh" in capsys.readouterr().err


def test_demo_prints_json_for_programs(index, capsys):
    assert cli.main(["demo", "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {"conversation", "question", "ways", "answer", "trace"} <= set(rows[0])


def test_server_that_does_not_answer_is_one_line(capsys):
    assert cli.main(["demo", "--api-base", "http://127.0.0.1:1/v1", "--model", "x"]) == cli.USAGE_ERROR
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize("form", [["--json"], []])
def test_ask_chats_over_files_and_keeps_the_index(form, tmp_path, capsys, monkeypatch):
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "a.txt").write_text("The Kestrel costs 2,450 euros.")
    arguments = ["ask", str(docs), "--embed-model", "ngrams", "--store", str(tmp_path / "store"), *form]
    for _ in range(2):
        monkeypatch.setattr("sys.stdin", io.StringIO("What does the Kestrel cost?\n/why\n/reset\n/quit\n"))
        assert cli.main(arguments) == 0
        shown = capsys.readouterr().out
        assert "2,450" in shown
        if form:
            assert json.loads(shown.splitlines()[0])["sources"] == ["a.txt#1"]
        else:
            assert "⌕ What does the Kestrel cost? → a.txt#1" in shown
            assert "decision  no_history" in shown
