"""The two READMEs say the same, and name what there is."""

from __future__ import annotations

import inspect
import pydoc
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.chat_engine import (
    CondensePlusContextChatEngine,
    CondenseQuestionChatEngine,
    ContextChatEngine,
)

from llama_index_condense_plus import CondensePlusChatEngine, CondensePlusSettings, Trust, cli
from tests.docs import prelude
from tests.docs.markdown import PAGES, ROOT, blocks, name_of
from tests.fakes import ScriptedLLM

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

READMES = [ROOT / "README.md", ROOT / "README.zh.md"]
LINK = re.compile(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)")
LINKED = [
    *PAGES,
    *(ROOT / f"{name}.md" for name in ("CHANGELOG", "CONTRIBUTING", "SECURITY")),
    *ROOT.glob("examples/**/*.md"),
]
HEADING = re.compile(r"^(##+ |!\[)", re.MULTILINE)
OPTION = re.compile(r"^\| `([a-z_]+(?:\.[a-z_]+)*)` \|[^|]+\|[^|]+\|$", re.MULTILINE)


@pytest.mark.parametrize("page", LINKED, ids=name_of)
def test_links_lead_to_files_and_headings(page: Path) -> None:
    for target, heading in LINK.findall(page.read_text(encoding="utf-8")):
        linked = page.parent / target if target else page
        assert linked.exists(), target
        if heading:
            headings = re.findall(r"^#+ (.+)$", linked.read_text(encoding="utf-8"), re.MULTILINE)
            assert heading in [re.sub(r"[^\w\- ]", "", each.lower()).replace(" ", "-") for each in headings], heading


def test_every_page_is_in_the_navigation() -> None:
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    pages = [page.relative_to(ROOT / "docs").as_posix() for page in (ROOT / "docs").rglob("*.md")]
    assert sorted(pages) == sorted(re.findall(r"[\w/.-]+\.md", navigation))


def test_every_example_is_listed() -> None:
    listed = (ROOT / "examples" / "README.md").read_text(encoding="utf-8")
    named = {"README.md", "shop.py", "__pycache__", *re.findall(r"\| \[([\w.]+)\]", listed)}
    assert {path.name for path in (ROOT / "examples").iterdir()} - named == set()


def test_every_picture_is_shown() -> None:
    shown = "".join(page.read_text(encoding="utf-8") for page in LINKED)
    assert [picture.name for picture in (ROOT / "docs" / "images").iterdir() if picture.name not in shown] == []


def test_figures_are_printed_by_the_benchmarks() -> None:
    table = READMES[0].read_text(encoding="utf-8").split("\n## Figures\n")[1].split("\n## ")[0]
    printed = "".join(file.read_text(encoding="utf-8") for file in (ROOT / "docs" / "benchmarks").iterdir())
    rows = [row for row in table.splitlines() if row.startswith("| ") and " ± " in row]
    assert len(rows) > 3
    for row in rows:
        for figure in re.findall(r"(?<![\d.])\.\d+", row):
            assert f"0{figure}" in printed, row


@pytest.mark.parametrize("page", READMES, ids=name_of)
def test_every_extra_and_command_is_named(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert {extra for extra in project["optional-dependencies"] if f"| `{extra}` |" not in text} == set()
    assert {name for name in cli.COMMANDS if name not in text} == set()


@pytest.mark.parametrize("page", READMES, ids=name_of)
def test_options_of_the_table_exist(page: Path) -> None:
    found = OPTION.findall(page.read_text(encoding="utf-8"))
    assert len(found) > 10
    for option in found:
        value = CondensePlusSettings()
        for step in option.split("."):
            value = getattr(value, step)


def test_both_have_the_same_structure_figures_and_options() -> None:
    english, chinese = (page.read_text(encoding="utf-8") for page in READMES)
    assert HEADING.findall(english) == HEADING.findall(chinese)
    figure = re.compile(r"(?<![\d.])\.\d+|\b\d\.\d+\b")
    assert sorted(figure.findall(english)) == sorted(figure.findall(chinese))
    assert OPTION.findall(english) == OPTION.findall(chinese)
    assert [len(blocks(page, "python")) for page in READMES] == [len(blocks(READMES[0], "python"))] * 2


def test_what_comes_before_the_settings_is_short() -> None:
    before = READMES[0].read_text(encoding="utf-8").split("\n## Settings\n")[0]
    assert len(before.split()) <= 900


@pytest.mark.parametrize(
    ("mode", "engine"),
    [
        ("condense_question", CondenseQuestionChatEngine),
        ("condense_plus_context", CondensePlusContextChatEngine),
        ("context", ContextChatEngine),
    ],
)
def test_migration_maps_every_argument(mode: str, engine: type) -> None:
    page = (ROOT / "docs" / "how-to" / "migrate.md").read_text(encoding="utf-8")
    section = page.split(f'chat_mode="{mode}"\n')[1].split("\n##")[0]
    mapped = set(re.findall(r"\w+", "".join(line for line in section.splitlines() if line.startswith("|"))))
    arguments = {*inspect.signature(engine.from_defaults).parameters, *inspect.signature(engine.chat).parameters}
    assert arguments - {"self", "kwargs"} - mapped == set()


EXCHANGES = [
    (
        (
            ("assistant", "你好，你知道“明镜昭廉”明代反贪尚廉历史文化园吗？"),
            (
                "user",
                "你问对人了，文化园由昭廉广场、明代反贪尚廉历史陈列展馆、明代清官廉吏展馆、海瑞事迹展馆四部分组成。",
            ),
            ("assistant", "啊，那这里需要游玩多久呢？"),
        ),
        "这里可以玩1小时 - 1.5小时。你知道这里的地址吗？",
        "明镜昭廉历史文化园的游玩时间是多少？",
    ),
    (
        (
            ("user", "Can you summarize the differences between good bots and bad bots?"),
            ("assistant", "Bots are programs that make HTTP requests. A bot that performs a helpful service is good."),
        ),
        "What are the features in the CIS bot?",
        'What are the features in the "good bot" category as defined by the CIS (Center for Internet Security)?',
    ),
]
"""The two exchanges of the README: the conversation, the message, and the rewrite that the model made."""


@pytest.mark.parametrize(("talk", "message", "rewrite"), EXCHANGES, ids=["KdConv", "MTRAG"])
def test_both_say_what_the_engine_searches(talk: Any, message: str, rewrite: str) -> None:
    names = prelude.names()
    engine = CondensePlusChatEngine.from_index(names["index"], llm=ScriptedLLM(rewrite=rewrite))
    trace = engine.explain(message, [ChatMessage(role=role, content=text) for role, text in talk])
    assert trace.rewrite.trust is Trust.DOUBTED
    for page in READMES:
        told = page.read_text(encoding="utf-8").replace("**", "")
        assert [query.text for query in trace.plan.queries if query.text not in told] == []
        assert message in told


def test_reference_names_what_exists() -> None:
    for name in re.findall(r"^::: (.+)$", (ROOT / "docs" / "reference.md").read_text(encoding="utf-8"), re.MULTILINE):
        assert pydoc.locate(name) is not None, name
