"""Reading a Chinese message: classes of words, and which pronouns point out of it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

from llama_index_condense_plus.lexicons.attributes import ATTRIBUTES_ZH
from llama_index_condense_plus.lexicons.base import Lexicon
from llama_index_condense_plus.lexicons.memo import Memo
from llama_index_condense_plus.lexicons.patterns import regex
from llama_index_condense_plus.lexicons.rarity import RAREST, rarity_classes
from llama_index_condense_plus.lexicons.text import FUNCTION_TAGS, Token, fold, tokenize
from llama_index_condense_plus.rewriting.clauses import asking_span
from llama_index_condense_plus.rewriting.phrasebook import Hit, Phrasebook
from llama_index_condense_plus.rewriting.pronouns_zh import (
    NOUN_CLASSES,
    NOUNS,
    PIECES,
    Spans,
    Words,
    follows_noun,
    has_antecedent,
    inside,
    refers,
    title_follows,
)
from llama_index_condense_plus.rewriting.reading import (
    ATTRIBUTE,
    CLASSED,
    CONTENT,
    FUNCTION,
    NAME,
    NUMBER,
    PRONOUN,
    PUNCTUATION,
    QUESTION,
    VERB,
    Reading,
    Signs,
)

WORDS = 16_384
"""Words that are remembered."""
NAME_TAGS = frozenset(("nr", "ns", "nt", "nz", "nrt", "nrfg", "eng"))
NUMBER_TAGS = frozenset(("m", "q", "mq"))
DOTS = frozenset("·•")
"""Dots between the parts of a foreign name."""
OPEN_QUOTES = {"《": "》", "“": "”", "「": "」", "『": "』", "【": "】", '"': '"', "`": "`", "〈": "〉"}
QUOTES = regex(f"[{''.join(OPEN_QUOTES)}]")
EMPTY = regex(r"[这那]么[多大少长高贵小重]|[这那]样的(?!$|[?？])")
"""Beginnings that look like a reference and come with their own noun."""
LATIN = "\u2fff"
"""Chinese words sort after this character."""
MAX_SOUGHT = 64
"""Cues after which no pronoun's antecedent is looked for: no question has so many, hostile text has."""


class _Word(NamedTuple):
    """What a word says by itself, wherever it stands."""

    form: str
    """Folded."""
    cls: str
    """Its class, unless quotes or a dot make it a name."""
    rarity: int
    """How rare it is if it has content, else 0."""
    name_rarity: int
    """How rare it is as a name."""


class ChineseReader:
    """Reads messages.

    Args:
        lexicon: the Chinese lexicon with the user's words.
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
        forms, classes, rarity, name_rarity = map(list, zip(*known, strict=True))
        folded = _aligned(text)
        quoted = _quoted_spans(text)
        for index in _named(tokens, text, quoted):
            if classes[index] != PUNCTUATION:
                classes[index], rarity[index] = NAME, name_rarity[index]
        words = Words(tokens, forms, classes, rarity, quoted)
        first, last = asking_span(text)
        hits = self._book.find(folded)
        if quoted:
            hits = [hit for hit in hits if not inside(hit[1], quoted)]
        signs = self._signs(hits, text, folded, words, starts, (first, last))
        empty = EMPTY.match(folded)
        if empty:
            signs.note("empty_reference", text[: empty.end()], 0)
        return Reading(
            language="zh",
            text=text,
            words=tuple(forms),
            starts=starts,
            classes="".join(classes),
            rarity=tuple(rarity),
            clause=(bisect_left(starts, first), bisect_left(starts, last)),
            cues=signs.in_order(),
            open_pronouns=signs.opened,
            bound_pronouns=signs.bound,
        )

    def _learned(self, written: str, tag: str) -> _Word:
        """Return what a word says, which says its tag too."""
        form = _aligned(written)
        rarity = rarity_classes("zh" if form > LATIN else "en").get(form, RAREST)
        cls = self._class(form, tag)
        return self._words.keep(written, _Word(form, cls, rarity if cls in CLASSED else 0, rarity))

    def _class(self, word: str, tag: str) -> str:
        if tag == "x" and not word.isalnum():
            return PUNCTUATION
        if word in self._lexicon.question_words:
            return QUESTION
        if word in ATTRIBUTES_ZH:
            return ATTRIBUTE
        if tag in NUMBER_TAGS:
            return NUMBER
        if word in self._lexicon.function_words or (tag[0] in FUNCTION_TAGS and tag != "eng"):
            return FUNCTION
        return _class_of_content(word, tag)

    def _signs(
        self,
        hits: Sequence[Hit],
        text: str,
        folded: str,
        words: Words,
        starts: Sequence[int],
        span: tuple[int, int],
    ) -> Signs:
        """Return the signs that phrases are, and mark the pronouns among the classes."""
        signs = Signs()
        kinds = self._lexicon.pronoun_classes
        for kind, start, end in hits:
            phrase, index = folded[start:end], _word_at(start, starts)
            if kind == "not_pronoun":
                continue
            if kind != "pronoun":
                if (kind != "opener" or _opens(start, folded)) and not _counts(phrase, index, words.classes):
                    signs.note(kind, text[start:end], start)
                continue
            meant = kinds.get(phrase, "thing")
            if not refers(phrase, index, folded[end : end + 1], words) or (
                meant == "place" and follows_noun(index, words)
            ):
                continue
            if index is not None:
                words.classes[index] = PRONOUN
            is_bound = len(signs.cues) < MAX_SOUGHT and (
                title_follows(end, span[1], text, words.quoted) or has_antecedent(meant, start, words)
            )
            signs.refer(text[start:end], start, bound=is_bound, asked=span[0] <= start < span[1])
        return signs


def _class_of_content(word: str, tag: str) -> str:
    if tag in NAME_TAGS and len(word) > 1:
        return NAME
    return CONTENT if tag[0] in NOUNS or tag in PIECES or tag == "eng" else VERB


def _aligned(text: str) -> str:
    """Return the folded text, character by character, so that offsets stay."""
    folded = fold(text)
    return folded if len(folded) == len(text) else "".join([(fold(character) or " ")[0] for character in text])


def _quoted_spans(text: str) -> Spans:
    spans: list[tuple[int, int]] = []
    closing, opened = "", 0
    if not QUOTES.search(text):
        return spans
    for index, character in enumerate(text):
        if closing and character == closing:
            spans.append((opened, index))
            closing = ""
        elif not closing and character in OPEN_QUOTES:
            closing, opened = OPEN_QUOTES[character], index
    return spans


def _named(tokens: Sequence[Token], text: str, quoted: Spans) -> set[int]:
    """Return the words that are names by their quotes, or by a dot beside them: 道格·里曼."""
    found: set[int] = set()
    if any(dot in text for dot in DOTS):
        dots = [index for index, token in enumerate(tokens) if token.text in DOTS]
        found.update(index + step for index in dots for step in (-1, 1) if 0 <= index + step < len(tokens))
    if quoted:
        found.update(index for index, token in enumerate(tokens) if inside(token.start, quoted))
    return found


def _word_at(start: int, starts: Sequence[int]) -> int | None:
    """Return which word starts at a place, None if none does."""
    index = bisect_left(starts, start)
    return index if index < len(starts) and starts[index] == start else None


def _opens(start: int, folded: str) -> bool:
    before = folded[max(0, start - 3) : start]
    return start == 0 or before[-1] in ",.!?;。、 ~…" or before.strip("嗯哦恩,. ") == ""


def _counts(phrase: str, index: int | None, classes: Sequence[str]) -> bool:
    """Return True for 以上 after a number or a noun: 十台以上, 本科以上."""
    return phrase == "以上" and bool(index) and classes[(index or 1) - 1] in NOUN_CLASSES
