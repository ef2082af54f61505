"""How a system prompt begins: by this it is told from a summary, which may be a system message too."""

from __future__ import annotations

import re

from llama_index_condense_plus.lexicons.patterns import regex

INSTRUCTION = regex(
    r"you(?:'re| are| will| must| should)\b|(?:act as|answer|always|never|please|respond|do not)\b"
    r"|your (?:task|name|role|job)\b|use the following\b|context information\b"
    r"|你(?:是|叫|将|要|需|必须|应|的(?:任务|角色|名字|职责))|您是|请|作为|扮演|回答时|假设你|根据(?:以下|下面)",
    re.IGNORECASE,
)
"""Beginnings of instructions, in English and Chinese."""
