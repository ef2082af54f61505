"""``condense-plus explain``: how a question would be searched, on a bare install too."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.llms import MockLLM
from llama_index.core.schema import NodeWithScore, QueryBundle

from llama_index_condense_plus.chat_engine import CondensePlusChatEngine
from llama_index_condense_plus.cli.options import add_engine_options, model_choice, read_history
from llama_index_condense_plus.cli.requirements import require
from llama_index_condense_plus.demo.reasons import reasons
from llama_index_condense_plus.errors import ConfigurationError
from llama_index_condense_plus.evaluation.columns import cut_to_columns
from llama_index_condense_plus.evaluation.diagnosis import Answer, diagnose
from llama_index_condense_plus.evaluation.differences import word_diff
from llama_index_condense_plus.observability.trace import PREVIEW_CHARS, CondenseTrace
from llama_index_condense_plus.settings import CondensePlusSettings

EXAMPLES = """examples:
  printf '%s\\n' "Which plans are there?" "Basic and Pro." | condense-plus explain "And the price of Pro?" --history -
  condense-plus explain "那它的价格呢？" --history conversation.jsonl --docs manual/ --json
  condense-plus explain "And its price?" --history talk.txt --docs manual/ --instead "What is the price of Pro?"

The conversation is plain text, one message a line, user and assistant in turn or each line after user: or assistant:,
or JSON with role and content.
"""
TOP_K = 5
DELETED, ADDED, PLAIN = "\033[9;31m", "\033[1;32m", "\033[0m"
CHECKS = {
    "self_contained": "is it self-contained?",
    "pronoun_left": "is a pronoun left?",
    "subject_missing": "is the subject missing?",
    "by_hand_finds_more": "does the question completed by hand find more?",
}
"""The four questions of a follow-up that finds nothing, in words."""
PASSAGE_COLUMNS = 100
"""How much of a passage is shown, in columns of a terminal, where its width is not known."""
MIN_PASSAGE_COLUMNS = 30
"""How much of a passage a narrow terminal shows at least."""


class NothingToSearch(BaseRetriever):
    """Stands in where there are no files: the question is explained up to the search."""

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:  # noqa: ARG002
        return []


@dataclass(frozen=True, slots=True)
class ByHand:
    """What the question finds that a person completed: if it finds the answer, the rewrite is to blame."""

    question: str
    """The person's words."""
    nodes: tuple[NodeWithScore, ...]
    """What they find, best first."""

    def ranks(self, trace: CondenseTrace) -> list[int | None]:
        """Return for each node its rank in the turn's own result; None where the turn did not find it."""
        found = {node.node.node_id: rank for rank, node in enumerate(trace.nodes, 1)}
        return [found.get(node.node.node_id) for node in self.nodes]

    def to_dict(self, trace: CondenseTrace) -> dict[str, Any]:
        """Return plain, JSON-safe values."""
        nodes = [
            {
                "id": node.node.node_id,
                "score": node.score,
                "text": _one_line(node)[:PREVIEW_CHARS],
                "rank_in_turn": rank,
            }
            for node, rank in zip(self.nodes, self.ranks(trace), strict=True)
        ]
        return {"query": self.question, "nodes": nodes}


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.epilog = EXAMPLES
    parser.add_argument("question", help="the user's words")
    parser.add_argument("--history", metavar="FILE", help="the conversation so far; - reads standard input")
    parser.add_argument("--docs", type=Path, metavar="DIR", help="search the files of this folder too")
    parser.add_argument(
        "--instead", metavar="QUESTION", help="search this question too, completed by hand: would it find the answer?"
    )
    parser.add_argument("--settings", metavar="FILE", help="a TOML file with settings")
    add_engine_options(parser)


def run(arguments: argparse.Namespace) -> int:
    """Explain one question."""
    if arguments.instead is not None and not (arguments.docs and arguments.instead.strip()):
        raise ConfigurationError("--instead is a question to search, and needs --docs: something to search in.")
    history = read_history(arguments.history)
    llm = model_choice(arguments).load()
    overrides = {} if llm else {"rewrite": {"chain": ("rules", "original")}}
    if arguments.settings:
        settings = CondensePlusSettings.from_toml(arguments.settings, **overrides)
    else:
        settings = CondensePlusSettings(**overrides)
    with _retriever(arguments) as retriever:
        engine = CondensePlusChatEngine.from_defaults(
            retriever=retriever, llm=MockLLM(), condense_llm=llm, settings=settings
        )
        trace = engine.explain(arguments.question, chat_history=history)
        by_hand = ByHand(arguments.instead, tuple(retriever.retrieve(arguments.instead))) if arguments.instead else None
    if arguments.json:
        found: dict[str, Any] = {
            "diagnosis": [asdict(answer) for answer in diagnose(trace, by_hand.nodes if by_hand else None)]
        }
        found |= {"instead": by_hand.to_dict(trace)} if by_hand else {}
        print(json.dumps(trace.to_dict() | found, ensure_ascii=False, indent=2))
    else:
        terminal = sys.stdout.isatty()
        colour = terminal and "NO_COLOR" not in os.environ
        columns = shutil.get_terminal_size().columns if terminal else None
        print(as_text(trace, colour=colour, searched=bool(arguments.docs), by_hand=by_hand, columns=columns))
    return 0


def as_text(
    trace: CondenseTrace,
    *,
    colour: bool,
    searched: bool,
    by_hand: ByHand | None = None,
    columns: int | None = None,
) -> str:
    """Return a trace as a tree in plain text.

    Args:
        trace: what ``explain`` returned.
        colour: mark the words that went and came with ANSI colours, else with ``[-…-]`` and ``{+…+}``.
        searched: show what was found.
        by_hand: what the question completed by hand found, shown below.
        columns: width of the terminal, to which passages are cut; None: unknown.
    """
    changed = trace.search_query != trace.message
    change = difference(trace.message, trace.search_query, colour=colour) if changed else "none: searched as typed"
    lines = [_line("change", change)]
    lines += [_line(label, words) for label, words in reasons(trace) if searched or words != "empty_retrieval"]
    if searched:
        for rank, node in enumerate(trace.nodes, 1):
            note = f"({', '.join(trace.provenance.get(node.node.node_id, ()))})"
            lines.append(_line(f"found {rank}", _passage(node, note, columns)))
    if by_hand:
        lines.append(_line("instead", difference(trace.search_query, by_hand.question, colour=colour)))
        for node, place in zip(by_hand.nodes, by_hand.ranks(trace), strict=True):
            note = f"(found {place} above)" if place else "(not found above)"
            lines.append(_line("", _passage(node, note, columns)))
    if trace.window:
        answers = diagnose(trace, by_hand.nodes if by_hand else None)
        lines += [_line("check", _answered(answer)) for answer in answers]
    lines[-1] = lines[-1].replace("├", "└", 1)
    return "\n".join([trace.message, *lines])


def difference(before: str, after: str, *, colour: bool) -> str:
    """Return one text with what was deleted and added marked, word by word and Chinese character by character."""
    marks = {"equal": ("", ""), "deleted": ("[-", "-]"), "added": ("{+", "+}")}
    if colour:
        marks |= {"deleted": (DELETED, PLAIN), "added": (ADDED, PLAIN)}
    return "".join(f"{marks[kind][0]}{text}{marks[kind][1]}" for kind, text in word_diff(before, after))


def _answered(answer: Answer) -> str:
    if answer.answer is None:
        return f"{CHECKS[answer.question]} not tried: --docs DIR --instead QUESTION"
    passages = answer.question == "by_hand_finds_more"
    evidence = f"{len(answer.evidence)} passages" if passages else ", ".join(answer.evidence)
    said = f"{CHECKS[answer.question]} {'yes' if answer.answer else 'no'}"
    return f"{said} ({evidence})" if answer.evidence else said


def _line(label: str, words: str) -> str:
    return f"├─ {label:9} {words}"


def _passage(node: NodeWithScore, note: str, columns: int | None) -> str:
    room = (
        PASSAGE_COLUMNS if columns is None else max(MIN_PASSAGE_COLUMNS, columns - len(_line("", "")) - len(note) - 2)
    )
    return f"{cut_to_columns(_one_line(node), room)}  {note}"


@contextmanager
def _retriever(arguments: argparse.Namespace) -> Iterator[BaseRetriever]:
    if arguments.docs is None:
        yield NothingToSearch()
        return
    require("rich", extra="demo")
    from rich.console import Console  # noqa: PLC0415, an extra

    from llama_index_condense_plus.demo.opening import open_index  # noqa: PLC0415, needs the extra

    with open_index(arguments.docs, arguments.embed_model, Console(stderr=True)) as index:
        yield index.as_retriever(similarity_top_k=TOP_K)


def _one_line(node: NodeWithScore) -> str:
    return " ".join(node.node.get_content().split())
