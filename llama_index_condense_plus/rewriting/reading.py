"""What the gate sees of a message and of a history: words with classes, and which of them were said before."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from operator import attrgetter
from typing import NamedTuple, Protocol

from llama_index_condense_plus.lexicons.memo import remembered
from llama_index_condense_plus.lexicons.text import content_tokens, fold
from llama_index_condense_plus.types import Cue, HistoryWindow

READ_CHARS = 4_000
"""Characters of a message that are read: both ends of a longer one."""
NAME, ATTRIBUTE, CONTENT, VERB, NUMBER, FUNCTION, QUESTION, PRONOUN, PUNCTUATION = "nacvmfqpx"
"""Classes of words: a name or code; a noun that belongs to something (price, author); any other word with content, in
Chinese without verbs and adjectives, which have their own; a number; a word without content; a question word; a
reference; punctuation."""
OWN = NAME + CONTENT + VERB
"""Classes of words that may say what a question is about."""
CLASSED = OWN + ATTRIBUTE
"""Classes of words that are looked for in the history."""
ASKING_ENDS = ("吗", "呢", "么", "吧", "哪里", "哪个", "什么")
"""Endings of a Chinese question without a mark."""
SEEN_LAST, SEEN_BEFORE, UNSEEN = 2, 1, 0
"""Where a word was said before: in the last message of the history, in an earlier one, nowhere."""


class Reading(NamedTuple):
    """A message as the gate sees it; a tuple, for it is made for every message and quickly so."""

    language: str
    """``zh`` or ``en``."""
    text: str
    """The message, clipped."""
    words: tuple[str, ...]
    """Its words, folded; English content words without plural ending."""
    starts: tuple[int, ...]
    """Where each word starts, in characters."""
    classes: str
    """One letter for each word: its class."""
    rarity: tuple[int, ...]
    """How rare each word is, 0 to 6."""
    clause: tuple[int, int]
    """The words of the asking clause, as a range."""
    cues: tuple[Cue, ...]
    """Signs found in the message alone."""
    open_pronouns: int
    """References in the asking clause without anything in the message that they could mean."""
    bound_pronouns: int
    """References that the message itself may explain."""


class MessageReader(Protocol):
    """Reads the messages of one language."""

    def read(self, text: str) -> Reading:
        """Read a message, clipped, that is not blank."""


class Signs:
    """The signs that were found in a message so far."""

    __slots__ = ("bound", "cues", "opened")

    def __init__(self) -> None:
        self.cues: list[Cue] = []
        self.opened = 0
        self.bound = 0

    def note(self, name: str, text: str, start: int) -> None:
        """Add a sign."""
        self.cues.append(Cue(name, text, start))

    def refer(self, text: str, start: int, *, bound: bool, asked: bool) -> None:
        """Add a reference.

        Args:
            text: its words.
            start: where they stand, in characters.
            bound: whether the message itself may explain it.
            asked: whether it stands in the asking clause.
        """
        self.note("bound_pronoun" if bound else "pronoun", text, start)
        self.bound += bound
        self.opened += asked and not bound

    def in_order(self) -> tuple[Cue, ...]:
        """Return the signs in order of position."""
        return tuple(sorted(self.cues, key=attrgetter("start")))


@dataclass(frozen=True, slots=True, eq=False)
class HistoryReading:
    """A history as the gate sees it."""

    words: dict[str, int]
    """Content words → where they were said last."""
    text: str
    """The folded messages, for words that are cut differently in them."""
    last_text: str
    """The folded last message."""
    asks: bool
    """True if the last message is the assistant's and asks something."""
    answers: int
    """How many messages are the assistant's."""

    def seen(self, word: str) -> int:
        """Return where a folded content word was said before."""
        place = self.words.get(word)
        if place is not None:
            return place
        if len(word) > 1 and word > "\u2fff":  # Chinese words are cut differently in different sentences
            return SEEN_LAST if word in self.last_text else SEEN_BEFORE if word in self.text else UNSEEN
        return UNSEEN


def read_history(window: HistoryWindow) -> HistoryReading:
    """Return the history as the gate sees it; a conversation's messages are read once."""
    messages = window.all_messages
    return _read_history(tuple((message.role, message.full_text) for message in messages), window.summary)


@lru_cache(maxsize=128)
def _read_history(messages: tuple[tuple[str, str], ...], summary: str) -> HistoryReading:
    words: dict[str, int] = dict.fromkeys(content_tokens(summary), SEEN_BEFORE)
    for start in range(0, len(messages) - 1, _BLOCK):
        words.update(_words_before(messages[start : min(start + _BLOCK, len(messages) - 1)]))
    role, last = messages[-1] if messages else ("", "")
    words.update(dict.fromkeys(content_tokens(last), SEEN_LAST))
    return HistoryReading(
        words=words,
        text="\n".join([_folded(text) for _, text in messages] + [_folded(summary)]),
        last_text=_folded(last),
        asks=role == "assistant" and ("?" in last or "？" in last or last.rstrip("。 ！!~").endswith(ASKING_ENDS)),
        answers=sum(speaker == "assistant" for speaker, _ in messages),
    )


_BLOCK = 32
"""Messages that are joined at a time: in a conversation that goes on, only the last block is new."""


@lru_cache(maxsize=1024)
def _words_before(messages: tuple[tuple[str, str], ...]) -> dict[str, int]:
    return dict.fromkeys(chain.from_iterable(content_tokens(text) for _, text in messages), SEEN_BEFORE)


@remembered
def _folded(text: str) -> str:
    return fold(text[:20_000])
