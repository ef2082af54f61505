"""The settings page is up to date, and no option is dead."""

from __future__ import annotations

import ast
import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

import llama_index_condense_plus

ROOT = Path(__file__).parents[2]
PACKAGE = Path(llama_index_condense_plus.__file__).parent


def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("settings_page", ROOT / "scripts" / "settings_page.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


PAGE = script()
LEAVES = list(PAGE.leaves())


def reads() -> set[tuple[str, str]]:
    """Return (owner, attribute) for each attribute that the package reads outside the settings."""
    trees = [ast.parse(path.read_text("utf-8")) for path in PACKAGE.rglob("*.py") if path.parent.name != "settings"]
    nodes = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
    return {(getattr(node.value, "attr", getattr(node.value, "id", "")), node.attr) for node in nodes}


READS = reads()
READ = {attribute for _, attribute in READS}
SWITCHES = {path for path in LEAVES if path[0] == "guards" and path[-1] == "enabled"}
"""Of each refusal one: they are read by name."""


def test_page_is_up_to_date() -> None:
    assert (ROOT / "docs" / "settings.md").read_text(encoding="utf-8") == PAGE.rendered()


@pytest.mark.parametrize("path", [path for path in LEAVES if path not in SWITCHES], ids=".".join)
def test_every_option_is_read_somewhere(path: tuple[str, ...]) -> None:
    shared = sum(other[-1] == path[-1] for other in LEAVES) > 1
    owners = {"settings", "self", "own", "options", *path[:-1]}
    assert path[-1] in READ
    assert not shared or any(name == path[-1] and owner.lstrip("_") in owners for owner, name in READS)
