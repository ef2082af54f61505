"""Aliases: a user's short names become canonical ones, on the final query, so that the index knows them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping

from llama_index_condense_plus.languages import Token, pack_of
from llama_index_condense_plus.languages.text import MAX_CHARS, is_unspaced, simplify
from llama_index_condense_plus.types import Edit

_WIDE = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | {0x3000: 0x20}
_NOUNS = frozenset({"person", "place", "organisation", "name", "noun", "code", "word"})
_JOINTS = "-_/.'’"


def fold_in_place(text: str) -> str:
    """Return the text in simplified lower case with every character at its place.

    ``languages.text.fold`` may change the length; offsets found here are valid in the text itself.
    """
    lowered = text.lower()
    if len(lowered) != len(text):
        lowered = "".join(low if len(low := char.lower()) == 1 else char for char in text)
    return simplify(lowered).translate(_WIDE)


class AliasTable:
    """Replaces aliases by canonical names: longest match first, whole words only, one pass.

    Args:
        aliases: alias → canonical name; letter case, width and Chinese script of an alias do not matter.

    Example:
        >>> AliasTable({"the blue one": "GTE-3000"}).apply("price of the blue one")[0]
        'price of GTE-3000'
    """

    def __init__(self, aliases: Mapping[str, str]) -> None:
        self._names = {fold_in_place(alias.strip()): name.strip() for alias, name in aliases.items() if alias.strip()}
        self._by_first: dict[str, list[str]] = {}
        for alias in sorted(self._names, key=len, reverse=True):
            self._by_first.setdefault(alias[0], []).append(alias)

    def apply(self, text: str) -> tuple[str, tuple[Edit, ...]]:
        """Return the text with aliases expanded, and one edit for each kind of replacement made."""
        folded = fold_in_place(text) if self._names else ""
        pieces: list[str] = []
        edits: dict[tuple[str, str], Edit] = {}
        done = at = 0
        while at < len(folded):
            alias = self._match(text, folded, at)
            if alias is None:
                at += 1
                continue
            name, end = self._names[alias], at + len(alias)
            before = text[at:end]
            if before != name and not _stands_in(folded, at, fold_in_place(name), alias):
                pieces += text[done:at], name
                edits.setdefault((before, name), Edit("alias", before, name))
                done = end
            at = end
        return "".join((*pieces, text[done:])), tuple(edits.values())

    def _match(self, text: str, folded: str, at: int) -> str | None:
        for alias in self._by_first.get(folded[at], ()):
            if folded.startswith(alias, at) and _is_whole_word(text, at, at + len(alias)):
                return alias
        return None


def _stands_in(folded: str, start: int, name: str, alias: str) -> bool:
    """Return True if the alias found is a part of its own canonical name, written out already."""
    offset = name.find(alias)
    while offset != -1:
        if folded.startswith(name, start - offset) and start >= offset:
            return True
        offset = name.find(alias, offset + 1)
    return False


def _is_whole_word(text: str, start: int, end: int) -> bool:
    """Return True if no word of the text reaches over the beginning or the end of the match."""
    if not is_unspaced(text[start:end]):
        return not (_is_joined(text, start) or _is_joined(text, end))
    tokens = pack_of(text).tokenize(text) if len(text) < MAX_CHARS else ()  # a longer text would be clipped
    starts = [token.start for token in tokens]
    return not any(_is_inside(tokens[i - 1], edge) for edge in (start, end) if (i := bisect_left(starts, edge)) > 0)


def _is_inside(token: Token, edge: int) -> bool:
    return token.start < edge < token.end and token.kind in _NOUNS


def _is_joined(text: str, edge: int) -> bool:
    """Return True if the characters on both sides of an edge belong to one Latin word or code."""
    if edge in (0, len(text)):
        return False
    left, right = text[edge - 1], text[edge]
    if left in _JOINTS or right in _JOINTS:
        beyond = edge + 1 if right in _JOINTS else edge - 2
        other = text[beyond] if 0 <= beyond < len(text) else " "
        return _is_latin(other) and _is_latin(left if right in _JOINTS else right)
    return _is_latin(left) and _is_latin(right)


def _is_latin(char: str) -> bool:
    return char.isalnum() and not is_unspaced(char)
