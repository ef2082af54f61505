"""Guard: a name, title, code or number that neither the user nor the conversation mentioned."""

from __future__ import annotations

import re
from functools import partial

from llama_index_condense_plus.lexicons.attributes import ATTRIBUTES_ZH
from llama_index_condense_plus.lexicons.patterns import regex
from llama_index_condense_plus.lexicons.quantities import quantities
from llama_index_condense_plus.lexicons.stems import common_words
from llama_index_condense_plus.lexicons.text import fold, has_han
from llama_index_condense_plus.lexicons.weak_words import WEAK_ZH
from llama_index_condense_plus.rewriting.guards.features import (
    NAME_TAGS,
    Features,
    Grounding,
    Word,
    features,
    grounding,
    han_pairs,
    is_common,
    is_rare,
    retained,
    shares_root,
)
from llama_index_condense_plus.rewriting.guards.limits import Limits
from llama_index_condense_plus.types import GuardVerdict, HistoryWindow

_TITLE = regex(r"《([^《》]+)》|「([^「」]+)」|“([^“”]+)”")
_SENTENCE_START = regex(r"(?:^|[.?!:;]\s+|[\"“(]\s*)$")
_RELATIVE_TIME = regex(
    r"今天|今日|明天|昨天|前天|后天|今年|明年|去年|前年|后年|本月|上个?月|下个?月|本周|上周|下周|这周|周末|最近|"
    r"近\S{0,3}年|现在|目前|"
    r"today|tomorrow|yesterday|tonight|this (?:year|month|week|weekend)|(?:last|next|past) (?:year|month|week|"
    r"weekend|\w+day)|now|recent|current|latest"
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
        new = new or _inserted(after, question, said)
        new += _new_titles(rewrite, question, said, new)
        new += _new_numbers(question, after, said)
        limit = self._limits.max_new_names
        detail = "" if len(new) <= limit else "nobody mentioned: " + ", ".join(new[:6])
        return [GuardVerdict(self.name, len(new) <= limit, "reject", float(len(new)), float(limit), detail)]


def _new_words(rewrite: str, after: Features, question: Features, said: Grounding) -> list[str]:
    new: list[str] = []
    nouns: list[str] = []
    in_chinese = has_han(rewrite)
    for word in after.words:
        if said.has(word) or retained(word, question) or word.pos == "m":
            continue
        if word.han:
            if _han_name(word, question, said):
                new.append(word.raw)
            elif _han_noun(word, question, said):
                nouns.append(word.raw)
        elif (
            (in_chinese or _latin_name(word, rewrite))
            and not _abbreviates(word, after, question, said)
            and not _in_other_form(word, question, said)
        ):
            new.append(word.raw)
    return new + nouns if len(nouns) >= _NOUNS_OF_A_NAME else new


_NOUNS_OF_A_NAME = 2
"""A name made of common words (牛奶咖啡) shows as two nouns that nobody said; one may be mere wording."""


def _inserted(after: Features, question: Features, said: Grounding) -> list[str]:
    """Return what a rewrite puts into a Chinese question that it otherwise keeps whole, if nobody said any of it."""
    if not question.words or not all(retained(word, after) for word in question.words):
        return []
    added = [word for word in after.words if word.han and not retained(word, question)]
    if not added or any(
        said.has(word) or word.text in ATTRIBUTES_ZH or word.text[-2:] in ATTRIBUTES_ZH for word in added
    ):
        return []
    return ["".join(word.raw for word in added)] if sum(len(word.text) for word in added) > 1 else []


def _han_noun(word: Word, question: Features, said: Grounding) -> bool:
    """Return True for a common Chinese noun that is new, attributes apart: a price may be asked in new words."""
    if len(word.text) == 1 or word.pos not in _NOUN_TAGS:
        return False
    tail = word.text[-2:]
    if word.text in ATTRIBUTES_ZH or tail in ATTRIBUTES_ZH:
        return False
    return not all(char in question.folded or char in said.folded for char in word.text)


_NOUN_TAGS = NAME_TAGS | {"n", "i", "l", "j", "z", "b", "an", "vn", "ng", "a", "t", "s"}


def _han_name(word: Word, question: Features, said: Grounding) -> bool:
    """Return True if a Chinese word is new, and not just known characters and common words cut otherwise."""
    text = word.text
    if len(text) == 1 or text in ATTRIBUTES_ZH or (is_common(word) and word.pos not in NAME_TAGS):
        return False
    if all(char in question.folded or char in said.folded or char in WEAK_ZH for char in text):
        return False
    if word.pos.startswith("v") and len(text) == 2:  # noqa: PLR2004
        return False  # a rewriter's verb (报销, 维修) names nothing
    pairs = han_pairs(text)
    known = sum(pair in said.pairs or pair in question.folded for pair in pairs)
    return known < len(pairs) / 2 and (word.pos in NAME_TAGS or not _is_compound(text, question, said))


def _is_compound(text: str, question: Features, said: Grounding) -> bool:
    """Return True if a word is two known ones: 电话号码, 哪些方面."""
    return any(
        all(map(known, (text[:at], text[at:])))
        for at in range(1, len(text))
        for known in [partial(_is_known, question=question, said=said)]
    )


def _is_known(part: str, question: Features, said: Grounding) -> bool:
    if part in WEAK_ZH or part in question.folded or part in said.folded:
        return True
    return len(part) > 1 and part in common_words("zh")


def _latin_name(word: Word, rewrite: str) -> bool:
    if len(word.raw) < 2:  # noqa: PLR2004
        return False
    if any(char.isdigit() for char in word.raw):
        return True
    if not any(char.isupper() for char in word.raw):
        return len(word.raw) > 3 and is_rare(word)  # noqa: PLR2004
    return not (is_common(word) and _SENTENCE_START.search(rewrite[: word.start]))


def _in_other_form(word: Word, question: Features, said: Grounding) -> bool:
    """Return True for another form of a word that was said (billable, bill), and for v3 where version 3 was."""
    if version := _VERSION.fullmatch(word.raw.lower()):
        return version.group(1) in said.stems or version.group(1) in question.stems
    return word.raw.islower() and (shares_root(word, said.roots) or shares_root(word, question.roots))


_VERSION = regex(r"(?:v|version)(\d[\d.]*)")


def _abbreviates(word: Word, after: Features, question: Features, said: Grounding) -> bool:
    """Return True if the word abbreviates what was said, or is a word of an abbreviation written out."""
    lowered = word.raw.lower()
    if word.raw.isupper():
        return len(lowered) > 1 and (lowered in question.initials or any(lowered in t.initials for t in said.texts))
    if not word.raw[0].isupper():
        return False
    return any(
        lowered[0] in acronym and acronym in after.initials
        for acronyms in (question.acronyms, said.acronyms)
        for acronym in acronyms
    )


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


def _stands_in(value: str, folded: str) -> bool:
    """Return True if a number's digits stand in a text, alone or in a code."""
    return value in folded and re.search(rf"(?<!\d){re.escape(value)}(?!\d)", folded) is not None


def _new_numbers(question: Features, after: Features, said: Grounding) -> list[str]:
    found = quantities(after.folded)
    if not found:
        return []
    asked = {q.value.lstrip("#") for q in quantities(question.folded)}
    spoken: set[str] | None = None
    dated = bool(_RELATIVE_TIME.search(question.folded))
    new: list[str] = []
    for quantity in found:
        value = quantity.value.lstrip("#")
        if value in asked or (dated and quantity.unit in _DATE_UNITS):
            continue
        if _stands_in(value, said.folded) or _stands_in(value, question.folded):
            continue
        if spoken is None:  # dear, and rarely needed: most numbers stand in the texts as they are
            spoken = {q.value.lstrip("#") for text in said.texts for q in quantities(text.folded)}
        if value not in spoken:
            new.append(value + quantity.unit)
    return new
