"""Guard: a name, title, code or number that neither the user nor the conversation mentioned."""

from __future__ import annotations

import re

from llama_index_condense_plus.languages.quantities import quantities
from llama_index_condense_plus.languages.text import fold
from llama_index_condense_plus.rewriting.guards.features import (
    NAME_TAGS,
    Features,
    Grounding,
    Word,
    features,
    grounding,
    han_pairs,
    is_common,
    retained,
)
from llama_index_condense_plus.rewriting.guards.limits import Limits
from llama_index_condense_plus.types import GuardVerdict, HistoryWindow

_TITLE = re.compile(r"《([^《》]+)》|「([^「」]+)」|“([^“”]+)”")
_SENTENCE_START = re.compile(r"(?:^|[.?!:;]\s+|[\"“(]\s*)$")
_RELATIVE_TIME = re.compile(
    r"今天|今日|明天|昨天|前天|后天|今年|明年|去年|前年|后年|本月|上个?月|下个?月|本周|上周|下周|这周|周末|最近|近\S{0,3}年|现在|目前|"
    r"today|tomorrow|yesterday|tonight|this (?:year|month|week|weekend)|(?:last|next|past) (?:year|month|week|weekend|\w+day)|now|recent|current|latest"
)
_DATE_UNITS = frozenset({"year", "month", "day", ""})
_EDGES = " 的是在有和与"


class NewEntityGuard:
    """Counts names that are new: capitalised, rare or name-tagged words, titles, and numbers, found nowhere.

    Args:
        limits: the profile's figures.
        grounded: more that counts as said, such as alias targets.
    """

    name = "new_entity"

    def __init__(self, limits: Limits, grounded: tuple[str, ...] = ()) -> None:
        self._limits = limits
        self._grounded = grounded

    def check(self, original: str, rewrite: str, window: HistoryWindow) -> list[GuardVerdict]:
        """Return one verdict; measured is the number of new names."""
        said, question, after = grounding(window, self._grounded), features(original), features(rewrite)
        new = _new_words(rewrite, after, question, said)
        new += _new_titles(rewrite, question, said, new)
        new += _new_numbers(original, question, after, said)
        limit = self._limits.max_new_names
        detail = "" if len(new) <= limit else "nobody mentioned: " + ", ".join(new[:6])
        return [GuardVerdict(self.name, len(new) <= limit, "reject", float(len(new)), float(limit), detail)]


def _new_words(rewrite: str, after: Features, question: Features, said: Grounding) -> list[str]:
    new: list[str] = []
    for word in after.words:
        if said.has(word) or retained(word, question) or word.pos == "m":
            continue
        if word.han:
            if not is_common(word) and _han_name(word, question, said):
                new.append(word.raw)
        elif _latin_name(word, rewrite) and not _abbreviates(word, after, said):
            new.append(word.raw)
    return new


def _han_name(word: Word, question: Features, said: Grounding) -> bool:
    """Return True if an unknown Chinese word is new by its characters too, not just cut otherwise."""
    if len(word.text) == 1:
        return False
    pairs = han_pairs(word.text)
    known = sum(pair in said.pairs or pair in question.folded for pair in pairs)
    return known < len(pairs) / 2


def _latin_name(word: Word, rewrite: str) -> bool:
    if len(word.raw) < 2:  # noqa: PLR2004
        return False
    common = is_common(word)
    if any(char.isdigit() for char in word.raw):
        return True
    if not word.raw[0].isupper():
        return not common and len(word.raw) > 3  # noqa: PLR2004
    if common and _SENTENCE_START.search(rewrite[: word.start]):
        return False
    return True


def _abbreviates(word: Word, after: Features, said: Grounding) -> bool:
    """Return True if the word stands for, or is part of, an abbreviation that was said or written out."""
    lowered = word.raw.lower()
    if word.raw.isupper() and lowered in _joined_initials(said):
        return True
    at = after.initials.find(lowered[0])
    while at != -1:
        for size in (2, 3, 4, 5):
            for start in range(max(0, at - size + 1), at + 1):
                if (
                    after.initials[start : start + size] in said.stems
                    and len(after.initials[start : start + size]) == size
                ):
                    return True
        at = after.initials.find(lowered[0], at + 1)
    return False


def _joined_initials(said: Grounding) -> str:
    return " ".join(text.initials for text in said.texts)


def _new_titles(rewrite: str, question: Features, said: Grounding, known: list[str]) -> list[str]:
    new: list[str] = []
    for groups in _TITLE.findall(rewrite):
        title = next(filter(None, groups), "")
        folded = re.sub(r"\s", "", fold(title)).strip(_EDGES)
        everything = re.sub(r"\s", "", said.folded)
        if (
            folded
            and folded not in everything
            and folded not in re.sub(r"\s", "", question.folded)
            and not any(name in title for name in known)
        ):
            pairs = han_pairs(folded)
            if pairs and sum(pair in said.pairs or pair in question.folded for pair in pairs) < len(pairs) * 0.6:
                new.append(title)
    return new


def _new_numbers(original: str, question: Features, after: Features, said: Grounding) -> list[str]:
    asked = {q.value.lstrip("#") for q in quantities(question.folded)}
    spoken = asked | {q.value.lstrip("#") for text in said.texts for q in quantities(text.folded)}
    dated = bool(_RELATIVE_TIME.search(question.folded))
    new: list[str] = []
    for quantity in quantities(after.folded):
        value = quantity.value.lstrip("#")
        if value in spoken or (dated and quantity.unit in _DATE_UNITS):
            continue
        if value in said.folded or value in question.folded:
            continue
        new.append(value + quantity.unit)
    return new
