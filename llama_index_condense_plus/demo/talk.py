"""The interactive chat: answers as they stream, and why each was searched on request."""

from __future__ import annotations

import json
import sys
from typing import cast

from rich.console import Console
from rich.text import Text

from llama_index_condense_plus.chat_engine import CondensePlusChatEngine
from llama_index_condense_plus.demo.knowledge import source_of
from llama_index_condense_plus.demo.show import why
from llama_index_condense_plus.errors import CondensePlusError
from llama_index_condense_plus.observability.trace import CondenseTrace

HELP = "/why shows how the last question was searched, /reset forgets the conversation, /quit ends."


def talk(engine: CondensePlusChatEngine, console: Console, *, as_json: bool = False) -> None:
    """Answer questions from standard input until it ends.

    Args:
        engine: answers.
        console: where everything but JSON goes.
        as_json: print one JSON object a turn.
    """
    if sys.stdin.isatty():
        console.print(HELP, style="dim")
    last: CondenseTrace | None = None
    while (line := _read()) not in {None, "/quit"}:
        if line == "/reset":
            engine.reset()
            last = None
        elif line == "/why":
            console.print(why(last) if last else "Nothing was searched yet.")
        elif line:
            try:
                last = _answer(engine, line, console, as_json=as_json)
            except CondensePlusError as error:
                console.print(Text(str(error), style="red"))


def _read() -> str | None:
    """Return the next line, None at the end of the input."""
    try:
        return input("› " if sys.stdin.isatty() else "").strip()
    except EOFError:
        return None


def _answer(engine: CondensePlusChatEngine, question: str, console: Console, *, as_json: bool) -> CondenseTrace:
    response = engine.stream_chat(question)
    pieces = []
    for piece in response.response_gen:
        pieces.append(piece)
        if not as_json:
            console.print(Text(piece), end="")
    trace = cast("CondenseTrace", engine.trace_of(response))
    sources = [source_of(node.node) for node in response.source_nodes]
    if as_json:
        row = {"question": question, "answer": "".join(pieces), "sources": sources, "trace": trace.to_dict()}
        print(json.dumps(row, ensure_ascii=False), flush=True)
    else:
        console.print(
            Text(f"\n⌕ {trace.search_query} ({trace.decision.reason.value}) → {', '.join(sources)}", style="dim")
        )
    return trace
