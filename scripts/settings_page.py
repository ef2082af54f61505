"""Writes docs/settings.md from the settings tree: each option with unit, range, default and effect.

python scripts/settings_page.py            write the page
python scripts/settings_page.py --check    exit 1 if it is out of date
"""

from __future__ import annotations

import sys
import types
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from llama_index_condense_plus import CondensePlusSettings
from llama_index_condense_plus.settings.sections import LanguageSettings

PAGE = Path(__file__).parents[1] / "docs" / "settings.md"
UNITS = {
    "_s": "seconds",
    "_chars": "characters",
    "_words": "words",
    "_tokens": "tokens",
    "_rounds": "rounds",
    "_messages": "messages",
    "_nodes": "nodes",
    "_entries": "entries",
    "_queries": "queries",
    "_mb": "MB",
    "backups": "files",
    "candidates": "nodes",
    "top_k": "nodes",
    "_growth": "times",
    "variants_max": "queries",
}
"""Ending of an option's name → its unit."""
KINDS = {bool: "true, false", str: "text", Path: "a file"}
HEAD = """# Settings

`scripts/settings_page.py` writes this page from the settings model.

One frozen object holds every option. It works on three levels, like LlamaIndex's `Settings`:

```python
from llama_index_condense_plus import CondensePlusChatEngine, CondensePlusSettings

CondensePlusSettings.set_default(history={"max_rounds": 6})  # the process: engines that are made from now on

settings = CondensePlusSettings(retrieval={"dual": "never"})  # one engine
engine = CondensePlusChatEngine.from_index(index, settings=settings)
print(engine.settings.history.max_rounds)  # 6

with engine.options(rewrite=False):  # one turn
    engine.chat("How much does the Kestrel drone cost?")

CondensePlusSettings.set_default()  # back to the package's defaults
```

| `Settings` of LlamaIndex | here |
|---|---|
| `Settings.llm = …` | `CondensePlusSettings.set_default(…)` for options; the model stays in `Settings.llm` |
| `VectorStoreIndex(…, embed_model=…)` | `CondensePlusChatEngine.from_index(…, settings=…)` |
| – | `engine.options(settings=…)` for one turn |

A value can come from several places. The first of these wins:

1. keyword arguments: `CondensePlusSettings(retrieval={"dual": "never"})`
2. the environment: `CONDENSE_PLUS_RETRIEVAL__DUAL=never` (section and option joined by two underscores; lists and
   tables as JSON)
3. `.env` in the working directory, with the same names
4. a TOML file: `CONDENSE_PLUS_CONFIG=settings.toml`, or `CondensePlusSettings.from_toml("settings.toml")`
5. `CondensePlusSettings.set_default(...)`, for the whole process

One exception: `CONDENSE_PLUS_ENABLED=off` in the environment always wins, so that an operator can switch rewriting off.
An unknown name or a value out of range raises `ConfigurationError` with the nearest valid name.

`CondensePlusSettings.stock()` gives the stock engine's behaviour. `settings.to_toml()` writes a file to start from.
Models, retrievers and stores are [arguments of the engine](reference.md).
"""


def main(arguments: list[str]) -> int:
    """Write the page, or check it."""
    text = rendered()
    if "--check" not in arguments:
        PAGE.write_text(text, encoding="utf-8")
        return 0
    if PAGE.exists() and PAGE.read_text(encoding="utf-8") == text:
        return 0
    print("docs/settings.md is out of date: run python scripts/settings_page.py", file=sys.stderr)
    return 1


def rendered() -> str:
    """Return the page."""
    plain = {name: field for name, field in CondensePlusSettings.model_fields.items() if section_of(field) is None}
    parts = [HEAD, "## Top level\n", table("", {k: v for k, v in plain.items() if k != "languages"})]
    for name, field in CondensePlusSettings.model_fields.items():
        section = LanguageSettings if name == "languages" else section_of(field)
        if section is None:
            continue
        path = "languages.&lt;code&gt;" if name == "languages" else name
        parts += [f"## {path}\n", f"{(section.__doc__ or '').strip()}\n", table(name, section.model_fields)]
    return "\n".join(parts)


def leaves(model: type[BaseModel] = CondensePlusSettings, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the path of every option, for example ``("guards", "length", "max_chars")``."""
    for name, field in model.model_fields.items():
        section = section_of(field)
        if section is None:
            yield (*path, name)
        else:
            yield from leaves(section, (*path, name))


def section_of(field: FieldInfo) -> type[BaseModel] | None:
    """Return the section that a field holds, if it holds one."""
    annotation = field.annotation
    return annotation if isinstance(annotation, type) and issubclass(annotation, BaseModel) else None


def table(path: str, fields: dict[str, FieldInfo]) -> str:
    """Return a Markdown table of options."""
    lines = ["| option | values | unit | default | effect |", "|---|---|---|---|---|", *rows(path, "", fields)]
    return "\n".join(lines) + "\n"


def rows(path: str, prefix: str, fields: dict[str, FieldInfo], about: str = "") -> Iterator[str]:
    """Yield a line for each option, nested sections after their own name."""
    for name, field in fields.items():
        section = section_of(field)
        if section is not None:
            yield from rows(path, f"{prefix}{name}.", section.model_fields, f"{field.description} ")
            continue
        unit = next((unit for ending, unit in UNITS.items() if name.endswith(ending)), "") if is_number(field) else ""
        cells = [
            f"`{prefix}{name}`",
            values(field),
            unit,
            default(field.default),
            f"{about if name == 'enabled' else ''}{field.description}",
        ]
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def is_number(field: FieldInfo) -> bool:
    """Return True if an option is a number, or a number or none."""
    kinds = [field.annotation, *get_args(field.annotation)]
    return bool({int, float} & {get_args(kind)[0] if get_origin(kind) is Annotated else kind for kind in kinds})


def values(field: FieldInfo) -> str:
    """Return what an option may be: its choices, its range or its kind."""
    annotation: Any = field.annotation
    optional = get_origin(annotation) in (Union, types.UnionType)
    kinds = [kind for kind in get_args(annotation) if kind is not type(None)] if optional else [annotation]
    return described(kinds[0], field.metadata) + (" or none" if optional else "")


def described(kind: Any, constraints: Sequence[Any]) -> str:
    """Return a kind of value in words."""
    if get_origin(kind) is Annotated:
        kind, *further = get_args(kind)
        return described(kind, [part for item in further for part in getattr(item, "metadata", [item])])
    if get_origin(kind) is Literal:
        return ", ".join(f"`{choice}`" for choice in get_args(kind))
    if get_origin(kind) is tuple:
        inner = get_args(kind)[0]
        what = f"any of {described(inner, ())}" if get_origin(inner) is Literal else "words"
        return "rules" if isinstance(inner, type) and issubclass(inner, BaseModel) else f"list: {what}"
    if get_origin(kind) is dict:
        return "table"
    if kind in (int, float):
        return f"{'whole number' if kind is int else 'number'}{span(constraints)}"
    return KINDS[kind]


def span(constraints: Sequence[Any]) -> str:
    """Return the range of a number."""
    limits: dict[str, Any] = {}
    for constraint in constraints:
        for sign in ("ge", "gt", "le"):
            if hasattr(constraint, sign):
                limits[sign] = getattr(constraint, sign)
    if "ge" in limits and "le" in limits:
        return f", {limits['ge']:g} to {limits['le']:g}"
    signs = {"ge": "≥", "gt": ">", "le": "≤"}
    return "".join(f", {signs[name]} {value:g}" for name, value in limits.items())


def default(value: Any) -> str:
    """Return a default as it is written in TOML; none where there is none."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return f"`[{', '.join(map(str, value))}]`"
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, str):
        return f"`{value}`" if value else "empty"
    return f"`{value}`" if isinstance(value, dict) else str(value)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
