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
from llama_index_condense_plus.demo.knowledge import Words, demo_conversations, demo_words, open_index, source_of
from llama_index_condense_plus.demo.models import ModelChoice
from llama_index_condense_plus.errors import CondensePlusError, ConfigurationError
from llama_index_condense_plus.observability.clean import json_line, printable
from llama_index_condense_plus.types import Trust

WIDTH = 80
"""Columns of a terminal that every screen fits into."""
LABEL_WIDTH = 16
SHOWN = 3
"""Exchanges on the first screen, beside a miss."""
MESSY = ("remark", "correction")
"""Kinds of turns that people write and demos leave out."""
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
    lang: str | None = None
    """Language of the screen and of the exchanges on it; None: the first one."""
    json: bool = False
    """Print one JSON object a turn."""


def run_demo(options: DemoOptions) -> None:
    """Play the scripted conversations, or chat.

    Raises:
        ConfigurationError: an option is wrong, or a package is missing.
    """
    console = Console(width=min(WIDTH, Console().width) if sys.stdout.isatty() else WIDTH, stderr=options.json)
    known = demo_words()
    if options.lang and options.lang not in known:
        raise ConfigurationError(f"--lang is one of {', '.join(known)}.")
    words = known[options.lang or next(iter(known))]
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
    _show_score(console, turns, words, options.model.name if llm else None)
    if options.all:
        for turn in turns:
            _show_turn(console, turn, words)
        return
    shown, missed = _first_screen(turns, options.lang or turns[0].turn.lang)
    for turn in shown:
        _show_turn(console, turn, words)
    if missed:
        console.print(Text(f"\n{words['miss']}", style="dim"), end="")
        _show_turn(console, missed, words)
    console.print(Text(f"\n{words['own']}\n{words['more']}", style="dim"))


def _show_score(console: Console, turns: Sequence[Comparison], words: Words, model: str | None) -> None:
    rows = [turn for turn in turns if turn.turn.is_follow_up]
    console.print(Text(words["title"].format(n=len(rows)), style="bold"))
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("", words["first"], words["top"].format(k=TOP_K)):
        table.add_column(heading, justify="right" if heading else "left")
    for way in rows[0].ways:
        ranks = [turn.rank(way) for turn in rows]
        found = (ranks.count(1), sum(rank is not None for rank in ranks))
        cells = [words["of"].format(found=number, n=len(rows)) for number in found]
        table.add_row(words[way], *cells, style="bold" if way == "ours" else "")
    console.print(table)
    console.print(Text(words["model"].format(model=model) if model else words["no_model"], style="dim"))


def _first_screen(turns: Sequence[Comparison], lang: str) -> tuple[list[Comparison], Comparison | None]:
    """Return the best turn of each telling kind in one language, and one that this engine misses."""
    rows = [turn for turn in turns if turn.turn.is_follow_up]
    mine = sorted((turn for turn in rows if turn.turn.lang == lang), key=_gain)
    chosen: list[Comparison] = []
    for turn in mine:
        if turn.turn.kind not in {one.turn.kind for one in chosen} and turn.rank("ours"):
            chosen.append(turn)
    missed = [turn for turn in rows if turn.rank("ours") is None]
    missed.sort(key=lambda turn: turn.turn.lang != lang)
    return sorted(chosen[:SHOWN], key=turns.index), missed[0] if missed else None


def _gain(turn: Comparison) -> tuple[int, int]:
    """Return what sorts the turns that show most first: rank 1 here and none as typed; messy ones before others."""
    lost = turn.rank("typed") is not None
    return (2 * lost + (turn.rank("ours") or TOP_K + 1), turn.turn.kind not in MESSY)


def _show_turn(console: Console, comparison: Comparison, words: Words) -> None:
    """Print what each way searched and where it found the passage, and why."""
    turn, trace = comparison.turn, comparison.trace
    console.print(Text.assemble("\n", (f"› {turn.question}", "bold")))
    lines = []
    if turn.gold:
        for name, way in comparison.ways.items():
            rank = comparison.rank(name)
            mark = (words["rank"].format(rank=rank), "green") if rank else (words["missed"], "red")
            lines.append((words[name], mark, f"  {printable(way.query)}"))
    reason = words["reasons"].get(trace.decision.reason.value, trace.decision.reason.value)
    cue = next((f" “{cue.text}”" for cue in trace.decision.cues if cue.name == trace.decision.reason.value), "")
    doubt = f"; {words['beside']}" if trace.rewrite.trust is Trust.DOUBTED else ""
    lines.append((words["why"], (f"{reason}{printable(cue)}{doubt}", "dim"), ""))
    if not turn.gold:
        lines.append((words["answer"], (printable(comparison.answer), ""), ""))
    grid = Table.grid(padding=(0, 1))
    grid.add_column(width=LABEL_WIDTH, no_wrap=True)
    for label, mark, query in lines:
        grid.add_row(f"  {label}", Text.assemble(mark, query))
    console.print(grid)


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
