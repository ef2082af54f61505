"""Reading an English message: classes of words, and which pronouns point out of it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

from llama_index_condense_plus.lexicons.attributes import ATTRIBUTES_EN
from llama_index_condense_plus.lexicons.base import Lexicon
from llama_index_condense_plus.lexicons.en_grammar import AUXILIARIES, FIRST_PERSON, ORDINALS, WH
from llama_index_condense_plus.lexicons.memo import Memo
from llama_index_condense_plus.lexicons.patterns import regex
from llama_index_condense_plus.lexicons.rarity import RAREST, rarity_classes
from llama_index_condense_plus.lexicons.stems import singular
from llama_index_condense_plus.lexicons.text import Token, tokenize
from llama_index_condense_plus.rewriting.clauses import asking_span
from llama_index_condense_plus.rewriting.phrasebook import Hit, Phrasebook
from llama_index_condense_plus.rewriting.pronouns_en import NOMINAL, has_antecedent, refers
from llama_index_condense_plus.rewriting.reading import (
    ATTRIBUTE,
    CONTENT,
    FUNCTION,
    NAME,
    NUMBER,
    OWN,
    PRONOUN,
    PUNCTUATION,
    QUESTION,
    Reading,
    Signs,
)

WORDS = 16_384
"""Words that are remembered."""
MIN_LOWER = 5
"""Capitals mark names if at least one word in so many begins with a small letter."""
OPEN_QUOTES = {'"': '"', "“": "”", "`": "`", "「": "」", "『": "』", "《": "》"}
QUOTES = regex(f"[{''.join(OPEN_QUOTES)}]")
SMALL, LARGE = "aA"
SENTENCE_ENDS = ".?!:"
"""Marks after which a capital says nothing."""


class _Word(NamedTuple):
    """What a word says by itself, wherever it stands."""

    lower: str
    """In lower case."""
    cls: str
    """Its class, unless a capital or quotes make it a name."""
    form: str
    """Without plural ending if it may be a noun."""
    rarity: int
    """How rare it is if it may be a noun, else 0."""
    name: str
    """Without plural ending, as it is where it is a name."""
    name_rarity: int
    """How rare it is there."""
    initial: str
    """``SMALL`` or ``LARGE`` for a word of more than one letter."""
    is_capital: bool
    """True if it may be a name inside a sentence."""
    is_pronoun: bool
    """True if it may refer back."""


class EnglishReader:
    """Reads messages.

    Args:
        lexicon: the English lexicon with the user's words.
        book: its phrases.
    """

    def __init__(self, lexicon: Lexicon, book: Phrasebook) -> None:
        self._lexicon = lexicon
        self._book = book
        self._words: Memo[str, _Word] = Memo(WORDS)

    def read(self, text: str) -> Reading:
        """Read a message, clipped, that is not blank."""
        tokens = tokenize(text)
        starts = tuple([token.start for token in tokens])
        known = [self._words.get(word) or self._learned(word, tag) for word, _, tag in tokens]
        columns = map(list, zip(*known, strict=True))
        lower, classes, forms, rarity, names, name_rarity, initials, capitals, pronouns = columns
        quoted = _quoted(tokens, text)
        for index in _named(classes, lower, _telling(capitals, initials), quoted):
            classes[index], forms[index], rarity[index] = NAME, names[index], name_rarity[index]
        first, last = asking_span(text)
        clause = bisect_left(starts, first), bisect_left(starts, last)
        hits = self._book.find(lower)
        if quoted:
            hits = [hit for hit in hits if hit[1] not in quoted]
        signs = Signs()
        if True in pronouns:
            masked = quoted | _masked(hits, tokens, lower)
            sought = [index for index, found in enumerate(pronouns) if found and index not in masked]
            _note_pronouns(signs, sought, tokens, lower, classes, clause)
        _note_phrases(signs, hits, tokens, classes, text)
        return Reading(
            language="en",
            text=text,
            words=tuple(forms),
            starts=starts,
            classes="".join(classes),
            rarity=tuple(rarity),
            clause=clause,
            cues=signs.in_order(),
            open_pronouns=signs.opened,
            bound_pronouns=signs.bound,
        )

    def _learned(self, written: str, tag: str) -> _Word:
        """Return what a word says, which says its tag too."""
        lower = written.lower().replace("’", "'")
        if lower == written:
            lower = written  # one text in memory
        stem = singular(lower)
        ranks = rarity_classes("en")
        rarity = min(ranks.get(lower, RAREST), ranks.get(stem, RAREST))
        cls = self._class(written, lower, stem, tag)
        is_noun = cls in NOMINAL
        word = _Word(
            lower=lower,
            cls=cls,
            form=stem if is_noun else lower,
            rarity=rarity if is_noun else 0,
            name=stem,
            name_rarity=rarity,
            initial="" if tag != "eng" or len(written) == 1 else SMALL if written[0].islower() else LARGE,
            is_capital=written[0].isupper() and lower not in FIRST_PERSON,
            is_pronoun=lower in self._lexicon.pronouns,
        )
        return self._words.keep(written, word)

    def _class(self, written: str, lower: str, stem: str, tag: str) -> str:
        if tag == "x" and not written.isalnum():
            return PUNCTUATION
        if _is_code(written):
            return NAME
        if tag == "m":
            return NUMBER
        if lower in WH:
            return QUESTION
        if lower in self._lexicon.function_words:
            return FUNCTION
        return ATTRIBUTE if lower in ATTRIBUTES_EN or stem in ATTRIBUTES_EN else CONTENT


def _is_code(word: str) -> bool:
    if word.isalpha() and word.islower():
        return False
    return (
        (any(map(str.isdigit, word)) and any(map(str.isalpha, word)))
        or (len(word) > 1 and not word[1:].islower() and word[1:].isalpha())
        or "_" in word
    )


def _quoted(tokens: Sequence[Token], text: str) -> frozenset[int]:
    """Return which tokens stand in quotes, in code or in a URL."""
    if "://" not in text and not QUOTES.search(text):
        return frozenset()
    found: set[int] = set()
    closing = ""
    opened = 0
    url_until = -1
    for index, token in enumerate(tokens):
        mark = token.text
        if token.start < url_until:
            found.add(index)
        elif closing and mark == closing:
            found.update(range(opened + 1, index))
            closing = ""
        elif not closing and mark in OPEN_QUOTES:
            closing, opened = OPEN_QUOTES[mark], index
        elif text.startswith("://", token.start + len(mark)):
            url_until = next((at for at in range(token.start, len(text)) if text[at].isspace()), len(text))
            found.add(index)
    return frozenset(found)


def _telling(capitals: Sequence[bool], initials: Sequence[str]) -> Sequence[bool]:
    """Return which words have a capital that marks a name: none if nearly every word has one."""
    if True not in capitals[1:]:
        return ()
    small, large = initials.count(SMALL), initials.count(LARGE)
    return capitals if small * MIN_LOWER >= small + large else ()


def _named(classes: Sequence[str], lower: Sequence[str], capitals: Sequence[bool], quoted: frozenset[int]) -> list[int]:
    """Return the words that are names by their quotes, or by a capital inside a sentence."""
    if not quoted and not capitals:
        return []
    named = []
    fresh = True  # at the start of a sentence a capital says nothing
    for index, (cls, word) in enumerate(zip(classes, lower, strict=True)):
        if cls == PUNCTUATION:
            fresh = fresh or word in SENTENCE_ENDS
            continue
        if index in quoted or (capitals and capitals[index] and not fresh):
            named.append(index)
        fresh = False
    return named


def _masked(hits: Sequence[Hit], tokens: Sequence[Token], lower: Sequence[str]) -> frozenset[int]:
    """Return the words of phrases in which a pronoun is none: the "it" of "IT department", not of "does it support"."""
    found: set[int] = set()
    for kind, start, end in hits:
        if kind == "not_pronoun" and not (tokens[start].text == "it" and start and lower[start - 1] in AUXILIARIES):
            found.update(range(start, end))
    return frozenset(found)


def _note_pronouns(
    signs: Signs,
    sought: Sequence[int],
    tokens: Sequence[Token],
    lower: Sequence[str],
    classes: list[str],
    clause: tuple[int, int],
) -> None:
    """Add what pronouns say, and mark them among the classes."""
    for index in sought:
        if classes[index] == NAME:
            continue
        written, start, _ = tokens[index]
        if refers(index, lower, classes):
            classes[index] = PRONOUN
            is_bound = has_antecedent(index, lower, classes)
            signs.refer(written, start, bound=is_bound, asked=clause[0] <= index < clause[1])
        elif lower[index] in ("it", "it's"):
            signs.note("empty_reference", written, start)


def _note_phrases(
    signs: Signs, hits: Sequence[Hit], tokens: Sequence[Token], classes: Sequence[str], text: str
) -> None:
    """Add what phrases say, pronouns left out."""
    for kind, start, end in hits:
        if kind in ("not_pronoun", "pronoun") or (kind == "opener" and start > 1):
            continue
        last = tokens[end - 1]
        named = kind == "ordinal" and end < len(tokens) and classes[end] in OWN and last.text.lower() in ORDINALS
        name = "ordinal_of_own" if named else kind  # "the first mount": of what is named beside it
        signs.note(name, text[tokens[start].start : last.start + len(last.text)], tokens[start].start)
