"""Turns as tables in the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console, Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from llama_index_condense_plus.demo.compare import Comparison, Finding
from llama_index_condense_plus.demo.reasons import reasons
from llama_index_condense_plus.observability.trace import CondenseTrace

LABELS = {"typed": "as typed", "stock": "stock engine", "ours": "condense-plus"}
"""Headings of the three ways."""
SNIPPET_CHARS = 46
"""Words shown of a passage, in characters."""
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
    turn, table = comparison.turn, Table(expand=True, show_lines=False, padding=(0, 1))
    for name, way in comparison.ways.items():
        table.add_column(_heading(LABELS[name], way.rank_of(turn.gold)), ratio=1)
    table.add_row(*[Text(f"⌕ {way.query}", style="bold") for way in comparison.ways.values()])
    table.add_row(*[_hits(way, turn.gold) for way in comparison.ways.values()])
    title = Text.assemble((f" {number}. {turn.question} ", "bold"), (f"({turn.kind}) ", "dim"))
    body = Group(table, why(comparison.trace), Text.assemble(("answer    ", "dim"), comparison.answer))
    console.print(Panel(body, title=title, title_align="left", border_style="cyan"))


def show_score(console: Console, comparisons: Sequence[Comparison]) -> None:
    """Print how many follow-ups each way found the passage for."""
    table = Table(title="Follow-ups whose passage is among the first three")
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


def _hits(way: Finding, gold: str) -> Text:
    lines = Text()
    for rank, (source, text) in enumerate(zip(way.sources, way.texts, strict=True), 1):
        snippet = text.replace("\n", " ")
        snippet = snippet if len(snippet) <= SNIPPET_CHARS else snippet[: SNIPPET_CHARS - 1] + "…"
        style = "green" if source == gold else "dim"
        lines.append(f"{rank} {snippet}\n", style=style)
    lines.rstrip()
    return lines
