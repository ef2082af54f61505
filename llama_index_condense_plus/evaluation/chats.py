"""Chat logs as evaluation cases: LlamaIndex chat stores, OpenAI messages, CSV, and this package's own log."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from llama_index_condense_plus.evaluation.cases import ROLES, Case, Dataset, Message, Passage, load_dataset
from llama_index_condense_plus.evaluation.logged import as_case, read_turns
from llama_index_condense_plus.evaluation.reading import DataFileError, read_json, read_json_lines, read_lines
from llama_index_condense_plus.languages import detect_language

SPEAKERS = {"user": "user", "human": "user", "customer": "user", "assistant": "assistant", "ai": "assistant"}
SPEAKERS |= {"bot": "assistant", "model": "assistant", "agent": "assistant"}
"""What logs call the two speakers; messages of anybody else are left out."""
COLUMNS = {
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
Talk = Sequence[tuple[str, str]]
"""A conversation: role and words of each message."""


def read_cases(path: Path) -> Dataset:
    """Read cases, or a chat log, from a file; its form is found from the content.

    Args:
        path: cases as JSON Lines; ``chat_store.json`` of LlamaIndex's ``SimpleChatStore``; JSON or JSON Lines with
            ``messages`` as OpenAI's API takes them; JSON Lines of messages; CSV with role and content; a rewrite log.

    Raises:
        DataFileError: the file is wrong, of no known form, or holds no follow-up question.
    """
    if path.suffix.lower() == ".csv":
        dataset = _dataset(path, _csv(path))
    elif path.suffix.lower() == ".json":
        dataset = _dataset(path, _json(path))
    else:
        dataset = _lines(path)
    if not dataset.cases:
        raise DataFileError(path, None, "no follow-up question was found: a user message after an earlier round")
    return dataset


def _lines(path: Path) -> Dataset:
    rows = [row for _, row in read_json_lines(path)]
    first = rows[0]
    if first.get("kind") in ("turn", "shadow", "feedback"):
        return Dataset(path.stem, tuple(_logged(case) for turn in read_turns([path]) if (case := as_case(turn))))
    if "messages" in first:
        return _dataset(path, (_talk(path, row["messages"]) for row in rows if "messages" in row))
    if "role" in first:
        return _dataset(path, _grouped(path, rows))
    return load_dataset(path)


def _logged(row: Mapping[str, Any]) -> Case:
    history = tuple(Message(message["role"], message["content"]) for message in row["history"])
    return Case(**{**row, "history": history, "accepted_rewrites": tuple(row["accepted_rewrites"])})


def _json(path: Path) -> Iterator[Talk]:
    value = read_json(path)
    if isinstance(value, dict) and isinstance(value.get("store"), dict):
        talks = list(value["store"].values())
    elif isinstance(value, dict):
        talks = [value.get("messages")]
    elif isinstance(value, list) and value and isinstance(value[0], dict) and "messages" in value[0]:
        talks = [row.get("messages") if isinstance(row, dict) else None for row in value]
    else:
        talks = [value]
    return (_talk(path, talk) for talk in talks)


def _csv(path: Path) -> Iterator[Talk]:
    text = "\n".join(line for _, line in read_lines(path))
    reader = csv.DictReader(io.StringIO(text))
    names = {name.strip().lower(): name for name in reader.fieldnames or ()}
    found = {kind: next((names[name] for name in known if name in names), "") for kind, known in COLUMNS.items()}
    if not found["role"] or not found["content"]:
        raise DataFileError(path, 1, "columns role and content are expected, and conversation if there are several")
    return _grouped(path, [{kind: row.get(name) or "" for kind, name in found.items()} for row in reader])


def _grouped(path: Path, rows: Iterable[Mapping[str, Any]]) -> Iterator[Talk]:
    """Yield the conversations of a flat list of messages, in the order in which they begin."""
    talks: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        name = next((str(row[key]) for key in COLUMNS["conversation"] if row.get(key)), "")
        talks.setdefault(name, []).append(row)
    return (_talk(path, talk) for talk in talks.values())


def _talk(path: Path, messages: Any) -> Talk:
    if not isinstance(messages, list) or not all(isinstance(message, dict) for message in messages):
        raise DataFileError(path, None, "a conversation is a list of objects with role and content")
    spoken = []
    for message in messages:
        role = SPEAKERS.get(str(message.get("role", "")).lower())
        if role and (words := _words(message).strip()):
            spoken.append((role, words))
    return spoken


def _words(message: Mapping[str, Any]) -> str:
    """Return the text of a message: a string, OpenAI's parts, or LlamaIndex's blocks."""
    content = message.get("content", message.get("blocks"))
    if isinstance(content, list):
        parts = (part.get("text") for part in content if isinstance(part, dict))
        return " ".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else ""


def _dataset(path: Path, talks: Iterable[Talk]) -> Dataset:
    """Make each user message after the first round a case, and each answer a passage."""
    cases: list[Case] = []
    passages: dict[str, Passage] = {}  # answers of the same words are one passage
    for number, talk in enumerate(talks, 1):
        history: list[Message] = []
        for place, (role, words) in enumerate(talk, 1):
            name, lang = f"{number}.{place}", detect_language(words)
            answer = talk[place][1] if place < len(talk) and talk[place][0] == ROLES[1] else ""
            if answer:
                passages.setdefault(answer, Passage(f"{number}.{place + 1}", detect_language(answer), "", answer))
            if role == ROLES[0] and history:
                gold = (passages[answer].id,) if answer else ()
                cases.append(Case(name, lang, "chat log", tuple(history), words, gold=gold))
            history.append(Message(role, words))
    return Dataset(path.stem, tuple(cases), tuple(passages.values()), OWN_ANSWERS)
