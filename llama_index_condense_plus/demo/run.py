"""The scripted demonstration."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console

from llama_index_condense_plus.demo.compare import Comparison, compare, make_engine
from llama_index_condense_plus.demo.knowledge import demo_conversations
from llama_index_condense_plus.demo.models import ModelChoice
from llama_index_condense_plus.demo.opening import open_index
from llama_index_condense_plus.demo.show import show_comparison, show_introduction, show_score
from llama_index_condense_plus.demo.talk import talk

PIPED_WIDTH = 120
"""Width of the tables in columns where there is no terminal to ask."""


@dataclass(frozen=True, slots=True)
class DemoOptions:
    """What the user asked the demo for."""

    model: ModelChoice = field(default_factory=ModelChoice)
    """The language model."""
    embed_model: str | None = None
    """Name of the embedding, see ``load_embedding``."""
    docs: Path | None = None
    """A folder to search in place of the demo's passages."""
    ask: bool = False
    """Chat instead of playing the script; implied by ``docs``, for the script asks about the demo's passages."""
    json: bool = False
    """Print one JSON object a turn instead of tables."""


def run_demo(options: DemoOptions) -> None:
    """Play the scripted conversations, or chat.

    Raises:
        ConfigurationError: an option is wrong, or a package is missing.
    """
    console = Console(width=None if sys.stdout.isatty() else PIPED_WIDTH, stderr=options.json)
    llm = options.model.load()
    with open_index(options.docs, options.embed_model, console) as index:
        show_introduction(console, options.model.model if llm else None)
        if options.ask or options.docs:
            talk(make_engine(index, llm), console, as_json=options.json)
            return
        comparisons: list[Comparison] = []
        for turns in demo_conversations():
            for number, comparison in enumerate(compare(index, turns, llm), 1):
                comparisons.append(comparison)
                if options.json:
                    print(json.dumps(comparison.to_dict(), ensure_ascii=False), flush=True)
                else:
                    show_comparison(console, comparison, number)
        show_score(console, comparisons)
