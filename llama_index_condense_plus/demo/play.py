"""``condense-plus demo``: scripted conversations that need no key and no server, on one screen."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from llama_index_condense_plus.demo.ask import chat
from llama_index_condense_plus.demo.compare import TOP_K, compare
from llama_index_condense_plus.demo.knowledge import demo_conversations, demo_words, open_index
from llama_index_condense_plus.demo.models import add_engine_options, load_model
from llama_index_condense_plus.errors import ConfigurationError
from llama_index_condense_plus.observability.clean import json_line, printable

EXAMPLES = """examples:
  condense-plus demo                       the score and three exchanges, no key, no server
  condense-plus demo --all                 every turn
  condense-plus demo --lang zh             in Chinese
  condense-plus demo --ask                 ask about the demo's passages yourself
  OPENAI_API_KEY=… condense-plus demo      with OpenAI, beside the stock engine
  condense-plus demo --api-base http://127.0.0.1:8080/v1 --model qwen2.5
"""
WIDTH = 80
"""Columns of a terminal that every screen fits into."""
LABEL_WIDTH = 16
SHOWN = 3
"""Exchanges on the first screen, beside a miss."""
COMPLETE = ("first", "topic switch", "thanks")
"""Kinds of turns whose words alone say what is meant."""
MESSY = ("remark", "correction")
"""Kinds of turns that people write and demos leave out."""
Row = Mapping[str, Any]


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.epilog = EXAMPLES
    parser.add_argument("--all", action="store_true", help="show every turn")
    parser.add_argument("--lang", metavar="CODE", help="language of the screen: en (default) or zh")
    parser.add_argument("--ask", action="store_true", help="chat instead of playing the scripted conversations")
    add_engine_options(parser)


def run(arguments: argparse.Namespace) -> int:
    """Play the demo, or chat.

    Raises:
        ConfigurationError: an option is wrong, or a package is missing.
    """
    if arguments.ask:
        return chat(arguments)
    known = demo_words()
    lang = arguments.lang or next(iter(known))
    if lang not in known:
        raise ConfigurationError(f"--lang is one of {', '.join(known)}.")
    llm = load_model(arguments.api_base, arguments.model)
    with open_index(None, arguments.embed_model, Console(stderr=True)) as index:
        rows = [row for turns in demo_conversations() for row in compare(index, turns, llm)]
    if arguments.json:
        print("\n".join(map(json_line, rows)))
        return 0
    console = Console(width=min(WIDTH, Console().width))
    words = known[lang]
    _show_score(console, rows, words, llm.metadata.model_name if llm else None)
    shown, missed = (rows, None) if arguments.all else _first_screen(rows, lang)
    for row in shown:
        _show_turn(console, row, words)
    if missed:
        console.print(Text(f"\n{words['miss']}", style="dim"), end="")
        _show_turn(console, missed, words)
    if not arguments.all:
        console.print(Text(f"\n{words['own']}\n{words['more']}", style="dim"))
    return 0


def _show_score(console: Console, rows: Sequence[Row], words: Row, model: str | None) -> None:
    rows = [row for row in rows if row["kind"] not in COMPLETE]
    console.print(Text(words["title"].format(n=len(rows)), style="bold"))
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("", words["first"], words["top"].format(k=TOP_K)):
        table.add_column(heading, justify="right" if heading else "left")
    for way in rows[0]["ways"]:
        ranks = [row["ways"][way]["rank"] for row in rows]
        found = (ranks.count(1), sum(rank is not None for rank in ranks))
        cells = [words["of"].format(found=number, n=len(rows)) for number in found]
        table.add_row(words[way], *cells, style="bold" if way == "ours" else "")
    console.print(table)
    console.print(Text(words["model"].format(model=model) if model else words["no_model"], style="dim"))


def _first_screen(rows: Sequence[Row], lang: str) -> tuple[list[Row], Row | None]:
    """Return the most telling turns of different kinds in one language, and one that this engine misses."""

    def telling(row: Row) -> tuple[int, bool]:  # by the ranks that are gained; a messy turn counts as one more
        ours, typed = (row["ways"][way]["rank"] or TOP_K + 1 for way in ("ours", "typed"))
        is_messy = row["kind"] in MESSY
        return ours - typed - is_messy, not is_messy

    rows = [row for row in rows if row["kind"] not in COMPLETE]
    own = sorted((row for row in rows if row["conversation"].startswith(f"{lang}:")), key=telling)
    hits = {row["kind"]: row for row in reversed(own) if row["ways"]["ours"]["rank"]}
    shown = sorted(hits.values(), key=telling)[:SHOWN]
    missed = [row for row in (*own, *rows) if row["ways"]["ours"]["rank"] is None]
    return sorted(shown, key=rows.index), missed[0] if missed else None


def _show_turn(console: Console, row: Row, words: Row) -> None:
    """Print what each way searched and where it found the passage, and why."""
    console.print(Text.assemble("\n", (f"› {row['question']}", "bold")))
    lines = []
    for name, way in row["ways"].items() if row["gold"] else ():
        mark = (words["rank"].format(rank=way["rank"]), "green") if way["rank"] else (words["missed"], "red")
        lines.append((words[name], mark, f"  {printable(way['query'])}"))
    decision, trust = row["trace"]["decision"], row["trace"]["rewrite"]["trust"]
    reason = words["reasons"].get(decision["reason"], decision["reason"])
    cue = next((f" “{cue['text']}”" for cue in decision["cues"] if cue["name"] == decision["reason"]), "")
    lines.append((words["why"], (f"{reason}{printable(cue)}{words['beside'] * (trust == 'doubted')}", "dim"), ""))
    if not row["gold"]:
        lines.append((words["answer"], (printable(row["answer"]), ""), ""))
    grid = Table.grid(padding=(0, 1))
    grid.add_column(width=LABEL_WIDTH, no_wrap=True)
    for label, mark, query in lines:
        grid.add_row(f"  {label}", Text.assemble(mark, query))
    console.print(grid)
