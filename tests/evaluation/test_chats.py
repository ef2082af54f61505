from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from llama_index.core.base.llms.types import ChatMessage

from llama_index_condense_plus.evaluation.chats import read_cases
from llama_index_condense_plus.evaluation.reading import DataFileError
from tests.evaluation.log_rows import turn, write

SAMPLE = Path(__file__).parents[2] / "examples" / "sample_log.jsonl"
TALK = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "What is the GTE-3000?"},
    {"role": "assistant", "content": "A printer."},
    {"role": "user", "content": "And its price?"},
    {"role": "assistant", "content": "399 dollars."},
]


def chat_store(folder: Path) -> Path:
    messages = [ChatMessage(role=m["role"], content=m["content"]).model_dump(mode="json") for m in TALK]
    return text(folder, "chat_store.json", json.dumps({"store": {"u1": messages}, "class_name": "SimpleChatStore"}))


def text(folder: Path, name: str, content: str) -> Path:
    path = folder / name
    path.write_text(content, encoding="utf-8")
    return path


def parts(folder: Path) -> Path:
    talk = [{"role": m["role"], "content": [{"type": "text", "text": m["content"]}]} for m in TALK]
    return write(folder / "openai.jsonl", [{"messages": talk}])


FORMS: dict[str, Any] = {
    "chat store": chat_store,
    "OpenAI lines": lambda folder: write(folder / "log.jsonl", [{"messages": TALK}]),
    "OpenAI parts": parts,
    "OpenAI array": lambda folder: text(folder, "log.json", json.dumps([{"messages": TALK}])),
    "one conversation": lambda folder: text(folder, "log.json", json.dumps(TALK)),
    "messages": lambda folder: write(folder / "log.jsonl", [{"session_id": "a", **m} for m in TALK]),
    "CSV": lambda folder: text(
        folder,
        "log.csv",
        "Conversation,Role,Message\n" + "".join(f"1,{m['role']},{m['content']}\n" for m in TALK),
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_chat_log_becomes_follow_ups_with_their_own_answers(form: str, tmp_path: Path) -> None:
    dataset = read_cases(FORMS[form](tmp_path))
    (case,) = dataset.cases
    assert case.question == "And its price?"
    assert [message.content for message in case.history] == ["What is the GTE-3000?", "A printer."]
    texts = {passage.id: passage.text for passage in dataset.passages}
    assert [texts[name] for name in case.gold] == ["399 dollars."]
    assert dataset.note


def test_a_rewrite_log_brings_its_labels(tmp_path: Path) -> None:
    (case,) = read_cases(write(tmp_path / "log.jsonl", [turn("a")])).cases
    assert case.needs_rewrite is True
    assert case.accepted_rewrites == ("What is the price of the GTE-3000?",)


def test_conversations_of_a_csv_file_stay_apart(tmp_path: Path) -> None:
    rows = "conversation,role,content\n1,user,a?\n2,user,b?\n1,assistant,one\n2,user,c?\n"
    (case,) = read_cases(text(tmp_path, "log.csv", rows)).cases
    assert [message.content for message in case.history] == ["b?"]
    assert case.gold == ()


def test_the_sample_log_has_thirty_turns() -> None:
    rows = [json.loads(line) for line in SAMPLE.read_text(encoding="utf-8").splitlines()]
    assert sum(message["role"] == "user" for row in rows for message in row["messages"]) == 30
    assert len(read_cases(SAMPLE).cases) == 30 - len(rows)


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("log.csv", "a,b\n1,2\n", "columns role and content"),
        ("log.json", '{"messages": 3}', "a list of objects"),
        ("log.json", '[{"messages": []}]', "no follow-up question"),
        ("log.jsonl", '{"messages": ["x"]}', "a list of objects"),
        ("log.jsonl", "", "empty"),
    ],
)
def test_what_is_no_chat_log_is_named(name: str, content: str, reason: str, tmp_path: Path) -> None:
    with pytest.raises(DataFileError, match=f"{name}.*{reason}"):
        read_cases(text(tmp_path, name, content))
