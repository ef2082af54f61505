"""Evaluation cases and passages: their types, and reading them from JSON Lines."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from importlib.resources import as_file, files
from pathlib import Path

from llama_index.core.base.llms.types import ChatMessage

from llama_index_condense_plus.evaluation.reading import DataFileError, Fields, read_json_lines
from llama_index_condense_plus.languages import detect_language

PASSAGES_FILE = "passages.jsonl"
"""File with the passages, beside the file with the cases."""
ROLES = ("user", "assistant")


@dataclass(frozen=True, slots=True)
class Message:
    """One earlier message."""

    role: str
    """``user`` or ``assistant``."""
    content: str
    """The words."""


@dataclass(frozen=True, slots=True)
class Case:
    """One follow-up question with what is known about its right rewrite."""

    id: str
    """Unique name."""
    lang: str
    """Language of the question, for example ``zh``."""
    category: str
    """What makes the question hard, for example ``ellipsis``."""
    history: tuple[Message, ...]
    """The conversation before the question, oldest first."""
    question: str
    """The user's words."""
    accepted_rewrites: tuple[str, ...] = ()
    """Rewrites a careful person accepts, the best first; empty if unknown."""
    must_contain: tuple[str, ...] = ()
    """Terms that a right query holds; ``|`` separates alternatives of one term."""
    must_not_contain: tuple[str, ...] = ()
    """Terms that a right query does not hold."""
    needs_rewrite: bool | None = None
    """Whether the question cannot be searched alone; None if unknown."""
    gold: tuple[str, ...] = ()
    """Ids of the passages that answer it; empty if unknown, or if nothing is to be searched."""
    aliases: Mapping[str, str] = field(default_factory=dict)
    """Entries for the alias table that the case expects."""

    def chat_history(self) -> list[ChatMessage]:
        """Return the history as LlamaIndex messages."""
        return [ChatMessage(role=message.role, content=message.content) for message in self.history]


@dataclass(frozen=True, slots=True)
class Passage:
    """One passage of the corpus."""

    id: str
    """Unique name."""
    lang: str
    """Language, for example ``en``."""
    title: str
    """Heading."""
    text: str
    """Body."""


@dataclass(frozen=True, slots=True)
class Dataset:
    """Cases, and the corpus that answers them."""

    name: str
    """Name shown in reports."""
    cases: tuple[Case, ...]
    """The cases in the file's order."""
    passages: tuple[Passage, ...] = ()
    """The corpus; empty: retrieval is not measured."""
    note: str = ""
    """What a reader of the figures has to know about the labels."""

    @property
    def aliases(self) -> dict[str, str]:
        """Every case's aliases in one table."""
        return {alias: name for case in self.cases for alias, name in case.aliases.items()}

    def sampled(self, limit: int | None) -> Dataset:
        """Return ``limit`` cases that keep the shares of categories and languages; None: all."""
        if limit is None or limit >= len(self.cases):
            return self
        sizes = Counter((case.category, case.lang) for case in self.cases)
        seen: Counter[tuple[str, str]] = Counter()
        order = []
        for index, case in enumerate(self.cases):
            stratum = case.category, case.lang
            order.append(((seen[stratum] + 0.5) / sizes[stratum], index))
            seen[stratum] += 1
        chosen = sorted(index for _, index in sorted(order)[:limit])
        return Dataset(self.name, tuple(self.cases[i] for i in chosen), self.passages, self.note)

    def fingerprint(self) -> str:
        """Return a hash of everything in it."""
        data = [[asdict(item) for item in items] for items in (self.cases, self.passages)]
        return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()[:16]


def shipped_dataset() -> Dataset:
    """Return the cases and the corpus that come with this package: a regression test, no evidence of quality."""
    with as_file(files("llama_index_condense_plus.evaluation") / "data" / "cases.jsonl") as path:
        return load_dataset(path, name="shipped")


def load_dataset(path: Path, *, name: str | None = None) -> Dataset:
    """Read cases from JSON Lines, and the corpus from ``passages.jsonl`` beside it if there is one.

    Raises:
        DataFileError: a file is wrong; the message gives file, line and reason.
    """
    cases: dict[str, Case] = {}
    for line, values in read_json_lines(path):
        case = _case(Fields(path, line, values), f"line-{line}")
        if case.id in cases:
            raise DataFileError(path, line, f"the id {case.id} was used before")
        cases[case.id] = case
    corpus = path.with_name(PASSAGES_FILE)
    passages = load_passages(corpus) if corpus.exists() and corpus != path else ()
    return Dataset(name or path.stem, tuple(cases.values()), passages)


def load_passages(path: Path) -> tuple[Passage, ...]:
    """Read a corpus from JSON Lines.

    Raises:
        DataFileError: the file is wrong; the message gives file, line and reason.
    """
    passages: dict[str, Passage] = {}
    for line, values in read_json_lines(path):
        fields = Fields(path, line, values)
        fields.refuse_unknown(tuple(Passage.__dataclass_fields__))
        passage = Passage(fields.text("id"), fields.text("lang", "und"), fields.text("title", ""), fields.text("text"))
        if passage.id in passages:
            raise DataFileError(path, line, f"the id {passage.id} was used before")
        passages[passage.id] = passage
    return tuple(passages.values())


def _case(fields: Fields, name: str) -> Case:
    fields.refuse_unknown(tuple(Case.__dataclass_fields__))
    history = []
    for message in fields.objects("history"):
        message.refuse_unknown(("role", "content"))
        role = message.text("role")
        if role not in ROLES:
            raise message.error(f"the role of a message is user or assistant, not {role}")
        history.append(Message(role, message.text("content")))
    question = fields.text("question")
    return Case(
        id=fields.text("id", name),
        lang=fields.text("lang", detect_language(question)),
        category=fields.text("category", "all"),
        history=tuple(history),
        question=question,
        accepted_rewrites=fields.texts("accepted_rewrites"),
        must_contain=fields.texts("must_contain"),
        must_not_contain=fields.texts("must_not_contain"),
        needs_rewrite=fields.truth("needs_rewrite"),
        gold=fields.texts("gold"),
        aliases=fields.table("aliases"),
    )
