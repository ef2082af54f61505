"""Word diffs for readers: what a rewrite took out of a question, and what it added."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator

_PIECES = re.compile(r"[A-Za-z0-9_.'’-]+|\s+|.")


def word_diff(before: str, after: str) -> Iterator[tuple[str, str]]:
    """Yield pieces of two texts in order: (``equal``, ``deleted`` or ``added``, text).

    Latin text is compared by words, Chinese by characters.
    """
    old, new = _PIECES.findall(before), _PIECES.findall(after)
    for kind, i1, i2, j1, j2 in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            yield "equal", "".join(old[i1:i2])
            continue
        if gone := "".join(old[i1:i2]):
            yield "deleted", gone
        if come := "".join(new[j1:j2]):
            yield "added", come
