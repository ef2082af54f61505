"""From a chat message to the words that a rewrite may read: nothing that was never said, and never "None"."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from llama_index.core.base.llms.types import ChatMessage, MessageRole, TextBlock

from llama_index_condense_plus.languages.patterns import regex
from llama_index_condense_plus.languages.text import FEW, LONG_CHARS
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
_MEMORY_TAG = regex(r"</?[\w-]+>")
_CODE = regex(r"(```.*?(?:```|\Z)|`[^`\n]*`)", re.DOTALL)
_CITATION = regex(
    r"\s?(?:\[\^?\d{1,3}(?:\s*[,，–-]\s*\d{1,3})*\]|【\d{1,3}(?:†[^】]*)?】|\[(?:citation|来源|source)[:：]?\s*\d+\]"
    r"|<sup>\[?\d{1,3}\]?</sup>)(?!\()",
    re.IGNORECASE,
)
_DATA_IMAGE = regex(r"!\[([^\]]*)\]\((?:data:[^)]*|[^)]*)\)")
_SPACES = regex(r"[^\S\n]+")
_BLANK_LINES = regex(r"\s*\n\s*\n\s*")
_CONTROL = regex(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2064\ufeff\ud800-\udfff]")

_NO_ANSWER = frozenset({"empty response", "none", "null", "nan"})
"""LlamaIndex's fixed answer for no nodes, and what str() makes of nothing."""

_INSTRUCTION = regex(
    r"\s*(?:#.*\n\s*)?(?:you(?:'re| are| will| must| should)\b|(?:act as|answer|always|never|please|respond|do not)\b"
    r"|your (?:task|name|role|job)\b|use the following\b|context information\b"
    r"|你(?:是|叫|将|要|需|必须|应|的(?:任务|角色|名字|职责))|您是|请|作为|扮演|回答时|假设你|根据(?:以下|下面))",
    re.IGNORECASE,
)
"""How a system prompt begins; a system message that does not is taken for the memory's summary."""


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
        message, summary = _usable(role, text) if len(text) <= LONG_CHARS else _usable_long(role, text)
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


@lru_cache(maxsize=4096)
def _usable(role: str, raw: str) -> tuple[WindowMessage | None, str]:
    if not role or not raw:
        return None, ""
    summary = "\n".join(_tidy(_MEMORY_TAG.sub("", block)) for block in _MEMORY.findall(raw))
    text = _MEMORY.sub("", raw) if summary else raw
    if role == "system":
        if not summary and not _INSTRUCTION.match(text):
            summary = _tidy(text)
        return None, summary
    text = _THINK.sub("", text) if "<" in text else text
    text = _DATA_IMAGE.sub(r"\1", text) if "![" in text else text
    if role == "assistant":
        text = "".join(part if part.startswith("`") else _CITATION.sub("", part) for part in _CODE.split(text))
    text = _tidy(text)
    if not text or (role == "assistant" and text.casefold() in _NO_ANSWER):
        return None, summary
    return WindowMessage(role=role, full_text=text, text=""), summary


_usable_long = lru_cache(maxsize=FEW)(_usable.__wrapped__)


def _tidy(text: str) -> str:
    text = _CONTROL.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    return _BLANK_LINES.sub("\n", _SPACES.sub(" ", text)).strip()
