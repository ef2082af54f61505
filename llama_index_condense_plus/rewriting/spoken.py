"""What was said: the usable words of a history's messages, and the summary that a memory keeps."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache, partial
from typing import Literal

from llama_index.core.base.llms.types import ChatMessage, MessageRole, TextBlock
from llama_index.core.memory import BaseMemory

from llama_index_condense_plus._compat.memories import begins_with_summary
from llama_index_condense_plus.languages.text import remembered
from llama_index_condense_plus.types import WindowMessage

SummaryKind = Literal["none", "first_system", "blocks"]
"""Where a memory keeps its summary: nowhere, in a system message that comes first, or in ``<memory>`` blocks."""

_ROLES = {
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "chatbot": "assistant",
    "model": "assistant",
    "ai": "assistant",
    "system": "system",
    "developer": "system",
}
"""Roles that speak; tool and function messages do not."""
_ENUM_ROLES = {role: _ROLES.get(role.value, "") for role in MessageRole}
_NO_ANSWER = frozenset({"empty response", "none", "null", "nan"})
"""LlamaIndex's fixed answer for no nodes, and what str() makes of nothing."""
_THINK = re.compile(r"<(think|thinking|reasoning)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_MEMORY = re.compile(r"<memory>(.*?)</memory>", re.DOTALL)
_MEMORY_END = "</memory>"
_MEMORY_TAG = re.compile(r"</?[\w-]+>")
_CODE = re.compile(r"(```.*?(?:```|\Z)|`[^`\n]*`)", re.DOTALL)
_CITATION = re.compile(
    r"\s?(?:\[\^?\d{1,3}(?:\s*[,，–-]\s*\d{1,3})*\]|【\d{1,3}(?:†[^【】]*)?】|\[(?:(?:citation|source)\s?|\w{2,8}[:：]\s?)\d{1,3}\]"
    r"|<sup>\[?\d{1,3}\]?</sup>)(?!\()",
    re.IGNORECASE,
)
_IMAGE = re.compile(r"!\[([^\[\]]*)\]\([^)]*\)")
_SPACES = re.compile(r"[^\S\n]+")
_BLANK_LINES = re.compile(r"\s*\n\s*\n\s*")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2064\ufeff\ud800-\udfff]")


def summary_kind(memory: BaseMemory, history: Sequence[ChatMessage]) -> SummaryKind:
    """Return where a memory keeps the summary that a history, read from it, holds."""
    if begins_with_summary(memory, history):
        return "first_system"
    return "blocks" if getattr(memory, "memory_blocks", None) else "none"


def spoken(
    history: Iterable[ChatMessage | tuple[str, str | None]], summary: SummaryKind = "none"
) -> tuple[list[WindowMessage | None], str]:
    """Return each message's usable words (None where there are none) and the summary that the memory keeps.

    Left out: tool calls and their results, images, think text, citations, empty answers and system messages.

    Args:
        history: messages, oldest first; ChatMessages or (role, text) pairs.
        summary: where the memory keeps its summary.
    """
    messages: list[WindowMessage | None] = []
    summaries: list[str] = []
    for index, item in enumerate(history):
        role, text = _role_and_text(item)
        if summary == "blocks":
            text, kept = _without_memory(text)
            summaries += [kept] if kept else []
        elif summary == "first_system" and role == "system" and index == 0:
            summaries += [_tidy(text)]
        messages.append(_usable_as(role)(text) if text and role not in ("", "system") else None)
    return messages, "\n".join(dict.fromkeys(summaries))


def rounds(messages: Sequence[WindowMessage]) -> list[list[WindowMessage]]:
    """Group messages into rounds: a user's message and the answers to it."""
    grouped: list[list[WindowMessage]] = []
    for message in messages:
        if message.role == "user" or not grouped:
            grouped.append([])
        grouped[-1].append(message)
    return grouped


def _role_and_text(message: ChatMessage | tuple[str, str | None]) -> tuple[str, str]:
    """Return a message's role (``user``, ``assistant``, ``system`` or empty) and its raw text."""
    if isinstance(message, ChatMessage):
        role, blocks = _ENUM_ROLES.get(message.role, ""), message.blocks
        if len(blocks) == 1 and isinstance(blocks[0], TextBlock):  # nearly all; a long history has many
            return role, blocks[0].text or ""
        text = message.content
    else:
        role, text = _ROLES.get(str(getattr(message[0], "value", message[0])).lower(), ""), message[1]
    return role, text if isinstance(text, str) else ""


@lru_cache(maxsize=16)
def _usable_as(role: str) -> Callable[[str], WindowMessage | None]:
    return remembered(partial(_usable, role))


def _usable(role: str, text: str) -> WindowMessage | None:
    text = _THINK.sub("", text) if "<" in text else text
    text = _without_images(text) if "![" in text else text
    if role == "assistant":
        text = "".join(part if part.startswith("`") else _CITATION.sub("", part) for part in _CODE.split(text))
    text = _tidy(text)
    if not text or (role == "assistant" and text.casefold() in _NO_ANSWER):
        return None
    return WindowMessage(role=role, full_text=text, text="")


def _without_memory(text: str) -> tuple[str, str]:
    """Return a text without the blocks that the memory put in, and the summary in them."""
    told, end, rest = text.rpartition(_MEMORY_END)  # behind the last end no block ends: looking for one takes long
    if not end:
        return text, ""
    told += end
    summary = "\n".join(_tidy(_MEMORY_TAG.sub("", block)) for block in _MEMORY.findall(told))
    return (_MEMORY.sub("", told) + rest if summary else text), summary


def _without_images(text: str) -> str:
    """Return a text with images replaced by what is written for them."""
    told, end, rest = text.rpartition(")")  # as above
    return _IMAGE.sub(r"\1", told + end) + rest


def _tidy(text: str) -> str:
    text = _CONTROL.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    return _BLANK_LINES.sub("\n", _SPACES.sub(" ", text)).strip()
