"""Reading public data sets of conversational questions as they are published."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from llama_index_condense_plus.evaluation.cases import Case, Dataset, Message, Passage, load_dataset
from llama_index_condense_plus.evaluation.reading import DataFileError, read_json, read_json_lines, read_lines
from llama_index_condense_plus.lexicons.text import content_tokens

REWRITE_FIELDS = 4
"""Columns of the REWRITE corpus: two turns, the follow-up, its rewrite."""
_TABS = re.compile(r"\t+")
SEVERAL = "auto"


def read_dataset(path: Path, format: str = SEVERAL) -> Dataset:  # noqa: A002, the option's name
    """Read any known data set.

    Args:
        path: the file. Its companions (qrels, rewrites, knowledge base) are looked for beside it.
        format: one of ``FORMATS``, or ``auto``: found from the file's content.

    Raises:
        DataFileError: the file is wrong, or of no known format.
    """
    if format == SEVERAL:
        format = _recognised(path)  # noqa: A001
    if format == "condense-plus":
        return load_dataset(path)
    try:
        dataset = FORMATS[format](path)
    except (KeyError, TypeError, IndexError, AttributeError, ValueError) as error:
        if isinstance(error, DataFileError):
            raise
        raise DataFileError(path, None, f"not a {format} file: {_said(error)}") from None
    if not dataset.cases:
        raise DataFileError(path, None, f"no cases were found in this {format} file")
    return dataset


def read_canard(path: Path) -> Dataset:
    """Read CANARD (Elgohary et al. 2019): ``train.json``, ``dev.json``, ``test.json``.

    The first two entries of ``History`` are the article and its section; they become the first round.
    """

    def read(row: dict[str, Any]) -> list[Case]:
        name = f"{row['QuAC_dialog_id']}#{row['Question_no']}"
        return [_case(name, row["History"], row["Question"], row["Rewrite"])]

    return _dataset(path, _each(path, read))


def read_qrecc(path: Path) -> Dataset:
    """Read QReCC (Anantha et al. 2021): ``qrecc_train.json``, ``qrecc_test.json``."""

    def read(row: dict[str, Any]) -> list[Case]:
        context = row.get("Context") or row.get("NO_Context") or []
        rewrite = row.get("Rewrite") or row.get("Truth_rewrite") or ""
        return [_case(f"{row['Conversation_no']}#{row['Turn_no']}", context, row["Question"], rewrite)]

    return _dataset(path, _each(path, read))


def read_rewrite(path: Path) -> Dataset:
    """Read REWRITE (Su et al. 2019), ``corpus.txt``: two turns, the follow-up and its rewrite.

    One tab is documented between them, two are in the published file.
    """
    cases = []
    for number, line in read_lines(path):
        columns = _TABS.split(line)
        if len(columns) != REWRITE_FIELDS:
            raise DataFileError(path, number, f"{REWRITE_FIELDS} columns are expected, not {len(columns)}")
        cases.append(_case(str(number), columns[:2], columns[2], columns[3], lang="zh"))
    return _dataset(path, cases)


def read_cast(path: Path) -> Dataset:
    """Read TREC CAsT topics (Dalton et al. 2019–2021), ``*.json``.

    Rewrites come from ``manual_rewritten_utterance``, or from a table ``*resolved*.tsv`` beside the file. Answers are
    known where turns hold a ``passage``; else the history holds the user's turns alone.
    """
    resolved = {}
    for table in sorted(path.parent.glob("*resolved*.tsv")):
        resolved.update(dict(line.split("\t", 1) for _, line in read_lines(table) if "\t" in line))

    def read(topic: dict[str, Any]) -> list[Case]:
        cases, history = [], list[Message]()
        for turn in topic["turn"]:
            name = f"{topic['number']}_{turn['number']}"
            rewrite = turn.get("manual_rewritten_utterance") or resolved.get(name, "")
            cases.append(_case(name, history, turn["raw_utterance"], rewrite))
            history = [*history, Message("user", turn["raw_utterance"])]
            if turn.get("passage"):
                history = [*history, Message("assistant", turn["passage"])]
        return cases

    return _dataset(path, _each(path, read))


def read_mtrag(path: Path) -> Dataset:
    """Read MTRAG (Katsis et al. 2025): a file of generation tasks, or of retrieval tasks such as ``*_lastturn.jsonl``.

    For retrieval tasks, ``*_questions.jsonl`` gives the user's earlier turns, ``*_rewrite.jsonl`` the rewrites and
    ``qrels/dev.tsv`` the gold passages. Generation tasks bring history and contexts of their own.
    """
    rows = [row for _, row in read_json_lines(path)]
    if "input" in rows[0]:
        cases = list(_each(path, lambda row: [_mtrag_task(row)], rows))
        texts = {c["document_id"]: c for row in rows for c in row.get("contexts", ())}
        passages = [Passage(i, "en", c.get("title") or "", c["text"]) for i, c in texts.items() if c["text"].strip()]
        return Dataset(path.stem, tuple(cases), tuple(passages))
    stem = path.stem.rsplit("_", 1)[0]
    questions, rewrites = (
        _by_id(path.with_name(f"{stem}_questions.jsonl")),
        _by_id(path.with_name(f"{stem}_rewrite.jsonl")),
    )
    gold: dict[str, list[str]] = {}
    qrels = path.parent / "qrels" / "dev.tsv"
    for _, line in read_lines(qrels) if qrels.exists() else ():
        columns = line.split("\t")
        if columns[-1].isdigit() and int(columns[-1]) > 0:
            gold.setdefault(columns[0], []).append(columns[1])

    def read(row: dict[str, Any]) -> list[Case]:
        turns = [t for line in questions.get(row["_id"], row["text"]).split("\n") if (t := _user_turn(line))]
        history = [Message("user", turn) for turn in turns[:-1]]
        rewrite = _user_turn(rewrites.get(row["_id"], ""))
        return [_case(row["_id"], history, turns[-1], rewrite, gold=gold.get(row["_id"], ()))]

    return _dataset(path, _each(path, read, rows))


def read_kdconv(path: Path) -> Dataset:
    """Read KdConv (Zhou et al. 2020): ``train.json``, ``dev.json``, ``test.json`` of a domain.

    The user's messages whose answer uses the knowledge graph become cases; gold is ``entity/attribute``, and a
    rewrite is needed where the entity is not named in the message. ``kb_*.json`` beside the file is the corpus.
    """
    numbers = itertools.count(1)

    def read(dialogue: dict[str, Any]) -> list[Case]:
        cases, number, messages = [], next(numbers), dialogue["messages"]
        for turn in range(0, len(messages) - 1, 2):
            attributes = messages[turn + 1].get("attrs") or ()
            question = messages[turn]["message"]
            if not attributes or not question.strip():
                continue
            names = {attribute["name"] for attribute in attributes}
            case = _case(
                f"{number}#{turn + 1}",
                [message["message"] for message in messages[:turn]],
                question,
                "",
                gold=sorted({f"{a['name']}/{a['attrname']}" for a in attributes}),
                lang="zh",
                needs=not any(name in question for name in names),
            )
            cases.append(case)
        return cases

    cases = tuple(_each(path, read))
    texts: dict[str, list[str]] = {}
    for kb in sorted(path.parent.glob("kb_*.json")):
        for entity, triples in read_json(kb).items():
            for _, attribute, value in triples:
                texts.setdefault(f"{entity}/{attribute}", []).append(f"{entity} {attribute} {value}")
    passages = tuple(Passage(name, "zh", "", "\n".join(lines)) for name, lines in texts.items())
    return Dataset(path.stem, cases, passages)


FORMATS: dict[str, Callable[[Path], Dataset]] = {
    "canard": read_canard,
    "cast": read_cast,
    "kdconv": read_kdconv,
    "mtrag": read_mtrag,
    "qrecc": read_qrecc,
    "rewrite": read_rewrite,
}
"""The published formats by name; ``condense-plus`` is the project's own."""


def _recognised(path: Path) -> str:
    name = path.name.removesuffix(".gz")
    if name.endswith((".txt", ".tsv")):
        return "rewrite"
    if name.endswith(".jsonl"):
        first = next(row for _, row in read_json_lines(path))
        return "mtrag" if {"_id", "input"} & set(first) else "condense-plus"
    rows = _rows(path)
    first = rows[0] if rows and isinstance(rows[0], dict) else {}
    for key, found in (
        ("QuAC_dialog_id", "canard"),
        ("Conversation_no", "qrecc"),
        ("turn", "cast"),
        ("messages", "kdconv"),
    ):
        if key in first:
            return found
    raise DataFileError(path, None, f"of no known format; give one of {', '.join(FORMATS)}")


def _rows(path: Path) -> list[dict[str, Any]]:
    rows = read_json(path)
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise DataFileError(path, None, "a list of objects is expected")
    return rows


def _each(
    path: Path, read: Callable[[dict[str, Any]], list[Case]], rows: Iterable[dict[str, Any]] | None = None
) -> Iterator[Case]:
    """Yield the cases of each entry of a file; an entry that cannot be read is named by its number."""
    for number, row in enumerate(_rows(path) if rows is None else rows, 1):
        try:
            yield from read(row)
        except (KeyError, TypeError, IndexError, AttributeError) as error:
            raise DataFileError(path, None, f"entry {number}: {_said(error)}") from None


def _said(error: Exception) -> str:
    return f"field {error} is missing" if isinstance(error, KeyError) else str(error)


def _dataset(path: Path, cases: Iterable[Case]) -> Dataset:
    return Dataset(path.stem, tuple(cases))


def _case(
    name: str,
    history: Sequence[str | Message],
    question: str,
    rewrite: str,
    *,
    gold: Sequence[str] = (),
    lang: str = "en",
    needs: bool | None = None,
) -> Case:
    """Return a case; earlier turns given as texts are user and assistant in turn."""
    if not isinstance(question, str) or not question.strip():
        raise TypeError("the question is no text")
    if not isinstance(rewrite, str) or not isinstance(history, (list, tuple)):
        raise TypeError("the rewrite is a text and the history a list")
    if rewrite and needs is None:
        needs = bool(set(content_tokens(rewrite)) - set(content_tokens(question)))
    return Case(
        id=name,
        lang=lang,
        category="all",
        history=tuple(_messages(history)),
        question=question,
        accepted_rewrites=(rewrite,) if rewrite else (),
        needs_rewrite=needs,
        gold=tuple(gold),
    )


def _messages(history: Sequence[str | Message]) -> Iterator[Message]:
    for index, turn in enumerate(history):
        message = turn if isinstance(turn, Message) else Message(("user", "assistant")[index % 2], turn)
        if not isinstance(message.content, str):
            raise TypeError(f"turn {index + 1} of the history is no text")
        if message.content.strip():
            yield message


def _mtrag_task(row: dict[str, Any]) -> Case:
    turns = [Message("user" if m["speaker"] == "user" else "assistant", m["text"]) for m in row["input"]]
    gold = [context["document_id"] for context in row.get("contexts", ())]
    return _case(str(row["task_id"]), turns[:-1], turns[-1].content, "", gold=gold)


def _by_id(path: Path) -> dict[str, str]:
    return {row["_id"]: row["text"] for _, row in read_json_lines(path)} if path.exists() else {}


def _user_turn(line: str) -> str:
    return line.removeprefix("|user|:").strip()
