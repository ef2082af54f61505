"""What the next owner of the tree may rely on: small files, each with its reason, and public names under test."""

from __future__ import annotations

import ast
import re
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import llama_index_condense_plus as package

ROOT = Path(__file__).parents[1]
FOLDERS = ("llama_index_condense_plus", "tests", "benchmarks", "examples", "scripts")
FILES = {
    path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
    for folder in FOLDERS
    for path in sorted((ROOT / folder).rglob("*.py"))
}
MOST_LINES = 350
"""So many can be read at once; half of the files have less than 120."""
MOST_MODULES, MOST_FUNCTIONS = 54, 370
"""A turn that asks for a rewrite and searches two queries enters no more of ours."""
NAMES = [name for name in package.__all__ if not name.startswith("__")]


@pytest.mark.parametrize("path", FILES)
def test_file_is_small_enough_to_be_read_at_once(path: str) -> None:
    assert len(FILES[path].splitlines()) <= MOST_LINES


@pytest.mark.parametrize("path", [path for path in FILES if not Path(path).name.startswith(("test_", "__init__"))])
def test_module_begins_with_one_line_that_says_why_it_exists(path: str) -> None:
    first, *more = (ast.get_docstring(ast.parse(FILES[path])) or "").splitlines() or [""]
    assert 20 <= len(first) <= 120
    assert first[-1] in ".:?!"
    assert not more or not more[0].strip()


@pytest.mark.parametrize("name", NAMES)
def test_public_name_is_used_in_a_test(name: str) -> None:
    word = re.compile(rf"\b{name}\b")
    tests = (text for path, text in FILES.items() if path.startswith("tests/") and path != "tests/test_public_api.py")
    assert any(word.search(text) for text in tests)


def test_rewritten_turn_enters_few_modules_and_functions(make_engine: Callable[..., Any]) -> None:
    engine, entered = make_engine(cache={"enabled": False}), set()
    engine.chat("and its warranty?")  # what is loaded once is loaded now

    def note(frame: Any, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and package.__name__ in code.co_filename and not code.co_name.startswith("<"):
            entered.add((code.co_filename, code.co_name, code.co_firstlineno))

    before = sys.getprofile()
    threading.setprofile(note)
    sys.setprofile(note)
    try:
        engine.chat("and its price?")
    finally:
        threading.setprofile(None)
        sys.setprofile(before)
    assert len({path for path, *_ in entered}) <= MOST_MODULES
    assert len(entered) <= MOST_FUNCTIONS
