"""What the gate measures of a message: named numbers, each explained in a line."""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from typing import NamedTuple

from llama_index_condense_plus.languages import WordPack, pack_of
from llama_index_condense_plus.languages.base import NAMING, Reference, Span, Token
from llama_index_condense_plus.languages.text import aligned, clip, fold, rarity_classes, remembered, singular
from llama_index_condense_plus.types import Cue, HistoryWindow

READ_CHARS = 1_500
"""Characters of a message that are read: both ends of a longer one."""
READ_MESSAGES = 40
"""Messages of the history that are read, the newest: what is missing is hardly ever farther back."""
LONGEST_PHRASE = 4
"""Words beyond which a repeated phrase counts no more."""
RAREST = 6
"""Class of rarity of codes and of words that no list of frequent words holds."""
RARE = 3
"""Class of rarity from which a word may name what a question is about."""
NOWHERE, EARLIER, LAST = 0, 1, 2
"""Where a word was said before: nowhere, in an earlier message, in the last one."""
FEATURES = {
    "rarest_new": "class of rarity, 1 to 7, of the rarest word of the asking clause that was not said before",
    "rarest_new_alone": "the same where the clause points at nothing",
    "rarest": "class of rarity of the rarest word of the message",
    "new_names": "names and rare words of the clause that were not said before, at most 3",
    "new_words": "words with content, names apart, of the clause that were not said before, at most 5",
    "said_last": "how rare the words are that the last message says too, summed up, at most 20",
    "person": "the clause names a person",
    "place": "the clause names a place",
    "organisation": "the clause names an organisation",
    "number": "the message holds a number",
    "time": "the message holds a time",
    "bracket": "the message holds a title or anything else in brackets",
    "phrase": "words of the longest phrase of the message that was said before, at most 4",
    "reference": "the clause points at something",
    "bound_reference": "a name stands before the words that point, in the same message",
    "only_users": "the history holds no answers",
}
"""Name of a feature → what it measures."""


class Said(NamedTuple):
    """What was said before: content words and folded text of the earlier messages and of the last one."""

    words: frozenset[str]
    last_words: frozenset[str]
    text: str
    last: str
    asks: bool
    """True if the last message is the assistant's and asks."""
    offers: bool
    """True if it offers or asks something in particular, which a yes accepts."""
    code: str
    """The language of the last message."""
    answered: bool
    """True if the history holds an answer."""

    def place_of(self, word: str, *, spaced: bool) -> int:
        """Return where a folded content word was said; words without spaces are cut differently each time."""
        if word in self.last_words:
            return LAST
        if word in self.words:
            return EARLIER
        if spaced or len(word) == 1:
            return NOWHERE
        return LAST if word in self.last else EARLIER if word in self.text else NOWHERE


class Word(NamedTuple):
    """A word with content."""

    token: Token
    place: int
    """Where it was said before."""
    rarity: int
    """0, the most frequent words, to ``RAREST``."""
    asked: bool
    """True if it stands in the asking clause."""

    @property
    def is_name(self) -> bool:
        """True for a name, a code and a word that no list of frequent words holds."""
        return self.rarity >= RAREST or self.token.kind in NAMING


class Reading(NamedTuple):
    """A message as the gate sees it."""

    text: str
    tokens: tuple[Token, ...]
    words: tuple[Word, ...]
    """Those with content."""
    clause: Span
    """The words that ask."""
    references: tuple[Reference, ...]
    """Those of the clause."""
    bound: bool
    """True if a name stands before the first of them."""
    cues: tuple[Cue, ...]
    asks: bool
    said: Said
    spaced: bool

    @property
    def subjects(self) -> list[Word]:
        """Words of the clause that may name what it is about."""
        return [word for word in self.words if word.asked and (word.is_name or word.rarity >= RARE)]


def read_history(window: HistoryWindow) -> Said:
    """Return what the newest messages of a conversation said."""
    messages = window.all_messages[-READ_MESSAGES:]
    return _read(tuple((message.role, message.full_text) for message in messages), window.summary)


@lru_cache(maxsize=256)
def _read(messages: tuple[tuple[str, str], ...], summary: str) -> Said:
    role, last = messages[-1] if messages else ("", "")
    earlier = [summary, *(text for _, text in messages[:-1])]
    return Said(
        words=frozenset().union(*map(_content, earlier)),
        last_words=_content(last),
        text="\n".join(map(_folded, earlier)),
        last=_folded(last),
        asks=role == "assistant" and pack_of(last).is_question(clip(last, READ_CHARS)),
        offers=role == "assistant" and pack_of(last).offers(clip(last, READ_CHARS)),
        code=pack_of(last).code,
        answered=any(speaker == "assistant" for speaker, _ in messages),
    )


@remembered
def _content(text: str) -> frozenset[str]:
    return frozenset(pack_of(text).content_words(clip(text, READ_CHARS)))


@remembered
def _folded(text: str) -> str:
    return fold(clip(text, READ_CHARS))


def read_message(text: str, pack: WordPack, said: Said) -> Reading:
    """Return a message, clipped, as the gate sees it."""
    tokens, clause = pack.tokenize(text), pack.asking_clause(text)
    spaced, ranks = bool(pack.joiner), rarity_classes(pack.code)
    words = []
    for token in tokens:
        if token.is_content:
            folded = fold(token.text)
            word = singular(folded)
            rarity = RAREST if token.kind == "code" else ranks.get(word, ranks.get(folded, RAREST))
            place = said.place_of(word, spaced=spaced)
            words.append(Word(token, place, rarity, clause.start <= token.start < clause.end))
    references = tuple(r for r in pack.references(text) if r.kind != "clause" and clause.start <= r.start < clause.end)
    bound = bool(references) and any(w.token.kind in NAMING and w.token.start < references[0].start for w in words)
    cues, asks = pack.cues(text), pack.is_question(text)
    return Reading(text, tokens, tuple(words), clause, references, bound, cues, asks, said, spaced)


def features(reading: Reading) -> dict[str, float]:
    """Return the values of the features that are not 0."""
    said = reading.said
    rarest = rarest_new = new_names = new_words = said_last = 0
    kinds = set[str]()
    for token, place, rarity, asked in reading.words:
        rarest = max(rarest, rarity + 1)
        if place == LAST:
            said_last += rarity
        if asked:
            kinds.add(token.kind)
            if place == NOWHERE:
                rarest_new = max(rarest_new, rarity + 1)
                is_name = rarity >= RAREST or token.kind in NAMING
                new_names, new_words = new_names + is_name, new_words + (not is_name)
    marks = (token.text[0] for token in reading.tokens if token.kind == "mark")
    points = bool(reading.references)
    found = {
        "rarest_new": rarest_new,
        "rarest_new_alone": 0 if points else rarest_new,
        "rarest": rarest,
        "new_names": min(3, new_names),
        "new_words": min(5, new_words),
        "said_last": min(20, said_last),
        "person": "person" in kinds,
        "place": "place" in kinds,
        "organisation": "organisation" in kinds,
        "number": any(word.token.kind == "number" for word in reading.words),
        "time": any(token.kind == "time" for token in reading.tokens),
        "bracket": any(unicodedata.category(mark) in ("Ps", "Pi") for mark in marks),
        "phrase": _repeated(reading),
        "reference": points,
        "bound_reference": reading.bound,
        "only_users": not said.answered,
    }
    return {name: float(value) for name, value in found.items() if value}


def _repeated(reading: Reading) -> int:
    """Return how many words the longest phrase has that was said before."""
    folded, said = aligned(reading.text), reading.said
    longest = int(any(word.place != NOWHERE for word in reading.words))
    spoken = [token for token in reading.tokens if token.kind != "mark"]
    for first, token in enumerate(spoken):
        end = first + longest
        while token.is_content and longest < LONGEST_PHRASE and end < len(spoken):
            phrase = folded[token.start : spoken[end].end]
            if phrase not in said.last and phrase not in said.text:
                break
            end += 1
            if spoken[end - 1].is_content:
                longest = end - first
    return longest
