"""Reading settings from files and the environment, and saying clearly what is wrong with them."""

from __future__ import annotations

import difflib
import logging
import sys
from collections.abc import Iterable, Mapping
from io import StringIO
from pathlib import Path
from typing import Any, get_args

from dotenv import dotenv_values
from pydantic import BaseModel, ValidationError

from llama_index_condense_plus.errors import ConfigurationError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ENV_PREFIX = "CONDENSE_PLUS_"
OUTSIDE_THE_TREE = ("CONFIG", "DATA", "LLM_URL")
"""Variables with our prefix that are no settings: the TOML file, and what tests and benchmarks read."""
OFF = {"off", "0", "false", "no", "n", "f"}
DOTENV = Path(".env")
logger: logging.Logger = logging.getLogger(__name__)


def own_variables(variables: Mapping[str, str | None], fields: Iterable[str]) -> dict[str, str]:
    """Return the variables that begin with our prefix, under lower-case names.

    Raises:
        ConfigurationError: one of them names no option; the message gives the nearest valid name.
    """
    known, own = [name.upper() for name in fields], {}
    for name, value in variables.items():
        if not name.upper().startswith(ENV_PREFIX) or value is None:
            continue
        first = name.upper()[len(ENV_PREFIX) :].split("__")[0]
        if first not in known and first not in OUTSIDE_THE_TREE:
            raise ConfigurationError(f"Environment variable {name} names no option.{_nearest(first, known)}")
        own[name.lower()] = value
    return own


def read_dotenv() -> Mapping[str, str | None]:
    """Return the variables of ``.env`` in the working directory; most are other programs', in any encoding."""
    try:
        words = DOTENV.read_text(encoding="utf-8-sig", errors="replace") if DOTENV.is_file() else ""
    except OSError as error:
        logger.warning("Ignored .env, which cannot be read: %s", error.strerror)
        return {}
    return dotenv_values(stream=StringIO(words)) if ENV_PREFIX in words.upper() else {}


def is_off(variables: Mapping[str, str]) -> bool:
    """Return True if an operator has switched rewriting off."""
    return variables.get(f"{ENV_PREFIX}ENABLED".lower(), "").strip().lower() in OFF


def read_toml(path: Path) -> dict[str, Any]:
    """Return a settings file's values, from its top level or from a ``[condense_plus]`` table.

    Raises:
        ConfigurationError: the file cannot be read or is not TOML.
    """
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(f"{path} is not valid TOML: {error}") from None
    except RecursionError:
        raise ConfigurationError(f"{path} is not valid TOML: nested too deeply") from None
    except (OSError, ValueError) as error:  # not UTF-8, no path at all, or a number of thousands of digits
        raise ConfigurationError(f"Cannot read the settings file {path}: {error}") from None
    section = values.get("condense_plus")
    return section if isinstance(section, dict) else values


def readable(error: ValidationError, model: type[BaseModel]) -> str:
    """Return one line for each wrong option: its dotted name, what is wrong, and the nearest valid name."""
    lines = []
    for item in error.errors():
        location = [_visible(str(part)) for part in item["loc"]]
        name = ".".join(location)
        if item["type"] == "extra_forbidden":
            lines.append(f"Unknown option {name}.{_nearest(location[-1], _names_at(model, location[:-1]))}")
        else:
            wanted = item["msg"].removeprefix("Value error, ").replace("a valid tuple", "a list")
            lines.append(f"Option {name}: {wanted}, not {item.get('input')!r}.")
    return "\n".join(lines)


def _visible(name: str) -> str:
    """Return a key without line breaks and control characters: it may stand in a log."""
    return name if name.isprintable() else ascii(name)


def _nearest(name: str, valid: list[str]) -> str:
    match = difflib.get_close_matches(name, valid, n=1, cutoff=0.5)
    return f" Did you mean {match[0]}?" if match else f" Valid here: {', '.join(valid)}."


def _names_at(model: type[BaseModel], path: list[str]) -> list[str]:
    for step in path:
        field = model.model_fields.get(step)
        if field is None:  # the key of a mapping such as languages.<code>, or an index: same model
            continue
        candidates = [field.annotation, *get_args(field.annotation)]
        nested = [c for c in candidates if isinstance(c, type) and issubclass(c, BaseModel)]
        model = nested[0] if nested else model
    return list(model.model_fields)
