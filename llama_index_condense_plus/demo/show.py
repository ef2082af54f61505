"""Turns as tables in the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.console import Console, Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from llama_index_condense_plus.demo.compare import TOP_K, Comparison, Finding
from llama_index_condense_plus.demo.reasons import reasons
from llama_index_condense_plus.observability.trace import CondenseTrace

LABELS = {"typed": "as typed", "stock": "stock engine", "ours": "condense-plus"}
"""Headings of the three ways."""
WITHOUT_MODEL = (
    "No language model is configured, so rewriting is done by rules (the recent salient entity for a pronoun, the "
    "topic carried over for an ellipsis) and the answer quotes the best passage. Set OPENAI_API_KEY, or give "
    "--api-base URL --model NAME, to use a real one."
)


def show_introduction(console: Console, model: str | None) -> None:
    """Say who rewrites and answers.

    Args:
        console: where to print.
        model: name of the language model; None: there is none.
    """
    console.print(Text(f"{model} rewrites and answers." if model else WITHOUT_MODEL))


def show_comparison(console: Console, comparison: Comparison, number: int) -> None:
    """Print one turn: what each way searched and found, and why this engine did."""
    turn = comparison.turn
    table = Table(expand=True, box=box.SIMPLE_HEAD, pad_edge=False)
    for name, way in comparison.ways.items():
        table.add_column(_heading(LABELS[name], way.rank_of(turn.gold)), ratio=1, no_wrap=True)
    table.add_row(*[Text(f"⌕ {way.query}", style="bold", overflow="fold") for way in comparison.ways.values()])
    for rank in range(TOP_K):
        table.add_row(*[_hit(way, rank, turn.gold) for way in comparison.ways.values()])
    answer = Table.grid(padding=(0, 2))
    answer.add_row(Text("answer  ", style="dim"), Text(" ".join(comparison.answer.split())))
    title = Text.assemble((f" {number}. {turn.question} ", "bold"), (f"({turn.kind}) ", "dim"))
    body = Group(table, why(comparison.trace), answer)
    console.print(Panel(body, title=title, title_align="left", border_style="cyan"))


def show_score(console: Console, comparisons: Sequence[Comparison]) -> None:
    """Print how many follow-ups each way found the passage for."""
    table = Table(title=f"Follow-ups whose passage is among the first {TOP_K}", box=box.SIMPLE_HEAD)
    table.add_column("conversation")
    names = list(comparisons[0].ways)
    for name in names:
        table.add_column(LABELS[name], justify="right")
    for group in [*dict.fromkeys(c.turn.conversation for c in comparisons), "all"]:
        rows = [c for c in comparisons if c.turn.is_follow_up and group in {c.turn.conversation, "all"}]
        found = [sum(c.ways[name].rank_of(c.turn.gold) is not None for c in rows) for name in names]
        table.add_row(group, *[f"{n} of {len(rows)}" for n in found], style="bold" if group == "all" else "")
    console.print(table)


def why(trace: CondenseTrace) -> RenderableType:
    """Return why a turn searched what it searched, a line each."""
    lines = Table.grid(padding=(0, 2))
    for label, words in reasons(trace):
        lines.add_row(Text(label, style="yellow" if label == "warning" else "dim"), Text(words))
    return lines


def _heading(name: str, rank: int | None) -> Text:
    return Text.assemble(name, " ", (f"✓ rank {rank}", "green") if rank else ("✗ not found", "red"))


def _hit(way: Finding, rank: int, gold: str) -> Text:
    """Return one passage in one line, cut where the column ends."""
    if rank >= len(way.sources):
        return Text()
    words = f"{rank + 1} {' '.join(way.texts[rank].split())}"
    return Text(words, style="green" if way.sources[rank] == gold else "dim", overflow="ellipsis")
