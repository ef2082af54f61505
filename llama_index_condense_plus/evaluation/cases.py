"""Evaluation cases and passages: their types, and reading them from JSON Lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import field, replace
from importlib.resources import as_file, files
from pathlib import Path
from typing import Literal, TypeVar

from llama_index.core.base.llms.types import ChatMessage
from pydantic import TypeAdapter
from pydantic.dataclasses import dataclass

from llama_index_condense_plus.evaluation.reading import STRICT, DataFileError, Text, checked, read_json_lines
from llama_index_condense_plus.languages import detect_language

PASSAGES_FILE = "passages.jsonl"
"""File with the passages, beside the file with the cases."""


@dataclass(frozen=True, config=STRICT)
class Message:
    """One earlier message."""

    role: Literal["user", "assistant"]
    content: Text


@dataclass(frozen=True, config=STRICT)
class Case:
    """One follow-up question with what is known about its right rewrite.

    Attributes:
        category: what makes the question hard, for example ``ellipsis``.
        history: the conversation before the question, oldest first.
        accepted_rewrites: rewrites a careful person accepts, the best first; empty if unknown.
        must_contain: terms that a right query holds; ``|`` separates alternatives of one term.
        must_not_contain: terms that a right query does not hold.
        needs_rewrite: whether the question cannot be searched alone; None if unknown.
        gold: ids of the passages that answer it; empty if unknown, or if nothing is to be searched.
        aliases: entries for the alias table that the case expects.
    """

    question: Text
    history: tuple[Message, ...] = ()
    id: Text = ""
    lang: str = ""
    category: str = "all"
    accepted_rewrites: tuple[Text, ...] = ()
    must_contain: tuple[Text, ...] = ()
    must_not_contain: tuple[Text, ...] = ()
    needs_rewrite: bool | None = None
    gold: tuple[Text, ...] = ()
    aliases: Mapping[str, str] = field(default_factory=dict)

    def chat_history(self) -> list[ChatMessage]:
        """Return the history as LlamaIndex messages."""
        return [ChatMessage(role=message.role, content=message.content) for message in self.history]


@dataclass(frozen=True, config=STRICT)
class Passage:
    """One passage of the corpus."""

    id: Text
    text: Text
    title: str = ""
    lang: str = ""


@dataclass(frozen=True)
class Dataset:
    """Cases, and the corpus that answers them.

    Attributes:
        name: shown in reports.
        cases: the cases in the file's order.
        passages: the corpus; empty: retrieval is not measured.
        note: what a reader of the figures has to know about the labels.
    """

    name: str
    cases: tuple[Case, ...]
    passages: tuple[Passage, ...] = ()
    note: str = ""

    @property
    def aliases(self) -> dict[str, str]:
        """Every case's aliases in one table."""
        return {alias: name for case in self.cases for alias, name in case.aliases.items()}

    def sampled(self, limit: int | None) -> Dataset:
        """Return ``limit`` cases that keep the shares of categories and languages; None: all."""
        sizes = Counter((case.category, case.lang) for case in self.cases)
        seen: Counter[tuple[str, str]] = Counter()
        order = []
        for index, case in enumerate(self.cases):
            stratum = case.category, case.lang
            order.append(((seen[stratum] + 0.5) / sizes[stratum], index))
            seen[stratum] += 1
        chosen = sorted(index for _, index in sorted(order)[:limit])
        return replace(self, cases=tuple(self.cases[i] for i in chosen))


@dataclass(frozen=True)
class Outcome:
    """What an engine did with one case.

    Attributes:
        query: what was searched first; empty if the engine failed.
        rewrite_asked: whether the engine wanted a rewrite.
        reason: why, in the engine's words.
        rewriter: who made the query.
        trust: verdict on the rewrite, if there was one.
        attempts: every rewrite that was considered, and the verdict on it.
        lists: every searched query with the ids it found, best first.
        nodes: ids of the passages given to the answer, best first.
        error: why the engine failed: an exception's class and message.
    """

    case_id: str
    query: str = ""
    rewrite_asked: bool = False
    reason: str = ""
    rewriter: str = ""
    trust: str = ""
    attempts: tuple[tuple[str, str], ...] = ()
    lists: tuple[tuple[str, tuple[str, ...]], ...] = ()
    nodes: tuple[str, ...] = ()
    latency_s: float = 0.0
    llm_calls: int = 0
    error: str = ""


def shipped_dataset() -> Dataset:
    """Return the cases and the corpus that come with this package: a regression test, no evidence of quality."""
    with as_file(files(__package__) / "data" / "cases.jsonl") as path:
        return replace(load_dataset(path), name="shipped")


def load_dataset(path: Path) -> Dataset:
    """Read cases from JSON Lines, and the corpus from ``passages.jsonl`` beside it if there is one.

    Raises:
        DataFileError: a file is wrong; the message gives file, line and reason.
    """
    cases = [
        replace(case, id=case.id or f"line-{line}", lang=case.lang or detect_language(case.question))
        for line, case in _rows(path, TypeAdapter(Case))
    ]
    corpus = path.with_name(PASSAGES_FILE)
    passages = load_passages(corpus) if corpus.exists() and corpus != path else ()
    return Dataset(path.stem, tuple(cases), passages)


def load_passages(path: Path) -> tuple[Passage, ...]:
    """Read a corpus from JSON Lines.

    Raises:
        DataFileError: the file is wrong; the message gives file, line and reason.
    """
    return tuple(passage for _, passage in _rows(path, TypeAdapter(Passage)))


Row = TypeVar("Row", Case, Passage)


def _rows(path: Path, kind: TypeAdapter[Row]) -> Iterator[tuple[int, Row]]:
    used = set()
    for line, values in read_json_lines(path):
        row = checked(kind, path, line, values)
        if row.id in used:
            raise DataFileError(path, line, f"the id {row.id} was used before")
        used |= {row.id} - {""}
        yield line, row
