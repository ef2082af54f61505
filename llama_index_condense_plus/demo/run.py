"""The scripted demonstration and the chat over one's own files."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from llama_index_condense_plus.chat_engine import CondensePlusChatEngine
from llama_index_condense_plus.demo.compare import TOP_K, Comparison, compare, make_engine
from llama_index_condense_plus.demo.knowledge import demo_conversations, open_index, source_of
from llama_index_condense_plus.demo.models import ModelChoice
from llama_index_condense_plus.errors import CondensePlusError
from llama_index_condense_plus.observability.clean import json_line, printable

WIDTH = 80
"""Columns of a terminal that every screen fits into."""
LABELS = {"typed": "as typed", "stock": "stock engine", "ours": "condense-plus"}
"""What the three ways are called."""
SHOWN_KINDS = ("ordinal", "remark", "correction")
"""Kinds of turns on the first screen, one each, in English and Chinese as they come."""
HELP = "/why shows how the last question was searched, /reset forgets the conversation, /quit ends."


@dataclass(frozen=True, slots=True)
class DemoOptions:
    """What the user asked for."""

    model: ModelChoice = field(default_factory=ModelChoice)
    """The language model."""
    embed_model: str | None = None
    """Name of the embedding, see ``load_embedding``."""
    docs: Path | None = None
    """A folder to chat over; None: the demo's passages."""
    store: Path | None = None
    """Where the index of ``docs`` is kept; None: it is thrown away."""
    ask: bool = False
    """Chat instead of playing the script; implied by ``docs``."""
    all: bool = False
    """Show every turn."""
    json: bool = False
    """Print one JSON object a turn."""


def run_demo(options: DemoOptions) -> None:
    """Play the scripted conversations, or chat.

    Raises:
        ConfigurationError: an option is wrong, or a package is missing.
    """
    console = Console(width=min(WIDTH, Console().width) if sys.stdout.isatty() else WIDTH, stderr=options.json)
    llm = options.model.load()
    with open_index(options.docs, options.embed_model, Console(stderr=True), options.store) as index:
        if options.ask or options.docs:
            _chat(make_engine(index, llm), console, as_json=options.json)
            return
        turns = [turn for conversation in demo_conversations() for turn in compare(index, conversation, llm)]
    if options.json:
        for turn in turns:
            print(json_line(turn.to_dict()))
        return
    _show_score(console, turns, options.model.name if llm else None)
    shown = turns if options.all else _first_screen(turns)
    for number, turn in enumerate(shown, 1):
        _show_turn(console, turn, number)
    if not options.all:
        console.print(Text("All turns: --all. For programs: --json. Your files: condense-plus ask DIR", style="dim"))


def _show_score(console: Console, turns: Sequence[Comparison], model: str | None) -> None:
    rows = [turn for turn in turns if turn.turn.is_follow_up]
    table = Table(box=box.SIMPLE_HEAD, title=f"{len(rows)} follow-up questions: was the right passage found?")
    for heading in ("", "ranked first", f"in the top {TOP_K}"):
        table.add_column(heading, justify="right" if heading else "left")
    for way in rows[0].ways:
        ranks = [turn.rank(way) for turn in rows]
        table.add_row(
            LABELS[way],
            f"{ranks.count(1)} of {len(rows)}",
            f"{sum(rank is not None for rank in ranks)} of {len(rows)}",
            style="bold" if way == "ours" else "",
        )
    console.print(table)
    who = f"{model} rewrites and answers." if model else "No language model: the topic is carried over, answers quote."
    console.print(Text(f"{who} These passages were written for the demo: try your own.", style="dim"))


def _first_screen(turns: Sequence[Comparison]) -> list[Comparison]:
    """Return one turn of each telling kind, and a miss if there is one."""
    chosen = []
    for kind in SHOWN_KINDS:
        chosen += [turn for turn in turns if turn.turn.kind == kind][:1]
    misses = [turn for turn in turns if turn.turn.is_follow_up and turn.rank("ours") is None]
    return [*chosen, *misses[:1]]


def _show_turn(console: Console, comparison: Comparison, number: int) -> None:
    """Print what each way searched and where it found the passage, and why this engine did."""
    turn = comparison.turn
    console.print(Text.assemble("\n", (f"{number}. {turn.question}", "bold"), (f"  ({turn.kind})", "dim")))
    if turn.gold:
        for name, way in comparison.ways.items():
            rank = comparison.rank(name)
            mark = (f"✓ rank {rank}", "green") if rank else ("✗ not found", "red")
            console.print(Text.assemble(f"   {LABELS[name]:14}", mark, f"  {printable(way.query)}"))
    why = [line for line in str(comparison.trace).splitlines() if line.startswith(("decision", "rewrite"))]
    console.print(Text(f"   {'why':14}" + "; ".join(" ".join(line.split()[1:]) for line in why), style="dim"))
    console.print(Text(f"   {'answer':14}{printable(comparison.answer)}", overflow="ellipsis", no_wrap=True))


def _chat(engine: CondensePlusChatEngine, console: Console, *, as_json: bool) -> None:
    """Answer questions from standard input until it ends."""
    if sys.stdin.isatty():
        console.print(HELP, style="dim")
    last = "Nothing was searched yet."
    while (line := _read()) not in {None, "/quit"}:
        if line == "/reset":
            engine.reset()
        elif line == "/why":
            console.print(Text(last))
        elif line:
            try:
                last = _answer(engine, line, console, as_json=as_json)
            except CondensePlusError as error:
                console.print(Text(str(error), style="red"))


def _read() -> str | None:
    try:
        return input("› " if sys.stdin.isatty() else "").strip()
    except EOFError:
        return None


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
        row = {"question": question, "answer": "".join(pieces), "sources": sources}
        print(json.dumps({**row, "trace": trace.to_dict() if trace else None}, ensure_ascii=False), flush=True)
    else:
        searched = trace.search_query if trace and sources else "nothing"
        console.print(Text(f"\n⌕ {printable(searched)} → {', '.join(sources)}", style="dim"))
    return str(trace)
