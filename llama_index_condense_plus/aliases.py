"""Aliases: a user's short names become canonical ones, on the final query, so that the index knows them."""

from __future__ import annotations

import re
from collections.abc import Mapping

from llama_index_condense_plus.languages import pack_of
from llama_index_condense_plus.languages.text import MAX_CHARS, UNSPACED, aligned, is_unspaced
from llama_index_condense_plus.types import Edit

_NOUNS = frozenset({"person", "place", "organisation", "name", "noun", "code", "word"})
_LETTER = rf"[^\W_{UNSPACED}]"
"""A letter of a script that writes spaces between words, or a digit."""
_JOINT = r"[-_/.'’]"


class AliasTable:
    """Replaces aliases by canonical names: longest match first, whole words only, one pass.

    Args:
        aliases: alias → canonical name; letter case, width and Chinese script of an alias do not matter.

    Example:
        >>> AliasTable({"the blue one": "GTE-3000"}).apply("price of the blue one")[0]
        'price of GTE-3000'
    """

    def __init__(self, aliases: Mapping[str, str]) -> None:
        given = {aligned(alias.strip()): name.strip() for alias, name in aliases.items() if alias.strip()}
        # A canonical name that is written out stays, whatever alias is a part of it.
        self._names: dict[str, str | None] = {**{aligned(name): None for name in given.values() if name}, **given}
        found = sorted(self._names, key=len, reverse=True)
        self._pattern = re.compile("|".join(map(_whole, found)) or r"(?!)")

    def apply(self, text: str) -> tuple[str, tuple[Edit, ...]]:
        """Return the text with aliases expanded, and one edit for each kind of replacement made."""
        folded = aligned(text)
        pieces: list[str] = []
        edits: dict[tuple[str, str], Edit] = {}
        done = at = 0
        while match := self._pattern.search(folded, at):
            start, at = match.span()
            if any(_is_inside_a_word(text, edge) for edge in match.span()):
                at = start + 1
                continue
            before, name = text[start:at], self._names[match.group()]
            if name is not None and name != before:
                pieces += text[done:start], name
                edits.setdefault((before, name), Edit("alias", before, name))
                done = at
        return "".join((*pieces, text[done:])), tuple(edits.values())


def _whole(alias: str) -> str:
    """Return the source of a pattern for an alias that no letters, and no letters behind a joint, adjoin."""
    before = "" if is_unspaced(alias[0]) else rf"(?<!{_LETTER})(?<!{_LETTER}{_JOINT})"
    after = "" if is_unspaced(alias[-1]) else rf"(?!{_LETTER})(?!{_JOINT}{_LETTER})"
    return before + re.escape(alias) + after


def _is_inside_a_word(text: str, edge: int) -> bool:
    """Return True if a noun of a script without spaces reaches over a place; a longer text is not segmented."""
    if edge in (0, len(text)) or len(text) >= MAX_CHARS or not is_unspaced(text[edge - 1] + text[edge]):
        return False
    return any(token.start < edge < token.end and token.kind in _NOUNS for token in pack_of(text).tokenize(text))
