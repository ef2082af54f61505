"""One cleaner for words that reach a terminal, a CSV cell or a page: they may come from anybody."""

from __future__ import annotations

import json
import re
from typing import Any

_BREAKS = re.compile(r"[\t-\r\x85\u2028\u2029]+")
_UNSAFE = re.compile(r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters, marks that turn the direction of writing, and halves of characters that cannot be encoded."""


def printable(text: str) -> str:
    r"""Return a text as one line that no terminal and no reader of lines takes for anything but words.

    Line breaks and tabs become spaces. Every other control character, and every mark that turns the direction of
    writing, is shown as its escape: it is seen and does nothing. HTML still has to be escaped.

    Args:
        text: any text, for example a user's message.

    Example:
        >>> printable("price?\r\n\x1b[2J2026-01-01  forged row")
        'price? \\x1b[2J2026-01-01  forged row'
    """
    if text.isprintable():
        return text
    return _UNSAFE.sub(lambda found: ascii(found[0])[1:-1], _BREAKS.sub(" ", text))


def json_line(value: Any) -> str:
    """Return a value as one line of JSON that a terminal can show: what ``printable`` escapes is escaped."""
    line = json.dumps(value, ensure_ascii=False, default=str)
    return line if line.isprintable() else _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", line)
