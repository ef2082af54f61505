"""Counts what there is to read, beside the first edition: lines, modules, floors of imports, what a turn enters."""

from __future__ import annotations

import ast
import sys
import threading
from pathlib import Path
from typing import Any

from llama_index.core.llms import MockLLM

from benchmarks._data import table
from llama_index_condense_plus import CondensePlusChatEngine, CondensePlusSettings
from llama_index_condense_plus.evaluation.cases import Passage
from llama_index_condense_plus.evaluation.retriever import LexicalRetriever

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "llama_index_condense_plus"
MEASURES: dict[str, tuple[int | None, int]] = {
    "lines of the package": (25_596, 10_500),
    "modules": (210, 110),
    "longest module": (350, 350),
    "lines of evaluation": (None, 1_600),
    "lines of demo and cli": (None, 1_200),
    "lines of benchmarks": (None, 2_000),
    "lines of tests": (21_300, 11_000),
    "import floors": (33, 16),
    "modules that a rewritten turn enters": (82, 45),
    "functions that it calls": (506, 250),
}
"""Measure → the first edition's figure, where it was taken, and the aim."""


def lines(*folders: Path) -> list[int]:
    """Return the number of lines of each Python file in some folders."""
    return [len(file.read_text(encoding="utf-8").splitlines()) for folder in folders for file in folder.rglob("*.py")]


def imports() -> dict[str, set[str]]:
    """Return which modules of the package each of them imports."""
    files = {".".join(file.relative_to(ROOT).with_suffix("").parts): file for file in PACKAGE.rglob("*.py")}
    files = {name.removesuffix(".__init__"): file for name, file in files.items()}
    found: dict[str, set[str]] = {}
    for name, file in files.items():
        nodes = ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        froms = [
            (node.module, alias.name) for node in nodes if isinstance(node, ast.ImportFrom) for alias in node.names
        ]
        whole = {f"{module}.{part}" if f"{module}.{part}" in files else module for module, part in froms}
        found[name] = {module for module in whole if module in files} - {name}
    return found


def floors() -> int:
    """Return the number of modules in the longest chain of imports; a cycle counts once."""
    below, known = imports(), dict[str, int]()

    def depth(name: str, above: frozenset[str] = frozenset()) -> int:
        if name not in known and name not in above:
            known[name] = 1 + max((depth(other, above | {name}) for other in below[name]), default=0)
        return known.get(name, 0)

    return max(map(depth, below))


def entered() -> tuple[int, int]:
    """Return how many modules and functions a turn enters that rewrites with a model and searches two queries."""
    retriever = LexicalRetriever([Passage("price", "The GTE-3000 costs 399 dollars.")])
    settings = CondensePlusSettings(cache={"enabled": False})
    engine = CondensePlusChatEngine.from_defaults(retriever=retriever, llm=MockLLM(), settings=settings)
    engine.chat("What is the GTE-3000?")
    engine.chat("And its warranty?")  # what is loaded once is loaded now
    seen: set[tuple[str, str, int]] = set()

    def note(frame: Any, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and str(PACKAGE) in code.co_filename and not code.co_name.startswith("<"):
            seen.add((code.co_filename, code.co_name, code.co_firstlineno))

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        engine.chat("And its price?")
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return len({path for path, *_ in seen}), len(seen)


def main() -> None:
    """Print the table."""
    package = lines(PACKAGE)
    counts = (
        sum(package),
        len(package),
        max(package),
        sum(lines(PACKAGE / "evaluation")),
        sum(lines(PACKAGE / "demo", PACKAGE / "cli")),
        sum(lines(ROOT / "benchmarks")),
        sum(lines(ROOT / "tests")),
        floors(),
        *entered(),
    )
    rows = []
    for (name, (first, aim)), count in zip(MEASURES.items(), counts, strict=True):
        rows.append((name, f"{first:,}" if first else "–", f"{count:,}", f"{aim:,}"))
    table("Size of the house", ("", "first edition", "now", "aim"), rows)


if __name__ == "__main__":
    main()
