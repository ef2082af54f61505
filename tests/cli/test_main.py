import importlib
import json
import sys

import pytest

from llama_index_condense_plus import cli
from llama_index_condense_plus._version import __version__

HISTORY = "Which plans are there?\nThere are Basic and Pro.\n"


@pytest.fixture
def history(tmp_path):
    file = tmp_path / "history.txt"
    file.write_text(HISTORY)
    return str(file)


@pytest.mark.parametrize("command", list(cli.COMMANDS))
def test_every_command_explains_itself_with_examples(command, capsys):
    with pytest.raises(SystemExit) as stop:
        cli.main([command, "--help"])
    assert stop.value.code == 0
    shown = capsys.readouterr().out
    assert "examples:" in shown
    assert "--json" in shown


def test_main_without_a_command_prints_the_help(capsys):
    assert cli.main([]) == cli.USAGE_ERROR
    shown = capsys.readouterr().out
    assert all(command in shown for command in cli.COMMANDS)


def test_main_prints_the_version(capsys):
    with pytest.raises(SystemExit):
        cli.main(["--version"])
    assert __version__ in capsys.readouterr().out


def test_main_refuses_an_unknown_command(capsys):
    with pytest.raises(SystemExit) as stop:
        cli.main(["chat"])
    assert stop.value.code == cli.USAGE_ERROR
    assert "explain" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["demo", "--api-base", "http://127.0.0.1:1/v1"], "--model"),
        (["demo", "--model", "x"], "OPENAI_API_KEY"),
        (["ask", "/nowhere"], "/nowhere"),
        (["explain", "q", "--history", "/nowhere.txt"], "/nowhere.txt"),
    ],
)
def test_main_says_what_is_wrong_in_one_line(arguments, words, capsys, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert cli.main(arguments) == cli.USAGE_ERROR
    error = capsys.readouterr().err.strip().splitlines()[-1]
    assert error.startswith(f"condense-plus {arguments[0]}: ")
    assert words in error


def test_main_says_which_extra_is_missing(capsys, monkeypatch):
    monkeypatch.delitem(sys.modules, "llama_index_condense_plus.demo.play", raising=False)
    monkeypatch.setitem(sys.modules, "rich", None)
    assert cli.main(["demo"]) == cli.USAGE_ERROR
    assert "rich is missing: pip install 'llama-index-condense-plus[demo]'" in capsys.readouterr().err


@pytest.mark.parametrize(("error", "code"), [(KeyboardInterrupt, cli.INTERRUPTED), (BrokenPipeError, 0)])
def test_main_ends_quietly_when_interrupted_or_read_no_further(error, code, monkeypatch):
    def run(arguments):
        raise error

    monkeypatch.setattr(cli.os, "dup2", lambda *_: None)
    monkeypatch.setattr(importlib.import_module(cli.COMMANDS["explain"][0]), "run", run)
    assert cli.main(["explain", "q"]) == code


def test_main_says_in_one_line_that_the_model_failed(capsys, monkeypatch):
    openai = pytest.importorskip("openai")

    def run(arguments):
        raise openai.APIConnectionError(request=None)

    monkeypatch.setattr(importlib.import_module(cli.COMMANDS["explain"][0]), "run", run)
    assert cli.main(["explain", "q"]) == cli.FAILURE
    error = capsys.readouterr().err
    assert error.startswith("condense-plus explain: the language model failed: Connection error. Check --api-base")
    assert error.count("\n") == 1


def test_explain_prints_five_lines_and_the_rest_on_demand(history, capsys, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert cli.main(["explain", "And the price of Pro?", "--history", history]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["message", "decision", "rewrite", "searched", "found"]
    assert cli.main(["explain", "And the price of Pro?", "--history", history, "--why"]) == 0
    more = capsys.readouterr().out.splitlines()
    assert len(more) > len(lines)
    assert sum(line.startswith("check") for line in more) == 4


def test_explain_shows_forged_lines_as_words(history, capsys):
    assert cli.main(["explain", "price?\r\n\x1b[2Jsearched forged", "--history", history, "--why"]) == 0
    shown = capsys.readouterr().out
    assert "\x1b" not in shown
    assert not any(line.startswith("searched forged") for line in shown.splitlines())


def test_explain_prints_the_trace_as_json(history, capsys, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert cli.main(["explain", "How much does it cost?", "--history", history, "--json"]) == 0
    trace = json.loads(capsys.readouterr().out)
    assert trace["message"] == "How much does it cost?"
    assert trace["decision"]["rewrite"] is True
    assert trace["search_query"]


def test_explain_reads_settings_from_a_file(history, tmp_path, capsys):
    settings = tmp_path / "settings.toml"
    settings.write_text('[trigger]\nmode = "never"\n')
    arguments = ["explain", "How much does it cost?", "--history", history, "--settings", str(settings), "--json"]
    assert cli.main(arguments) == 0
    assert json.loads(capsys.readouterr().out)["decision"]["rewrite"] is False


def test_explain_searches_a_folder_and_the_question_completed_by_hand(tmp_path, history, capsys):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.txt").write_text("The Kestrel costs 2,450 euros.")
    (tmp_path / "docs" / "b.txt").write_text("The hut sleeps twelve.")
    arguments = ["explain", "How many beds?", "--docs", str(tmp_path / "docs"), "--embed-model", "ngrams"]
    arguments += ["--history", history, "--instead", "What does the Kestrel cost?"]
    assert cli.main(arguments) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith("instead 1") and "Kestrel costs" in line for line in lines)
    assert any("completed by hand find more? no" in line for line in lines)
    assert cli.main([*arguments, "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["diagnosis"][-1] == {"question": "by_hand_finds_more", "answer": False, "evidence": []}
    assert printed["instead"]["query"] == "What does the Kestrel cost?"
    assert "Kestrel" in json.dumps(printed["instead"]["nodes"][0])


def test_explain_needs_files_for_the_question_completed_by_hand(capsys):
    assert cli.main(["explain", "q", "--instead", "What does the Kestrel cost?"]) == cli.USAGE_ERROR
    assert "--docs" in capsys.readouterr().err
