"""What the package promises: its names are sorted, importable, explained, and on the reference page."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
from pathlib import Path
from typing import get_origin

import pytest

import llama_index_condense_plus as package

REFERENCE = (Path(__file__).parents[1] / "docs" / "reference.md").read_text(encoding="utf-8")
DIRECTIVES = set(re.findall(r"^::: (\S+)$", REFERENCE, re.MULTILINE))
NAMES = [name for name in package.__all__ if not name.startswith("__")]
THINGS = {name: getattr(package, name) for name in NAMES}
OBJECTS = [
    name
    for name, thing in THINGS.items()
    if get_origin(thing) is None and (inspect.isclass(thing) or inspect.isfunction(thing))
]


def order(name: str) -> tuple[int, str]:
    """Constants first, then classes, then the rest, as the linter sorts."""
    return (0 if name.isupper() else 1 if name[:1].isupper() else 2, name)


def test_all_is_sorted_and_holds_no_name_twice() -> None:
    assert list(package.__all__) == sorted(set(package.__all__), key=order)


def test_all_is_everything_that_the_package_imports() -> None:
    imported = {
        name
        for name, value in vars(package).items()
        if not name.startswith("_") and not inspect.ismodule(value) and name != "TYPE_CHECKING"
    }
    assert imported == set(NAMES)


def test_type_checkers_see_the_names_where_they_are_loaded_from() -> None:
    declared = {
        (node.module.removeprefix("llama_index_condense_plus."), alias.name)
        for statement in ast.parse(Path(package.__file__ or "").read_text(encoding="utf-8")).body
        if isinstance(statement, ast.If)
        for node in statement.body
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
    }
    loaded = {(module, name) for module, names in package._HOMES.items() for name in names.split()}
    assert declared == loaded
    assert {name for _, name in loaded} == set(NAMES)


def test_importing_the_package_loads_no_module_of_it() -> None:
    code = (
        "import sys, llama_index_condense_plus; print([m for m in sorted(sys.modules) if m.startswith('llama_index')])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True).stdout
    assert ast.literal_eval(shown) == ["llama_index_condense_plus", "llama_index_condense_plus._version"]


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'CondenseQuestion'"):
        _ = package.CondenseQuestion
    assert set(package.__all__) <= set(dir(package))


@pytest.mark.parametrize("name", OBJECTS)
def test_public_name_is_on_the_reference_page(name: str) -> None:
    module = getattr(package, name).__module__
    assert {f"{package.__name__}.{name}", f"{module}.{name}", module} & DIRECTIVES
