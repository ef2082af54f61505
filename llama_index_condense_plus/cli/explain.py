"""``condense-plus explain``: how a question would be searched, on a bare install too."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict
from pathlib import Path

from llama_index.core import VectorStoreIndex
from llama_index.core.llms import MockLLM
from llama_index.core.schema import NodeWithScore

from llama_index_condense_plus.chat_engine import CondensePlusChatEngine
from llama_index_condense_plus.cli.history import read_history
from llama_index_condense_plus.demo.models import add_engine_options, load_model
from llama_index_condense_plus.errors import ConfigurationError
from llama_index_condense_plus.evaluation.diagnosis import Answer, diagnose
from llama_index_condense_plus.evaluation.differences import word_diff
from llama_index_condense_plus.evaluation.retriever import LexicalRetriever
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
MARKS = {"equal": "{}", "deleted": "[-{}-]", "added": "{{+{}+}}"}
"""How words that went and came are shown."""
CHECKS = {
    "self_contained": "is it self-contained?",
    "pronoun_left": "is a pronoun left?",
    "subject_missing": "is the subject missing?",
    "by_hand_finds_more": "does the question completed by hand find more?",
}
"""The four questions of a follow-up that finds nothing, in words."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.epilog = EXAMPLES
    parser.add_argument("question", help="the user's words")
    parser.add_argument("--history", metavar="FILE", help="the conversation so far; - reads standard input")
    parser.add_argument("--docs", type=Path, metavar="DIR", help="search the files of this folder too")
    parser.add_argument("--why", action="store_true", help="show every attempt, check, query and passage")
    parser.add_argument("--instead", metavar="QUESTION", help="the question completed by hand: does it find more?")
    parser.add_argument("--settings", metavar="FILE", help="a TOML file with settings")
    add_engine_options(parser)


def run(arguments: argparse.Namespace) -> int:
    """Explain one question."""
    if arguments.instead is not None and not (arguments.docs and arguments.instead.strip()):
        raise ConfigurationError("--instead needs --docs, the folder to search.")
    history = read_history(arguments.history)
    llm = load_model(arguments.api_base, arguments.model)
    overrides = {} if llm else {"rewrite": {"chain": ("rules", "original")}}
    read = CondensePlusSettings.from_toml
    settings = read(arguments.settings, **overrides) if arguments.settings else CondensePlusSettings(**overrides)
    with _opened(arguments) as index:
        retriever = index.as_retriever(similarity_top_k=TOP_K) if index else LexicalRetriever(())
        engine = CondensePlusChatEngine.from_defaults(
            retriever=retriever, llm=MockLLM(), condense_llm=llm, settings=settings
        )
        trace = engine.explain(arguments.question, chat_history=history)
        by_hand = retriever.retrieve(arguments.instead) if arguments.instead else None
    answers = diagnose(trace, by_hand)
    if arguments.json:
        told = trace.to_dict() | {"diagnosis": [asdict(answer) for answer in answers]}
        if by_hand is not None:
            told["instead"] = {"query": arguments.instead, "nodes": [node.to_dict() for node in by_hand]}
        print(json.dumps(told, ensure_ascii=False, indent=2))
        return 0
    print(trace)
    if arguments.why or by_hand is not None:
        for label, words in _why(trace, answers, by_hand or ()):
            print(f"{label:9} {printable(words)}")
    return 0


def _why(
    trace: CondenseTrace, answers: Sequence[Answer], by_hand: Sequence[NodeWithScore]
) -> Iterator[tuple[str, str]]:
    """Yield what the five lines of a trace leave out: label and words of each line."""
    change = word_diff(trace.message, trace.search_query)
    yield "change", "".join(MARKS[kind].format(text) for kind, text in change)
    for attempt in trace.rewrite.attempts:
        outcome = attempt.trust.value if attempt.trust else attempt.error
        yield "attempt", f"{attempt.rewriter} {outcome}: {attempt.query or attempt.raw}"
        for verdict in attempt.verdicts:
            if not verdict.passed:
                yield "", f"{verdict.action}: {verdict.guard} {verdict.detail}"
    for edit in trace.rewrite.edits:
        yield "edit", f"{edit.kind}: “{edit.before}” → “{edit.after}”"
    for label, nodes in (("found", trace.nodes), ("instead", by_hand)):
        for rank, node in enumerate(nodes, 1):
            by = ", ".join(trace.provenance.get(node.node.node_id, ()))
            yield f"{label} {rank}", f"{node.node.get_content()[:PREVIEW_CHARS]}{f'  ({by})' if by else ''}"
    words = {True: "yes", False: "no", None: "not tried: --docs DIR --instead QUESTION"}
    for answer in answers if trace.window else ():
        yield "check", f"{CHECKS[answer.question]} {words[answer.answer]}"


def _opened(arguments: argparse.Namespace) -> AbstractContextManager[VectorStoreIndex | None]:
    if arguments.docs is None:
        return nullcontext()
    from rich.console import Console  # noqa: PLC0415, an extra

    from llama_index_condense_plus.demo.knowledge import open_index  # noqa: PLC0415, needs the extra

    return open_index(arguments.docs, arguments.embed_model, Console(stderr=True))
