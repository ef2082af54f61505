"""A message, its rewrite and the conversation beside each other; every notion is computed when it is first asked for."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, NamedTuple

from llama_index_condense_plus.languages import Reference, Token, WordPack, pack_of
from llama_index_condense_plus.languages.text import clip, fold, rarity_classes, remembered, singular
from llama_index_condense_plus.types import HistoryWindow

if TYPE_CHECKING:
    from llama_index_condense_plus.settings import CondensePlusSettings

MAX_CHARS = 8_000
"""Longer messages and rewrites are compared by both ends."""
RARE = 6
"""Class of a word that is not among the frequent ones of its language."""
SHORTEST_ROOT = 4
"""Letters of the shortest root: a Latin word and another one that begins with its root count as forms of one."""
LONGEST_ROOT = 7
NAMING = frozenset({"person", "place", "organisation", "name", "code"})
"""Kinds of tokens that name one thing."""
ORDERS = frozenset({"injection", "meta"})
"""Kinds of instructions that are none of the user's business."""
PASSAGE = 3
"""An instruction is taken to reach over so many sentences, its own included."""
STATING = frozenset({".", "!", "\N{IDEOGRAPHIC FULL STOP}", "\N{FULLWIDTH EXCLAMATION MARK}"})
"""Marks that end a statement."""
_PARTS = re.compile(r"[-_./'’+#]+")
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_SPACE = re.compile(r"\s+")


class Words(NamedTuple):
    """What is compared of a text."""

    plain: str
    """The folded text, in which words of scripts without spaces are looked up."""
    content: tuple[Token, ...]
    """Its content words."""
    known: frozenset[str]
    """Every word, content or not: folded, its root, and its parts if it has hyphens."""
    numbers: frozenset[str]
    """Its numbers in digits."""

    def has(self, token: Token) -> bool:
        """Return True if the text holds the word, or another form of it."""
        return has_word(token.text, self.known, self.plain)


@remembered
def words(text: str) -> Words:
    """Return what is compared of a text."""
    plain, tokens = fold(text), pack_of(text).tokenize(text)
    known: set[str] = set()
    for token in tokens:
        known.update(_forms(token.text))
    content = tuple(token for token in tokens if token.is_content)
    return Words(plain, content, frozenset(known), frozenset(_NUMBER.findall(plain)))


@lru_cache(maxsize=16_384)
def _forms(word: str) -> tuple[str, ...]:
    """Return a word's folded forms: in the singular, its root, without separators, and its parts."""
    base = singular(fold(word))
    if base.isalpha():
        return (base, *(base[:size] for size in range(SHORTEST_ROOT, min(LONGEST_ROOT, len(base))))) if base.isascii() else (base,)
    parts = tuple(filter(None, _PARTS.split(base)))
    return (base, "".join(parts), *map(singular, parts))


def has_word(word: str, known: frozenset[str], plain: str) -> bool:
    """Return True if a word or a form of it is among known ones, or stands in a text without spaces."""
    base, *others = _forms(word)
    if base in known:
        return True
    if not base.isascii():
        return base in plain or (len(base) > 2 and (base[:-1] in plain or base[1:] in plain))  # noqa: PLR2004
    if base.isalpha():
        return len(base) > SHORTEST_ROOT and base[: max(SHORTEST_ROOT, min(LONGEST_ROOT - 1, len(base) - 3))] in known
    return bool(others) and (others[0] in known or all(part in known for part in others[1:]))


class Said(NamedTuple):
    """What a conversation holds: everything that a rewrite may draw on."""

    plain: str
    known: frozenset[str]
    numbers: frozenset[str]
    orders: tuple[Words, ...]
    """Passages that order the model to do something; they ground nothing."""
    negates: bool

    def has(self, token: Token) -> bool:
        """Return True if the word was said outside of orders, in this or another form."""
        return has_word(token.text, self.known, self.plain)


class _Message(NamedTuple):
    usual: Words
    orders: tuple[Words, ...]
    negates: bool


@remembered
def _message(text: str) -> _Message:
    """Return a message of the history with the passages apart that order the model to do something."""
    pack = pack_of(text)
    starts = [span.start for span in pack.instructions(text) if span.kind in ORDERS]
    orders: list[Words] = []
    if starts:
        text = clip(text)
        sentences = pack.sentences(text)
        ordered = {
            number + offset
            for number, sentence in enumerate(sentences)
            if any(sentence.start <= start < sentence.end for start in starts)
            for offset in range(PASSAGE)
        }
        orders = [words(s.text) for number, s in enumerate(sentences) if number in ordered]
        text = "\n".join(s.text for number, s in enumerate(sentences) if number not in ordered)
    return _Message(words(text), tuple(orders), bool(pack.negations(text)))


@lru_cache(maxsize=256)
def _said(texts: tuple[str, ...]) -> Said:
    read = [_message(text) for text in texts if text]
    return Said(
        "\n".join(message.usual.plain for message in read),
        frozenset().union(*(message.usual.known for message in read)),
        frozenset().union(*(message.usual.numbers for message in read)),
        tuple(passage for message in read for passage in message.orders),
        any(message.negates for message in read),
    )


def bare(text: str) -> str:
    """Return the folded letters and digits of a text."""
    return "".join(filter(str.isalnum, fold(text)))


SHORT = 4
"""Letters of a text that is too short to be a repetition."""


@remembered
def _sentences(text: str) -> tuple[str, ...]:
    """Return the bare forms of a message and its sentences."""
    text = clip(text, MAX_CHARS)
    forms = [bare(text), *(bare(sentence.text) for sentence in pack_of(text).sentences(text))]
    return tuple(form for form in dict.fromkeys(forms) if len(form) >= SHORT)


def overlap(form: str, text: str) -> float:
    """Return how much of a bare form and a sentence of a text are the same, if one holds the other."""
    if len(form) < SHORT:
        return 0.0
    found = (min(len(s), len(form)) / max(len(s), len(form)) for s in _sentences(text) if form in s or s in form)
    return max(found, default=0.0)


class Comparison:
    """What a rewrite keeps of a message, what it adds, and whether that was said.

    Args:
        message: the user's words.
        rewrite: what is compared with them.
        window: the conversation.
        grounded: more that counts as said, such as the targets of aliases.
        shots: texts of the examples that the prompt showed.
        settings: whose ``languages`` section adds words and removes some.
    """

    def __init__(
        self,
        message: str,
        rewrite: str,
        window: HistoryWindow,
        *,
        grounded: Iterable[str] = (),
        shots: Iterable[str] = (),
        settings: CondensePlusSettings | None = None,
    ) -> None:
        self.message = clip(message, MAX_CHARS)
        self.rewrite = clip(rewrite, MAX_CHARS)
        self.window = window
        self.shots = tuple(shots)
        self._grounded = tuple(grounded)
        self._settings = settings

    @cached_property
    def pack(self) -> WordPack:
        """The pack of the message's language."""
        return pack_of(self.message, self._settings)

    @cached_property
    def written_pack(self) -> WordPack:
        """The pack of the rewrite's language."""
        return pack_of(self.rewrite, self._settings)

    @cached_property
    def asked(self) -> Words:
        """The message."""
        return words(self.message)

    @cached_property
    def written(self) -> Words:
        """The rewrite."""
        return words(self.rewrite)

    @cached_property
    def said(self) -> Said:
        """The conversation, its summary and the targets of aliases."""
        texts = tuple(message.full_text for message in self.window.all_messages)
        return _said((*texts, self.window.summary, *self._grounded))

    @cached_property
    def knows_answers(self) -> bool:
        """True if the conversation holds what the assistant said."""
        return any(message.role == "assistant" for message in self.window.all_messages)

    @cached_property
    def same(self) -> bool:
        """True if the rewrite is the message but for spaces, case and marks."""
        return bare(self.message) == bare(self.rewrite)

    def was_said(self, text: str) -> bool:
        """Return True if words stand in the message or in the conversation, outside of orders."""
        plain = fold(text)
        return plain in self.asked.plain or plain in self.said.plain

    @cached_property
    def references(self) -> tuple[Reference, ...]:
        """The words of the message that point back."""
        return self.pack.references(self.message)

    @cached_property
    def binding(self) -> tuple[Token, ...]:
        """The content words of the message that the rewrite is to keep: those of what it asks, pointers apart."""
        clause = self.pack.asking_clause(self.message)
        own = [t for t in self.asked.content if not any(r.start <= t.start < r.end for r in self.references)]
        asking = [t for t in own if clause.start <= t.start < clause.end]
        return tuple(asking or own)

    @cached_property
    def frame(self) -> tuple[Token, ...]:
        """The other words of the message, pointers and marks apart: how it asks."""
        return tuple(
            token
            for token in self.pack.tokenize(self.message)
            if not token.is_content
            and token.kind != "mark"
            and not any(r.start <= token.start < r.end for r in self.references)
        )

    @cached_property
    def frame_kept(self) -> float:
        """Share of these words that survive; 1 if there are none."""
        return _share(sum(self.written.has(token) for token in self.frame), len(self.frame))

    @cached_property
    def lost(self) -> tuple[Token, ...]:
        """The binding words that are not in the rewrite."""
        if bare(self.message) in bare(self.rewrite):
            return ()
        return tuple(token for token in self.binding if not self.written.has(token) and not self._mistyped(token))

    @cached_property
    def keeps_nothing(self) -> bool:
        """True if no content word of the message survives, or no word at all of one that has none."""
        if self.binding:
            return len(self.lost) == len(self.binding)
        return bool(self.frame) and self.frame_kept == 0

    @cached_property
    def added(self) -> tuple[Token, ...]:
        """The content words of the rewrite that the message does not have."""
        return tuple(token for token in self.written.content if not self.asked.has(token))

    @cached_property
    def unsaid(self) -> tuple[Token, ...]:
        """The added words that nobody said, spelling apart."""
        typed = [token.text for token in self.asked.content]
        return tuple(
            token
            for token in self.added
            if not self.said.has(token)
            and not any(_near(fold(token.text), fold(other)) for other in typed)
            and not (token.kind in {"number", "time"} and not self.new_numbers)
        )

    @cached_property
    def new_names(self) -> tuple[str, ...]:
        """The names and codes that nobody mentioned."""
        return tuple(token.text for token in self.unsaid if token.kind in NAMING)

    @cached_property
    def kept_share(self) -> float:
        """Share of the binding words that survive; 1 if there are none."""
        return _share(len(self.binding) - len(self.lost), len(self.binding))

    @cached_property
    def novelty(self) -> float:
        """Share of the rewrite's content words that were found neither in the message nor in the conversation."""
        return len(self.unsaid) / len(self.written.content) if self.written.content else 0.0

    @cached_property
    def rarity(self) -> float:
        """How rare the rarest unsaid word is, from 0 (none, or everyday) to 1."""
        return max((_rarity(token.text) for token in self.unsaid), default=0) / RARE

    @cached_property
    def lost_numbers(self) -> tuple[str, ...]:
        """Numbers of what is asked that are gone, unless they picked a list item that the rewrite names."""
        if any(cue.name == "pick" for cue in self.pack.cues(self.message)):
            return ()
        picks = [r for r in self.references if r.kind == "ordinal"]
        clause = self.pack.asking_clause(self.message)
        gone = [
            match.group()
            for match in _NUMBER.finditer(clause.text)
            if not _keeps_number(match.group(), self.written)
            and not any(r.start <= match.start() + clause.start < r.end for r in picks)
        ]
        return tuple(number for number in gone if not self._names_item(number))

    @cached_property
    def new_numbers(self) -> tuple[str, ...]:
        """Numbers that nobody said; a date may follow from the time that a message names."""
        new = (n for n in self.written.numbers if n not in self.asked.numbers and not _keeps_number(n, self.said))
        timed = any(t.kind == "time" for t in (*self.asked.content, *self.references))
        return () if timed and self.asked.numbers <= self.written.numbers else tuple(new)

    @cached_property
    def lost_negation(self) -> bool:
        """True if what is asked negates and the rewrite does so less often."""
        clause = self.pack.asking_clause(self.message)
        return len(self.pack.negations(clause.text)) > len(self.pack.negations(self.rewrite))

    @cached_property
    def new_negation(self) -> bool:
        """True if the rewrite negates what was not negated before; "other than X" after "any others?" does not."""
        spans = self.pack.negations(self.rewrite)
        if len(spans) <= len(self.pack.negations(self.message)) or any(r.kind == "other" for r in self.references):
            return False
        tokens = self.pack.tokenize(self.rewrite)
        for span in spans:
            after = next((t.end for t in tokens if t.start >= span.end and t.kind != "mark"), span.end)
            phrase = fold(self.rewrite[span.start : after])
            if phrase not in self.said.plain and phrase not in self.asked.plain:
                return True
        return False

    @cached_property
    def references_left(self) -> tuple[str, ...]:
        """Pointers of the message that the rewrite still holds."""
        before = {fold(r.text) for r in self.references if r.kind != "clause"}
        return tuple(r.text for r in self.pack.references(self.rewrite) if fold(r.text) in before)

    @cached_property
    def obeyed(self) -> tuple[Token, ...]:
        """The words of the rewrite that were said in orders to the model, and nowhere else."""
        return tuple(t for t in self.unsaid if any(order.has(t) for order in self.said.orders))

    @cached_property
    def asks(self) -> bool:
        """True if the rewrite asks, or requests an answer."""
        return self.written_pack.is_question(self.rewrite)

    @cached_property
    def is_small_talk(self) -> bool:
        """True if the message is small talk; yes and no answer a question, which may be meant."""
        return self.pack.small_talk(self.message) not in {"", "answer"}

    @cached_property
    def states(self) -> bool:
        """True if the rewrite has the form of a statement: it ends like one, where the message does not."""
        return self.rewrite.rstrip()[-1:] in STATING and self.message.rstrip()[-1:] not in STATING

    @cached_property
    def stops_asking(self) -> bool:
        """True if the message asks and the rewrite does not."""
        return self.pack.is_question(self.message) and not self.asks

    @cached_property
    def other_question(self) -> bool:
        """True if both hold question words and share none."""
        before, after = (
            {fold(t.text) for t in self.pack.tokenize(text) if t.kind == "question"}
            for text in (self.message, self.rewrite)
        )
        return bool(before and after) and before.isdisjoint(after)

    @cached_property
    def added_questions(self) -> int:
        """Question words of the rewrite that the message, if it asks, does not have."""
        tokens = self.pack.tokenize(self.rewrite)
        own = any(t.kind == "question" for t in self.frame) or self.pack.is_question(self.message)
        return sum(t.kind == "question" and not self.asked.has(t) for t in tokens) if own else 0

    @cached_property
    def more_sentences(self) -> bool:
        """True if the rewrite has more sentences than the message."""
        return len(self.pack.sentences(self.rewrite)) > len(self.pack.sentences(self.message))

    @cached_property
    def copied(self) -> float:
        """Share of the rewrite that repeats one earlier sentence and stands nowhere in the message."""
        form = bare(self.rewrite)
        if form in bare(self.message):
            return 0.0
        return max((overlap(form, m.full_text) for m in self.window.all_messages), default=0.0)

    @cached_property
    def from_answer(self) -> float:
        """Share of the rewrite's content words that only the assistant has said."""
        if not self.written.content:
            return 0.0
        users = _said(tuple(m.full_text for m in self.window.all_messages if m.role == "user"))
        only = [t for t in self.added if self.said.has(t) and not users.has(t)]
        return len(only) / len(self.written.content)

    def _mistyped(self, token: Token) -> bool:
        word = fold(token.text)
        return any(_near(word, fold(other.text)) for other in self.written.content)

    def _names_item(self, number: str) -> bool:
        items = self.window.list_items
        place = int(number) if number.isdecimal() and len(number) <= 3 else 0  # noqa: PLR2004 - no longer list
        return 0 < place <= len(items) and any(self.written.has(token) for token in words(items[place - 1]).content)


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 1.0


def _keeps_number(number: str, text: Words | Said) -> bool:
    """Return True if a text holds a number, alone, in a code, or with its century."""
    if number in text.numbers or number in text.known:
        return True
    return any(other.endswith(number) and len(other) - len(number) == 2 for other in text.numbers)  # noqa: PLR2004


def _near(word: str, other: str) -> bool:
    """Return True if two words differ by one letter, or by the order of two."""
    if word[0] != other[0] or not SHORTEST_ROOT <= len(word) <= len(other) + 1 <= len(word) + 2:
        return False
    if not (word.isascii() and word.isalpha() and other.isalpha()):
        return False
    if len(word) == len(other):
        apart = [i for i, (a, b) in enumerate(zip(word, other, strict=True)) if a != b]
        return len(apart) <= 1 or (len(apart) == 2 and sorted(word) == sorted(other))  # noqa: PLR2004
    long, short = (word, other) if len(word) > len(other) else (other, word)
    return any(long[:i] + long[i + 1 :] == short for i in range(len(long)))


@lru_cache(maxsize=16_384)
def _rarity(word: str) -> int:
    """Return the frequency class of a word in its own language: 0 for the most frequent ones, at most ``RARE``."""
    ranks = rarity_classes(pack_of(word).code)
    return min(ranks.get(fold(word), RARE), ranks.get(singular(fold(word)), RARE))
