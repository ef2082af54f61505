"""What a language brings: one ``LanguagePack`` per language, registered explicitly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

from llama_index_condense_plus.types import Cue

FUNCTION_KINDS = frozenset({"function", "pronoun", "question", "mark"})
"""Kinds of tokens that carry no content of their own."""
NAMING = frozenset({"person", "place", "organisation", "name", "code"})
"""Kinds of tokens that name one thing."""


class Token(NamedTuple):
    """A word with its place and kind; a tuple, for thousands are made in each turn."""

    text: str
    """The word as written."""
    start: int
    """Offset in the text, in characters."""
    kind: str
    """``person``, ``place``, ``organisation``, ``name``, ``code``, ``noun``, ``verb``, ``adjective``, ``adverb``,
    ``time``, ``number``, ``word``, ``function``, ``pronoun``, ``question`` or ``mark``."""

    @property
    def end(self) -> int:
        """Offset after the last character."""
        return self.start + len(self.text)

    @property
    def is_content(self) -> bool:
        """True if the word says something by itself."""
        return self.kind not in FUNCTION_KINDS


class Span(NamedTuple):
    """A part of a text."""

    text: str
    """The words as written."""
    start: int
    """Offset in the text, in characters."""
    kind: str = ""
    """What kind of part it is."""

    @property
    def end(self) -> int:
        """Offset after the last character."""
        return self.start + len(self.text)


@dataclass(frozen=True, slots=True)
class Reference:
    """Words that point at something said before."""

    text: str
    """The words as written."""
    start: int
    """Offset in the text, in characters."""
    kind: str
    """``person``, ``thing``, ``place``, ``time``, ``plural``, ``ordinal``, ``previous`` (what was said), ``other``
    (something else of the kind), or ``clause`` (a whole statement)."""
    position: int = 0
    """For an ordinal: 1 for the first, -1 for the last; else 0."""
    possessive: bool = False
    """True for its, his, their."""

    @property
    def end(self) -> int:
        """Offset after the last character."""
        return self.start + len(self.text)


class LanguagePack(Protocol):
    """What the package asks of a language; every method is pure and takes a message or a query."""

    code: str
    """Language code (ISO 639-1), or ``und`` for any other language."""
    name: str
    """Name of the language in English, for prompts."""
    joiner: str
    """What stands between two words: a space, or nothing."""
    models_ellipsis: bool
    """False: whether words are missing cannot be seen, so that all but small talk is rewritten."""

    def tokenize(self, text: str) -> tuple[Token, ...]:
        """Return the words and marks of a text in order."""
        ...

    def content_words(self, text: str) -> tuple[str, ...]:
        """Return the folded words that say something by themselves, in order, English plurals made singular."""
        ...

    def sentences(self, text: str) -> tuple[Span, ...]:
        """Return the sentences of a text."""
        ...

    def is_question(self, text: str) -> bool:
        """Return True if the text asks, or requests an answer."""
        ...

    def asking_clause(self, text: str) -> Span:
        """Return the words that ask, with their condition and without remarks before them; else the whole text."""
        ...

    def references(self, text: str) -> tuple[Reference, ...]:
        """Return the words that point back, in order; none overlaps another."""
        ...

    def negations(self, text: str) -> tuple[Span, ...]:
        """Return the words that negate or exclude; a no that corrects or answers is none."""
        ...

    def small_talk(self, text: str) -> str:
        """Return the kind of small talk that the text is made of, and of nothing else.

        Returns:
            ``greeting``, ``thanks``, ``acknowledgement``, ``answer`` (yes, no, sure), ``reaction`` (no words, or
            laughter), or an empty string.
        """
        ...

    def offers(self, text: str) -> bool:
        """Return True if a sentence of the text offers to tell more, or asks something in particular."""
        ...

    def connectives(self, text: str) -> tuple[Span, ...]:
        """Return what a search query can do without: time connectives, back references, polite padding."""
        ...

    def instructions(self, text: str) -> tuple[Span, ...]:
        """Return orders: ``talk`` (about this conversation), ``meta`` (about the task), ``apology``, ``injection``."""
        ...

    def cues(self, text: str) -> tuple[Cue, ...]:
        """Return the signs for or against a follow-up, in order of position."""
        ...

    def phrase(self, key: str) -> str:
        """Return words for readers in this language, English ones where the pack has none."""
        ...
