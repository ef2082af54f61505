"""``condense-plus ask``: a chat over files of the user's own."""

from __future__ import annotations

import argparse
import hashlib
import os
import sys
from pathlib import Path

from rich.console import Console
from rich.text import Text

from llama_index_condense_plus.chat_engine import CondensePlusChatEngine
from llama_index_condense_plus.demo.compare import make_engine
from llama_index_condense_plus.demo.knowledge import open_index, source_of
from llama_index_condense_plus.demo.models import add_engine_options, load_model
from llama_index_condense_plus.errors import CondensePlusError
from llama_index_condense_plus.observability.clean import json_line, printable

EXAMPLES = """examples:
  condense-plus ask docs/                              chat; /why shows how the last question was searched
  condense-plus ask docs/ --api-base http://127.0.0.1:8080/v1 --model qwen2.5
  condense-plus ask docs/ --store my.index             keep the index in this folder
  printf '%s\\n' "What is a guard?" "How do I write one?" | condense-plus ask docs/ --json
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.epilog = EXAMPLES
    parser.add_argument("docs", metavar="DIR", type=Path, help="folder with the files to search")
    parser.add_argument("--store", type=Path, metavar="DIR", help="folder of the index between runs")
    add_engine_options(parser)


def run(arguments: argparse.Namespace) -> int:
    """Index what is new in the folder and chat."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "condense-plus"
    key = hashlib.sha256(f"{arguments.docs.resolve()}\n{arguments.embed_model}".encode()).hexdigest()[:16]
    store = arguments.store or cache / key
    store.mkdir(parents=True, exist_ok=True, mode=0o700)
    return chat(arguments, arguments.docs, store)


def chat(arguments: argparse.Namespace, docs: Path | None = None, store: Path | None = None) -> int:
    """Answer questions from standard input until it ends.

    Args:
        arguments: what ``add_engine_options`` read.
        docs: the files to search; None: the demo's passages.
        store: where the index is kept between runs; None: it is thrown away.
    """
    llm = load_model(arguments.api_base, arguments.model)
    console = Console(stderr=arguments.json)
    with open_index(docs, arguments.embed_model, Console(stderr=True), store) as index:
        engine = make_engine(index, llm)
        last = "Nothing was searched yet."
        if sys.stdin.isatty():
            console.print("/why shows how the last question was searched, /reset starts anew, /quit ends", style="dim")
        for line in iter(_read, "/quit"):
            if line == "/reset":
                engine.reset()
            elif line == "/why":
                console.print(Text(last))
            elif line:
                try:
                    last = _answer(engine, line, console, as_json=arguments.json)
                except CondensePlusError as error:
                    console.print(Text(str(error), style="red"))
    return 0


def _read() -> str:
    try:
        return input("› " if sys.stdin.isatty() else "").strip()
    except EOFError:
        return "/quit"


def _answer(engine: CondensePlusChatEngine, question: str, console: Console, *, as_json: bool) -> str:
    response = engine.stream_chat(question)
    pieces = []
    for piece in response.response_gen:
        pieces.append(piece)
        if not as_json:
            console.print(Text(piece), end="")
    trace = engine.trace_of(response)
    sources = [source_of(node.node) for node in response.source_nodes]
    if as_json:
        told = trace.to_dict() if trace else None
        print(
            json_line({"question": question, "answer": "".join(pieces), "sources": sources, "trace": told}), flush=True
        )
    else:
        searched = trace.search_query if trace and sources else "nothing"
        console.print(Text(f"\n⌕ {printable(searched)} → {', '.join(sources)}", style="dim"))
    return str(trace)
