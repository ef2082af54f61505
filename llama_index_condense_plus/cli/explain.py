"""``condense-plus explain``: how a question would be searched, on a bare install too."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.llms import MockLLM
from llama_index.core.schema import NodeWithScore, QueryBundle

from llama_index_condense_plus.chat_engine import CondensePlusChatEngine
from llama_index_condense_plus.cli.options import add_engine_options, read_history, require
from llama_index_condense_plus.demo.models import ModelChoice
from llama_index_condense_plus.errors import ConfigurationError
from llama_index_condense_plus.evaluation.diagnosis import Answer, diagnose
from llama_index_condense_plus.evaluation.differences import word_diff
from llama_index_condense_plus.observability.clean import printable
from llama_index_condense_plus.observability.trace import PREVIEW_CHARS, CondenseTrace
from llama_index_condense_plus.settings import CondensePlusSettings

EXAMPLES = """examples:
  printf '%s\\n' "Which plans are there?" "Basic and Pro." | condense-plus explain "And the price of Pro?" --history -
  condense-plus explain "And its price?" --history talk.jsonl --docs manual/ --why
  condense-plus explain "And its price?" --history talk.txt --docs manual/ --instead "What is the price of Pro?"

The conversation is plain text with one message per line: user and assistant alternate, or each line begins with user:
or assistant:. JSON with role and content works too.
"""
TOP_K = 5
MARKS = {"equal": ("", ""), "deleted": ("[-", "-]"), "added": ("{+", "+}")}
COLOURS = {"equal": ("", ""), "deleted": ("\033[9;31m", "\033[0m"), "added": ("\033[1;32m", "\033[0m")}
"""What stands around words that went and came, in plain text and in a terminal with colours."""
CHECKS = {
    "self_contained": "is it self-contained?",
    "pronoun_left": "is a pronoun left?",
    "subject_missing": "is the subject missing?",
    "by_hand_finds_more": "does the question completed by hand find more?",
}
"""The four questions of a follow-up that finds nothing, in words."""


class NothingToSearch(BaseRetriever):
    """Stands in where there are no files: the question is explained up to the search."""

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:  # noqa: ARG002
        return []


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.epilog = EXAMPLES
    parser.add_argument("question", help="the user's words")
    parser.add_argument("--history", metavar="FILE", help="the conversation so far; - reads standard input")
    parser.add_argument("--docs", type=Path, metavar="DIR", help="search the files of this folder too")
    parser.add_argument("--why", action="store_true", help="show every attempt, check, query and passage")
    parser.add_argument(
        "--instead", metavar="QUESTION", help="search this question too, completed by hand: would it find the answer?"
    )
    parser.add_argument("--settings", metavar="FILE", help="a TOML file with settings")
    add_engine_options(parser)


def run(arguments: argparse.Namespace) -> int:
    """Explain one question."""
    if arguments.instead is not None and not (arguments.docs and arguments.instead.strip()):
        raise ConfigurationError("--instead needs --docs, the folder to search.")
    history = read_history(arguments.history)
    llm = ModelChoice.of(arguments).load()
    overrides = {} if llm else {"rewrite": {"chain": ("rules", "original")}}
    read = CondensePlusSettings.from_toml
    settings = read(arguments.settings, **overrides) if arguments.settings else CondensePlusSettings(**overrides)
    with _retriever(arguments) as retriever:
        engine = CondensePlusChatEngine.from_defaults(
            retriever=retriever, llm=MockLLM(), condense_llm=llm, settings=settings
        )
        trace = engine.explain(arguments.question, chat_history=history)
        by_hand = retriever.retrieve(arguments.instead) if arguments.instead else None
    answers = diagnose(trace, by_hand)
    if arguments.json:
        found: dict[str, Any] = {"diagnosis": [asdict(answer) for answer in answers]}
        if by_hand is not None:
            found["instead"] = {"query": arguments.instead, "nodes": [_node(node) for node in by_hand]}
        print(json.dumps(trace.to_dict() | found, ensure_ascii=False, indent=2))
        return 0
    print(trace)
    if arguments.why or by_hand is not None:
        print("\n".join(why(trace, answers, by_hand, colour=sys.stdout.isatty() and "NO_COLOR" not in os.environ)))
    return 0


def why(
    trace: CondenseTrace, answers: Sequence[Answer], by_hand: Sequence[NodeWithScore] | None = None, *, colour: bool
) -> Iterator[str]:
    """Yield what the five lines of a trace leave out.

    Args:
        trace: what ``explain`` returned.
        answers: the diagnosis.
        by_hand: what the question completed by hand found.
        colour: mark the words that went and came with ANSI colours, else with ``[-…-]`` and ``{+…+}``.
    """
    marks = COLOURS if colour else MARKS
    change = word_diff(printable(trace.message), printable(trace.search_query))
    yield _line("change", "".join(f"{marks[kind][0]}{text}{marks[kind][1]}" for kind, text in change))
    for attempt in trace.rewrite.attempts:
        outcome = attempt.trust.value if attempt.trust else attempt.error
        yield _line("attempt", f"{attempt.rewriter} {outcome}: {printable(attempt.query or attempt.raw)}")
        for verdict in attempt.verdicts:
            if not verdict.passed:
                yield _line("", f"{verdict.action}: {verdict.guard} {printable(verdict.detail)}")
    for edit in trace.rewrite.edits:
        yield _line("edit", f"{edit.kind}: “{printable(edit.before)}” → “{printable(edit.after)}”")
    for label, nodes in (("found", trace.nodes), ("instead", by_hand or ())):
        for rank, node in enumerate(nodes, 1):
            by = ", ".join(trace.provenance.get(node.node.node_id, ()))
            yield _line(f"{label} {rank}", f"{_preview(node)}{f'  ({by})' if by else ''}")
    if trace.window:
        yield from (_line("check", _answered(answer)) for answer in answers)


def _answered(answer: Answer) -> str:
    if answer.answer is None:
        return f"{CHECKS[answer.question]} not tried: --docs DIR --instead QUESTION"
    return f"{CHECKS[answer.question]} {'yes' if answer.answer else 'no'}"


def _line(label: str, words: str) -> str:
    return f"{label:9} {words}"


def _preview(node: NodeWithScore) -> str:
    return printable(node.node.get_content())[:PREVIEW_CHARS]


def _node(node: NodeWithScore) -> dict[str, Any]:
    return {"id": node.node.node_id, "score": node.score, "text": _preview(node)}


@contextmanager
def _retriever(arguments: argparse.Namespace) -> Iterator[BaseRetriever]:
    if arguments.docs is None:
        yield NothingToSearch()
        return
    require("rich", extra="demo")
    from rich.console import Console  # noqa: PLC0415, an extra

    from llama_index_condense_plus.demo.knowledge import open_index  # noqa: PLC0415, needs the extra

    with open_index(arguments.docs, arguments.embed_model, Console(stderr=True)) as index:
        yield index.as_retriever(similarity_top_k=TOP_K)
