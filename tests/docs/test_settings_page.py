"""The settings page is up to date, and no option is dead."""

from __future__ import annotations

import ast
import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

import llama_index_condense_plus
from llama_index_condense_plus import Lexicon
from llama_index_condense_plus.settings.sections import LanguageSettings

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


def reads() -> set[tuple[str, str, str]]:
    """Return (module, owner, attribute) for each attribute that the package reads outside the settings."""
    found: set[tuple[str, str, str]] = set()
    for path in PACKAGE.rglob("*.py"):
        if path.parent.name == "settings":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
                owner = node.value
                name = owner.attr if isinstance(owner, ast.Attribute) else getattr(owner, "id", "")
                found.add((path.relative_to(PACKAGE).as_posix(), name, node.attr))
    return found


READS = reads()
SHARED = {path[-1] for path in LEAVES if sum(other[-1] == path[-1] for other in LEAVES) > 1}
"""Names that several sections have: a read counts where the section is named before them, or in this module."""
READERS = {
    ("history", "max_tokens"): ("rewriting/history.py", "settings"),
    ("rewrite", "max_tokens"): ("rewriting/rewriters.py", "settings"),
    ("summary", "max_chars"): ("memory/summary.py", "self"),
}


def test_page_is_up_to_date() -> None:
    assert (ROOT / "docs" / "settings.md").read_text(encoding="utf-8") == PAGE.rendered()


@pytest.mark.parametrize("path", LEAVES, ids=".".join)
def test_every_option_is_read_somewhere(path: tuple[str, ...]) -> None:
    if path in READERS:
        module, owner = READERS[path]
        assert (module, owner, path[-1]) in READS
    elif path[-1] in SHARED and len(path) > 1:
        assert any((owner, name) == path[-2:] for _, owner, name in READS)
    else:
        assert any(name == path[-1] for _, _, name in READS)


@pytest.mark.parametrize("option", LanguageSettings.model_fields)
def test_every_option_of_a_language_changes_its_lexicon(option: str) -> None:
    kind = option.rsplit("_", 1)[0]
    lexicon = Lexicon(code="xx", **{kind: frozenset({"there"})})
    word = "there" if option.endswith("_remove") else "new"
    assert lexicon.adapted(LanguageSettings(**{option: (word,)})) != lexicon
