"""Taking out of a query what only the conversation needed: connectives, back references, polite padding."""

from __future__ import annotations

import re
import unicodedata

from llama_index_condense_plus.lexicons import Lexicon, detect_language, lexicon_for
from llama_index_condense_plus.lexicons.memo import remembered
from llama_index_condense_plus.lexicons.patterns import regex
from llama_index_condense_plus.lexicons.phrases import phrase_set
from llama_index_condense_plus.lexicons.text import Token, has_han, tokenize
from llama_index_condense_plus.rewriting.aliases import fold_in_place
from llama_index_condense_plus.settings import CondensePlusSettings
from llama_index_condense_plus.types import Edit

MAX_CLEANED_CHARS = 4_000
"""Longer queries are made safe and are otherwise left as they are."""

_UNSAFE = dict.fromkeys((*range(8203, 8208), *range(8234, 8239), *range(8288, 8304), 65279, 173, 6158, 1564))
_SPACE = regex(r"\s+")
_PROTECTED = regex(
    r"《[^《》\n]*》|「[^「」\n]*」|『[^『』\n]*』|“[^“”\n]*”|‘[^‘’\n]*’|\"[^\"\n]*\"|`[^`\n]*`|【[^【】\n]*】|"
    r"(?<!\w)'[^'\n]+'(?!\w)|https?://\S+|\S+@[^\s@]+\.\w+"
)
_WIDE_LETTERS = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
_CJK_MARKS = {ord(mark) for mark in "！（），：；？～"}
_KEPT_IN_CHINESE = {code: to for code, to in _WIDE_LETTERS.items() if code not in _CJK_MARKS}
_LEADING = " \t,，、;；:：.。!！~～…-—"
_MEANINGLESS = " \t,，、;；:：.。!！?？~～…-—"


def safe_line(text: str) -> str:
    """Return the text on one line, without control, zero-width, direction and unassigned characters."""
    flat = _SPACE.sub(" ", text.translate(_UNSAFE))
    if flat.isascii() and flat.isprintable():
        return flat.strip()
    return _SPACE.sub(" ", "".join(c if c.isprintable() or c == " " else _stand_in(c) for c in flat)).strip()


def _stand_in(char: str) -> str:
    kind = unicodedata.category(char)
    return " " if kind.startswith("Z") else "" if kind in {"Cc", "Cf", "Cs", "Cn", "Co"} else char


def fold_width(text: str) -> str:
    """Return the text with full-width letters, digits and signs made half-width; Chinese text keeps its marks."""
    return text.translate(_KEPT_IN_CHINESE if has_han(text) else _WIDE_LETTERS)


class Cleaner:
    """Cleans queries; what carries meaning stays: quotes, titles, code, and phrases (安装之前, "earlier versions").

    Args:
        settings: ``cleanup`` and the words added or removed under ``languages``.

    Example:
        >>> Cleaner(CondensePlusSettings()).clean("请问刚才提到的GTE-3000多少钱？")[0]
        'GTE-3000多少钱？'
    """

    def __init__(self, settings: CondensePlusSettings) -> None:
        self._enabled = settings.cleanup.enabled
        self._fold = settings.cleanup.width == "fold"
        self._settings = settings
        self._words: dict[str, _Words] = {}

    def clean(self, text: str, language: str | None = None) -> tuple[str, tuple[Edit, ...]]:
        """Return the cleaned query on one line, and one edit for each thing taken out.

        Args:
            text: a query.
            language: a lexicon's code; none: by script.
        """
        line = safe_line(text)
        if self._fold:
            line = fold_width(line)
        if not self._enabled or len(line) > MAX_CLEANED_CHARS:
            return line, ()
        words = self._for(language or detect_language(line))
        cleaned, gone = words.strip(line)
        if not cleaned.strip(_MEANINGLESS):
            return line, ()
        return cleaned, tuple(Edit("cleanup", piece, "") for piece in gone)

    def _for(self, language: str) -> _Words:
        if language not in self._words:
            self._words[language] = _Words(lexicon_for(language, self._settings))
        return self._words[language]


class _Words:
    """The phrases of one language, ready to be looked up."""

    def __init__(self, lexicon: Lexicon) -> None:
        self._inside = phrase_set(lexicon.connectives)
        self._traps = phrase_set(lexicon.connective_traps)
        self._ends = phrase_set(lexicon.padding)
        self._questions = lexicon.question_words | lexicon.function_words

    def strip(self, line: str) -> tuple[str, list[str]]:
        """Return the line without connectives and padding, and what went."""
        gone: list[str] = []
        line = self._without_connectives(line, gone)
        line = self._without_padding(line, gone)
        return _tidy(line), gone

    def _without_connectives(self, line: str, gone: list[str]) -> str:
        folded = fold_in_place(line)
        kept = [match.span() for match in _PROTECTED.finditer(line)]
        kept += [(at, end) for at in self._traps.starts(folded) if (end := self._traps.longest(folded, at))]
        pieces: list[str] = []
        done = 0
        for at in self._inside.starts(folded):
            end = self._inside.longest(folded, at)
            if not end or at < done or any(start < end and at < stop for start, stop in kept):
                continue
            if self._removable(line, folded, at, end):
                gone.append(line[at:end])
                pieces.append(line[done:at])
                done = end
        return "".join((*pieces, line[done:]))

    def _removable(self, line: str, folded: str, start: int, end: int) -> bool:
        """Return True if the phrase is an aside and not a part of the sentence."""
        if has_han(line[start:end]):
            return _splits_no_word(line, start, end)
        before = folded[:start].split()
        if (
            folded[start:end].split(maxsplit=1)[0] in _SUBJECTS
        ):  # "the phone you mentioned", but not "have you mentioned"
            return bool(before) and before[-1].isalnum() and before[-1] not in self._questions
        return True

    def _without_padding(self, line: str, gone: list[str]) -> str:
        changed = True
        while changed:
            changed = False
            line = line.strip(" ")
            folded = fold_in_place(line)
            at = len(folded) - len(folded.lstrip(_LEADING))
            end = self._ends.longest(folded, at)
            trapped = self._traps.longest(folded, at) > end
            if end and not trapped and line[end:].strip(_MEANINGLESS) and self._pads(line, end):
                gone.append(line[at:end])
                line, changed = line[end:].lstrip(_LEADING), True
                continue
            stop = len(folded.rstrip(_MEANINGLESS))
            start = self._ends.longest_before(folded, stop)
            if start is not None and line[:start].strip(_MEANINGLESS) and line[start - 1] in _MEANINGLESS:
                gone.append(line[start:stop])
                tail = "".join(mark for mark in line[stop:] if mark in "?？")[:1]
                head = line[:start].rstrip(_LEADING)
                line, changed = head + ("" if head.endswith(("?", "？")) else tail), True
        return line

    def _pads(self, line: str, end: int) -> bool:
        """Return True if leading words are padding here: 谢谢 and "hello" only before a pause."""
        if line[end] in _MEANINGLESS and line[end] != " ":
            return True
        if fold_in_place(line[end:]).split()[:1] in (["if"], ["whether"]):
            return False
        return fold_in_place(line[:end]).strip() not in _NEED_PAUSE


_SUBJECTS = frozenset({"you", "we", "i"})
_NEED_PAUSE = frozenset(
    {
        "谢谢",
        "谢谢你",
        "谢谢您",
        "多谢",
        "感谢",
        "非常感谢",
        "你好",
        "您好",
        "麻烦",
        "帮忙",
        "拜托",
        "不好意思",
        "辛苦了",
        "打扰了",
        "劳驾",
        "hi",
        "hello",
        "hey",
        "thanks",
        "thank you",
        "cheers",
        "excuse me",
        "if possible",
    }
)


_LONG_WORD = 3
"""Shorter words over the end of a phrase are as often the segmenter's mistake."""


def _splits_no_word(line: str, start: int, end: int) -> bool:
    """Return True if no longer Chinese word reaches over the end of the phrase."""
    return not any(
        token.start < end < token.start + len(token.text) and token.start > start and len(token.text) >= _LONG_WORD
        for token in _tokens(line)
    )


@remembered
def _tokens(line: str) -> tuple[Token, ...]:
    return tokenize(line)


def _tidy(line: str) -> str:
    """Return the line without the marks and spaces that the words taken out have left."""
    line = re.sub(r"\s+([,.;:!?，。；：！？、])", r"\1", line)
    line = re.sub(r"([,，、;；])(?:\s*[,，、;；])+", r"\1", line)
    line = re.sub(r"[,，、;；]+(?=[?？])", "", line)
    return _SPACE.sub(" ", line).strip().lstrip(_LEADING.replace(".", "").replace("-", "")).strip()


_DEFAULT: list[Cleaner] = []


def clean_query(text: str, language: str | None = None) -> str:
    """Return a query without connectives, back references and padding, safe and on one line.

    Args:
        text: a query.
        language: a lexicon's code such as ``zh``; none: by script.

    Example:
        >>> clean_query("What does the router you just mentioned cost?")
        'What does the router cost?'
    """
    if not _DEFAULT:
        _DEFAULT.append(Cleaner(CondensePlusSettings.model_construct()))
    return _DEFAULT[0].clean(text, language)[0]
