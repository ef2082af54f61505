"""A conversation read from a file or standard input, for ``explain``."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from llama_index.core.base.llms.types import ChatMessage

from llama_index_condense_plus.errors import ConfigurationError
from llama_index_condense_plus.languages import registered_packs

ROLES = ("user", "assistant")


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
        text = sys.stdin.read() if name == "-" else Path(name).read_text(encoding="utf-8-sig")
        lines = [line for line in text.splitlines() if line.strip()]
        if not text.lstrip().startswith(("[", "{")):
            return [_spoken(number, line) for number, line in enumerate(lines)]
        rows = json.loads(text) if text.lstrip().startswith("[") else map(json.loads, lines)
        return [ChatMessage(role=row["role"], content=row["content"]) for row in rows]
    except OSError as error:
        raise ConfigurationError(f"--history: cannot read {name}: {error}") from None
    except (ValueError, KeyError, TypeError) as error:
        raise ConfigurationError(f"--history: {name} is no list of role and content: {error!r}") from None


def _spoken(number: int, line: str) -> ChatMessage:
    """Return the message of a line; who spoke may stand before it, in any language of the package."""
    speaker, _, words = line.replace("\uff1a", ":", 1).partition(":")
    for role in ROLES:
        names = {role, *(pack.phrase(role).lower() for pack in registered_packs().values())}
        if speaker.strip().lower() in names and words.strip():
            return ChatMessage(role=role, content=words.strip())
    return ChatMessage(role=ROLES[number % 2], content=line.strip())
