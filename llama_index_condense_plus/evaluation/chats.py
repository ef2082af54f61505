"""Chat logs as evaluation cases: LlamaIndex chat stores, OpenAI messages, CSV, and this package's own log."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

from llama_index_condense_plus.evaluation.cases import Case, Dataset, Message, Passage, load_dataset
from llama_index_condense_plus.evaluation.logged import KINDS, as_case, read_turns
from llama_index_condense_plus.evaluation.reading import DataFileError, read_json, read_json_lines, read_text
from llama_index_condense_plus.languages import detect_language

USERS = ("user", "human", "customer")
ASSISTANTS = ("assistant", "ai", "bot", "model", "agent")
"""What logs call the two speakers; messages of anybody else are left out."""
COLUMNS: dict[str, tuple[str, ...]] = {
    "conversation": ("conversation", "conversation_id", "session", "session_id", "thread_id", "chat_id"),
    "role": ("role", "speaker", "author", "sender"),
    "content": ("content", "message", "text"),
}
"""What a CSV file may call its columns."""
OWN_ANSWERS = (
    "This log has no corpus and no labels. Its own answers are searched; the answer that followed a question counts as "
    "the right passage."
)
"""Note of a data set made from a chat log."""


def read_cases(path: Path) -> Dataset:
    """Read cases, or a chat log, from a file; its form is found from the content.

    Args:
        path: cases as JSON Lines; ``chat_store.json`` of LlamaIndex's ``SimpleChatStore``; JSON or JSON Lines with
            ``messages`` as OpenAI's API takes them; JSON Lines of messages; CSV with role and content; a rewrite log.

    Raises:
        DataFileError: the file is wrong, of no known form, or holds no follow-up question.
    """
    readers = {".csv": _read_csv, ".json": _read_json}
    found = readers.get(path.suffix.lower(), _read_lines)(path)
    dataset = found if isinstance(found, Dataset) else _own_answers(path, found)
    if not dataset.cases:
        raise DataFileError(path, None, "no follow-up question was found: a user message after an earlier round")
    return dataset


def _read_lines(path: Path) -> Dataset | list[Any]:
    rows = [row for _, row in read_json_lines(path)]
    if rows[0].get("kind") in KINDS:
        return Dataset(path.stem, tuple(case for turn in read_turns([path]) if (case := as_case(turn))))
    if "messages" in rows[0]:
        return [row["messages"] for row in rows if "messages" in row]
    return _by_conversation(rows) if "role" in rows[0] else load_dataset(path)


def _read_json(path: Path) -> list[Any]:
    value = read_json(path)
    if isinstance(value, dict):
        store = value.get("store")
        return list(store.values()) if isinstance(store, dict) else [value.get("messages")]
    if isinstance(value, list) and value and isinstance(value[0], dict) and "messages" in value[0]:
        return [row.get("messages") if isinstance(row, dict) else None for row in value]
    return [value]


def _read_csv(path: Path) -> list[Any]:
    reader = csv.DictReader(io.StringIO(read_text(path)))
    names = {name.strip().lower(): name for name in reader.fieldnames or ()}
    found = {kind: next((names[name] for name in known if name in names), "") for kind, known in COLUMNS.items()}
    if not found["role"] or not found["content"]:
        raise DataFileError(path, 1, "columns role and content are expected, and conversation if there are several")
    return _by_conversation({kind: row.get(name) or "" for kind, name in found.items()} for row in reader)


def _by_conversation(rows: Iterable[Mapping[str, Any]]) -> list[Any]:
    talks: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        name = next((str(row[key]) for key in COLUMNS["conversation"] if row.get(key)), "")
        talks.setdefault(name, []).append(row)
    return list(talks.values())


def _own_answers(path: Path, talks: Sequence[Any]) -> Dataset:
    """Make each user message after the first round a case, and each answer a passage."""
    cases: list[Case] = []
    passages: dict[str, Passage] = {}  # answers of the same words are one passage
    for number, talk in enumerate(talks, 1):
        messages = tuple(_spoken(path, talk))
        for place, (message, answer) in enumerate(zip_longest(messages, messages[1:]), 1):
            gold: tuple[str, ...] = ()
            if answer and answer.role == "assistant":
                passage = Passage(f"{number}.{place + 1}", answer.content)
                gold = (passages.setdefault(answer.content, passage).id,)
            if message.role == "user" and place > 1:
                name, lang = f"{number}.{place}", detect_language(message.content)
                cases.append(Case(message.content, messages[: place - 1], name, lang, "chat log", gold=gold))
    return Dataset(path.stem, tuple(cases), tuple(passages.values()), OWN_ANSWERS)


def _spoken(path: Path, talk: Any) -> Iterator[Message]:
    if not isinstance(talk, list) or not all(isinstance(message, dict) for message in talk):
        raise DataFileError(path, None, "a conversation is a list of objects with role and content")
    for message in talk:
        role, text = str(message.get("role", "")).lower(), _text(message).strip()
        if text and role in (*USERS, *ASSISTANTS):
            yield Message("user" if role in USERS else "assistant", text)


def _text(message: Mapping[str, Any]) -> str:
    """Return the text of a message: a string, OpenAI's parts, or LlamaIndex's blocks."""
    content = message.get("content", message.get("blocks"))
    if isinstance(content, list):
        parts = (part.get("text") for part in content if isinstance(part, dict))
        return " ".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else ""
