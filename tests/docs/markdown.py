"""Reads the code blocks of the documentation."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(
    r"(?P<mark><!-- not run: [^>]*-->\n+)?"
    r"^```(?P<language>\w+)(?: title=\"(?P<title>[^\"]+)\")?\n(?P<code>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
PAGES = [ROOT / "README.md", ROOT / "README.zh.md", *sorted((ROOT / "docs").rglob("*.md"))]


@dataclass(frozen=True)
class Block:
    """One fenced block of a page."""

    page: Path
    line: int
    language: str
    code: str
    runs: bool
    title: str


def blocks(page: Path, *languages: str) -> list[Block]:
    """Return a page's blocks of some languages, in order."""
    text = page.read_text(encoding="utf-8")
    return [
        Block(
            page,
            text.count("\n", 0, match.start("code")),
            match["language"],
            match["code"],
            runs=match["mark"] is None,
            title=match["title"] or "",
        )
        for match in BLOCK.finditer(text)
        if match["language"] in languages
    ]


def name_of(page: Path) -> str:
    """Return a page's name for a test's id."""
    return str(page.relative_to(ROOT))
