"""From a chat message to the words that a rewrite may read: nothing that was never said, and never "None"."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache, partial

from llama_index.core.base.llms.types import ChatMessage, MessageRole, TextBlock

from llama_index_condense_plus.lexicons.instructions import INSTRUCTION
from llama_index_condense_plus.lexicons.memo import remembered
from llama_index_condense_plus.lexicons.patterns import regex
from llama_index_condense_plus.types import WindowMessage

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

_THINK = regex(r"<(think|thinking|reasoning)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_MEMORY = regex(r"<memory>(.*?)</memory>", re.DOTALL)
_MEMORY_END = "</memory>"
_MEMORY_TAG = regex(r"</?[\w-]+>")
_CODE = regex(r"(```.*?(?:```|\Z)|`[^`\n]*`)", re.DOTALL)
_CITATION = regex(
    r"\s?(?:\[\^?\d{1,3}(?:\s*[,，–-]\s*\d{1,3})*\]|【\d{1,3}(?:†[^【】]*)?】|\[(?:citation|来源|source)[:：]?\s*\d+\]"
    r"|<sup>\[?\d{1,3}\]?</sup>)(?!\()",
    re.IGNORECASE,
)
_IMAGE = regex(r"!\[([^\[\]]*)\]\([^)]*\)")
_SPACES = regex(r"[^\S\n]+")
_BLANK_LINES = regex(r"\s*\n\s*\n\s*")
_CONTROL = regex(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2064\ufeff\ud800-\udfff]")

_NO_ANSWER = frozenset({"empty response", "none", "null", "nan"})
"""LlamaIndex's fixed answer for no nodes, and what str() makes of nothing."""


def role_and_text(message: ChatMessage | tuple[str, str | None]) -> tuple[str, str]:
    """Return a message's role (``user``, ``assistant``, ``system`` or empty) and its raw text."""
    if isinstance(message, ChatMessage):
        role, blocks = _ENUM_ROLES.get(message.role, ""), message.blocks
        if len(blocks) == 1 and isinstance(blocks[0], TextBlock):  # nearly all; a long history has many
            return role, blocks[0].text or ""
        text = message.content
    else:
        role, text = _ROLES.get(str(getattr(message[0], "value", message[0])).lower(), ""), message[1]
    return role, text if isinstance(text, str) else ""


def spoken(history: Iterable[ChatMessage | tuple[str, str | None]]) -> tuple[list[WindowMessage | None], str]:
    """Return each message's usable words (None where there are none) and the summary the memory keeps.

    Left out: tool calls and their results, images, think text, citations, empty answers and system prompts. A
    system message that is no instruction, and a ``<memory>`` block anywhere, are the memory's summary.
    """
    messages: list[WindowMessage | None] = []
    summaries: list[str] = []
    for item in history:
        role, text = role_and_text(item)
        message, summary = _usable_as(role)(text)
        messages.append(message)
        if summary:
            summaries.append(summary)
    return messages, "\n".join(dict.fromkeys(summaries))


def rounds(messages: Sequence[WindowMessage]) -> list[list[WindowMessage]]:
    """Group messages into rounds: a user's message and the answers to it."""
    grouped: list[list[WindowMessage]] = []
    for message in messages:
        if message.role == "user" or not grouped:
            grouped.append([])
        grouped[-1].append(message)
    return grouped


@lru_cache(maxsize=16)
def _usable_as(role: str) -> Callable[[str], tuple[WindowMessage | None, str]]:
    return remembered(partial(_usable, role))


def _usable(role: str, raw: str) -> tuple[WindowMessage | None, str]:
    if not role or not raw:
        return None, ""
    text, summary = _without_memory(raw)
    if role == "system":
        if not summary and not _is_instruction(text):
            summary = _tidy(text)
        return None, summary
    text = _THINK.sub("", text) if "<" in text else text
    text = _without_images(text) if "![" in text else text
    if role == "assistant":
        text = "".join(part if part.startswith("`") else _CITATION.sub("", part) for part in _CODE.split(text))
    text = _tidy(text)
    if not text or (role == "assistant" and text.casefold() in _NO_ANSWER):
        return None, summary
    return WindowMessage(role=role, full_text=text, text=""), summary


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


def _is_instruction(text: str) -> bool:
    """Return True if a text begins as a system prompt does, under a heading or not."""
    begun = text.lstrip()
    if begun.startswith("#"):
        begun = begun.partition("\n")[2].lstrip()
    return INSTRUCTION.match(begun) is not None


def _tidy(text: str) -> str:
    text = _CONTROL.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    return _BLANK_LINES.sub("\n", _SPACES.sub(" ", text)).strip()
