"""Every snippet of the documentation runs, and prints what it says it prints."""

from __future__ import annotations

import argparse
import ast
import asyncio
import importlib
import inspect
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from llama_index.core import Settings
from llama_index_instrumentation import get_dispatcher

from llama_index_condense_plus import CondensePlusSettings, cli, languages
from tests.docs import prelude
from tests.docs.markdown import PAGES, Block, blocks, name_of

NEEDS = {"fastapi.md": ("fastapi",), "qdrant.md": ("qdrant_client",)}
NEEDS |= dict.fromkeys(("README.md", "README.zh.md"), ("fastapi", "qdrant_client"))
"""Pages whose snippets need an extra."""
PROMISE = re.compile(r"^\s*print\(.*\)  # (?P<said>.+)$", re.MULTILINE)

with_python = [page for page in PAGES if blocks(page, "python")]


@pytest.fixture
def snippet_names(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    monkeypatch.chdir(tmp_path)
    names = prelude.names()
    monkeypatch.setattr(Settings, "_llm", names["llm"])
    monkeypatch.setattr(Settings, "_embed_model", names["index"]._embed_model)
    handlers = list(get_dispatcher().event_handlers)
    yield names
    get_dispatcher().event_handlers[:] = handlers
    CondensePlusSettings.set_default()
    languages._registered.clear()
    languages._detector.cache_clear()


@pytest.mark.parametrize("page", with_python, ids=name_of)
def test_python_snippets_of_a_page_run_in_order(page: Path, snippet_names: dict[str, Any], capsys: Any) -> None:
    for module in NEEDS.get(page.name, ()):
        pytest.importorskip(module)
    for block in blocks(page, "python"):
        if not block.runs:
            _import(block)
            continue
        _execute(block, snippet_names)
        printed = capsys.readouterr().out
        for promise in PROMISE.finditer(block.code):
            assert promise["said"] in printed, f"{name_of(page)}:{block.line}: {printed!r}"


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "toml")], ids=name_of)
def test_toml_of_a_page_is_valid_settings(page: Path, tmp_path: Path) -> None:
    for block in blocks(page, "toml"):
        if block.title:  # a file of another kind
            continue
        file = tmp_path / "settings.toml"
        file.write_text(block.code, encoding="utf-8")
        CondensePlusSettings.from_toml(file)


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "sh")], ids=name_of)
def test_commands_of_a_page_exist(page: Path) -> None:
    for block in blocks(page, "sh"):
        for line in block.code.replace("\\\n", " ").splitlines():
            for part in re.split(r"[|;]|&&", line):
                words = shlex.split(part, comments=True)
                while words and "=" in words[0]:
                    words.pop(0)
                if words[:1] == ["condense-plus"]:
                    parser = argparse.ArgumentParser()
                    importlib.import_module(cli.COMMANDS[words[1]][0]).configure(parser)
                    parser.parse_args(words[2:])


def test_promises_are_checked() -> None:
    assert sum(len(PROMISE.findall(block.code)) for page in with_python for block in blocks(page, "python")) > 30


def _execute(block: Block, names: dict[str, Any]) -> None:
    padded = "\n" * block.line + block.code
    code = compile(padded, str(block.page), "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    made = eval(code, names)  # noqa: S307 - the documentation's own code
    if inspect.iscoroutine(made):
        asyncio.run(made)


def _import(block: Block) -> None:
    """Import what a snippet imports that cannot run here; its syntax is checked with it."""
    tree = ast.parse(block.code, mode="exec")
    for node in tree.body:
        if not isinstance(node, (ast.Import, ast.ImportFrom)):
            continue
        try:
            exec(compile(ast.Module([node], []), str(block.page), "exec"), {})  # noqa: S102 - the documentation's own
        except ModuleNotFoundError as error:
            if str(error.name).startswith("llama_index_condense_plus"):
                raise  # others need not be installed here
