"""Taking out of a query what only the conversation needed, and keeping of a long paste the part that asks."""

from __future__ import annotations

import re
import unicodedata

from llama_index_condense_plus.languages import WordPack, pack, pack_of
from llama_index_condense_plus.languages.text import clip, is_unspaced
from llama_index_condense_plus.settings import CondensePlusSettings
from llama_index_condense_plus.types import Edit

MAX_CLEANED_CHARS = 4_000
"""Longer queries are made safe and are otherwise left as they are."""
MAX_PASSES = 6
"""What is taken out may lay open the next: "hi, could you tell me …"."""
FEW_WORDS = 2
"""A question with fewer words of content says little without the text it is about."""
_SPACE = re.compile(r"\s+")
_PROTECTED = re.compile(
    r"《[^《》\n]*》|「[^「」\n]*」|『[^『』\n]*』|“[^“”\n]*”|‘[^‘’\n]*’|\"[^\"\n]*\"|`[^`\n]*`|【[^【】\n]*】|"
    r"(?<!\w)'[^'\n]+'(?!\w)|https?://\S+|\S+@[^\s@]+\.\w+"
)
_WIDE_LETTERS = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
_KEPT_IN_CHINESE = {code: to for code, to in _WIDE_LETTERS.items() if chr(code) not in "！（），：；？～"}
_MARKS = " \t,，、;；:：.。!！?？~～…-—"
_LEADING = " \t,，、;；:：。!！~～…—"


def safe_line(text: str) -> str:
    """Return the text on one line, without control, zero-width, direction and unassigned characters."""
    line = _SPACE.sub(" ", text)
    if not line.isprintable():
        seen = (c if c.isprintable() else " " if unicodedata.category(c)[0] == "Z" else "" for c in line)
        line = _SPACE.sub(" ", "".join(seen))
    return line.strip()


def fit_query(text: str, max_chars: int) -> str:
    """Return a query of at most ``max_chars``: of a longer text the words that ask, from whichever end.

    A question that says little by itself ("can you summarise this?") is followed by the beginning of its text.

    Args:
        text: the user's message, or a rewrite.
        max_chars: longest query in characters.
    """
    line = safe_line(clip(text))
    if len(line) <= max_chars:
        return line
    language = pack_of(text)
    asked = safe_line(language.asking_clause(text).text)
    if len(asked) > max_chars:
        end = line[-max_chars:]
        return end[end.find(" ") + 1 :] if language.is_question(end) else cut_between_words(line, max_chars)
    if len(set(language.content_words(asked))) >= FEW_WORDS:
        return asked
    return f"{asked} {cut_between_words(line.replace(asked, ' ').strip(), max_chars - len(asked) - 1)}".strip()


class Cleaner:
    """Cleans queries; what carries meaning stays: quotes, titles, code, and phrases ("earlier versions").

    Args:
        settings: ``cleanup`` and the words added or removed under ``languages``.

    Example:
        >>> Cleaner(CondensePlusSettings()).clean("What does the previously mentioned GTE-3000 cost, please?")[0]
        'What does the GTE-3000 cost?'
    """

    def __init__(self, settings: CondensePlusSettings) -> None:
        self._settings = settings

    def clean(self, text: str, language: str | None = None) -> tuple[str, tuple[Edit, ...]]:
        """Return the cleaned query on one line, and one edit for each thing taken out.

        Args:
            text: a query.
            language: a language's code; none: detected.
        """
        line = safe_line(text)
        if self._settings.cleanup.width == "fold":
            line = line.translate(_KEPT_IN_CHINESE if is_unspaced(line) else _WIDE_LETTERS)
        if not self._settings.cleanup.enabled or len(line) > MAX_CLEANED_CHARS:
            return line, ()
        words = pack(language, self._settings) if language else pack_of(line, self._settings)
        cleaned, gone = line, list[str]()
        for _ in range(MAX_PASSES):
            shorter, taken = _without_connectives(cleaned, words)
            if not taken or not shorter.strip(_MARKS):
                break
            cleaned, gone = shorter, gone + taken
        return _tidy(cleaned) or line, tuple(Edit("cleanup", piece, "") for piece in gone)


def clean_query(text: str, language: str | None = None) -> str:
    """Return a query without connectives, back references and padding, safe and on one line.

    Args:
        text: a query.
        language: a language's code such as ``zh``; none: detected.

    Example:
        >>> clean_query("What does the router you just mentioned cost?")
        'What does the router cost?'
    """
    return Cleaner(CondensePlusSettings.model_construct()).clean(text, language)[0]


def _without_connectives(line: str, words: WordPack) -> tuple[str, list[str]]:
    kept = [match.span() for match in _PROTECTED.finditer(line)]
    pieces, taken, at = list[str](), list[str](), 0
    for span in words.connectives(line):
        if span.text.strip(_MARKS) and not any(span.start < end and start < span.end for start, end in kept):
            before = line[at : span.start]
            article = words.pattern("article").search(before) if line[span.end : span.end + 1].isupper() else None
            pieces.append(before[: article.start()] if article else before)  # a name has none
            taken.append(span.text.strip(_MARKS))
            at = span.end
    return _tidy("".join([*pieces, line[at:]])), taken


def cut_between_words(line: str, max_chars: int) -> str:
    """Return at most ``max_chars`` of a line, cut between words where there are any."""
    head = line[: max(0, max_chars)]
    space = head.rfind(" ")
    return (head[:space] if space > max_chars // 2 and line[max_chars : max_chars + 1].isalnum() else head).rstrip()


def _tidy(line: str) -> str:
    """Return the line without the marks and spaces that the words taken out have left."""
    line = re.sub(r"\s+([,.;:!?，。；：！？、])(?!\w)", r"\1", line)
    line = re.sub(r"([,，、;；])(?:\s*[,，、;；])+", r"\1", line)
    line = re.sub(r"[,，、;；]+(?=[?？]|$)|(?<=[?？])[\s!！.。,，]+$", "", line)
    return _SPACE.sub(" ", line).strip().lstrip(_LEADING).strip()
