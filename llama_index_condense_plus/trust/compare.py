"""A message, its rewrite and the conversation beside each other; each notion is computed when it is first asked for."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING

from llama_index_condense_plus.languages import Reference, Span, Token, WordPack, pack_of
from llama_index_condense_plus.languages.base import NAMING
from llama_index_condense_plus.languages.text import clip, fold
from llama_index_condense_plus.rewriting.cutting import item_name
from llama_index_condense_plus.trust.words import NUMBER, RARE, Words, bare, rarity, said, spelt, words
from llama_index_condense_plus.types import HistoryWindow

if TYPE_CHECKING:
    from llama_index_condense_plus.settings import CondensePlusSettings

MAX_CHARS = 8_000
"""Longer messages and rewrites are compared by both ends."""
POINTING = frozenset({"person", "thing", "place", "plural"})
"""Kinds of references that a rewrite is there to replace."""


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
        self.message: str = clip(message, MAX_CHARS)
        self.rewrite: str = clip(rewrite, MAX_CHARS)
        self.window = window
        self.shots: tuple[str, ...] = tuple(shots)
        self.asked: Words = words(self.message)
        self.written: Words = words(self.rewrite)
        last = window.all_messages[-1:]
        lettered = any(map(str.isalpha, self.message)) or not last
        self.pack: WordPack = pack_of(self.message if lettered else last[0].full_text, settings)
        """The pack of the message's language; a message without letters speaks that of the conversation."""
        self.written_pack: WordPack = pack_of(self.rewrite, settings)
        """The pack of the rewrite's language."""
        self.same: bool = bare(self.message) == bare(self.rewrite)
        """True if the rewrite is the message but for spaces, case and marks."""
        self._grounded = tuple(grounded)

    @cached_property
    def said(self) -> Words:
        """The conversation with its summary, and the targets of aliases."""
        texts = tuple(message.full_text for message in self.window.all_messages)
        return said((*texts, self.window.summary, *self._grounded))

    def was_said(self, text: str) -> bool:
        """Return True if words stand in the message, or in the conversation outside of orders."""
        plain = fold(text)
        return plain in self.asked.plain or plain in self.said.plain

    @cached_property
    def knows_answers(self) -> bool:
        """True if the conversation holds what the assistant said."""
        return any(message.role == "assistant" for message in self.window.all_messages)

    @cached_property
    def references(self) -> tuple[Reference, ...]:
        """The words of the message that point back."""
        return self.pack.references(self.message)

    @cached_property
    def picks(self) -> bool:
        """True if the message picks an item of a list: the item's name may stand in the place of its words."""
        return any(r.kind == "ordinal" for r in self.references) or "pick" in self.signs or bool(self.picked)

    @cached_property
    def picked(self) -> frozenset[int]:
        """Where the message has words that stand for a list item that the rewrite names: "2", "third doctor"."""
        items, numbers = self.window.list_items, self.pack.table.get("numbers", {})
        found = set[int]()
        tokens = self.pack.tokenize(self.message) if items else ()
        for before, token, after in zip((None, *tokens), tokens, (*tokens[1:], None), strict=False):
            number = int(token.text) if token.text.isdecimal() else numbers.get(fold(token.text), 0)
            item = words(item_name(items[number - (number > 0)])).content if 0 < abs(number) <= len(items) else ()
            if item and all(map(self.written.has, item)):
                found.add(token.start)
                noun = before if token.text.isdecimal() else after  # "course 3", "third course"
                found |= {noun.start} if noun else set()
        return frozenset(found)

    @cached_property
    def signs(self) -> frozenset[str]:
        """Names of the message's cues."""
        return frozenset(cue.name for cue in self.pack.cues(self.message))

    @cached_property
    def replies(self) -> bool:
        """True if the message answers an assistant's message that offers or asks, instead of asking."""
        last = [message.full_text for message in self.window.all_messages[-1:] if message.role == "assistant"]
        asks = self.pack.is_question(self.message) and not self.pack.small_talk(self.message)
        return not asks and any(pack_of(text).offers(text) for text in last)

    @cached_property
    def accepts(self) -> bool:
        """True if the message says yes to what the assistant's last message offers or asks."""
        return self.replies and self.pack.small_talk(self.message) == "answer"

    @cached_property
    def stands_for_other_words(self) -> bool:
        """True if all that is meant stands in what was said: an accepted offer, the item of a list, or more of it."""
        return self.accepts or "more" in self.signs or ("pick" in self.signs and bool(self.window.list_items))

    @cached_property
    def is_dated(self) -> bool:
        """True if the rewrite has a number where the message has a word for a time: a date takes its place."""
        times = {token.kind for token in self.asked.content} | {reference.kind for reference in self.references}
        return "time" in times and not self.written.numbers <= self.asked.numbers

    @cached_property
    def binding(self) -> tuple[Token, ...]:
        """The content words that a rewrite is to keep: those of what the message asks, pointers apart."""
        if self.stands_for_other_words:
            return ()
        clause = self.pack.asking_clause(self.message)
        wrong = [(c.start, c.start + len(c.text)) for c in self.pack.cues(self.message) if c.name == "correction"]
        own = [t for t in self.asked.content if not self._points(t) and not any(a <= t.start < b for a, b in wrong)]
        if self.is_dated:
            numbers = self.pack.table.get("numbers", {})
            own = [t for t in own if t.kind not in ("time", "number") and fold(t.text) not in numbers]
        return tuple([token for token in own if clause.start <= token.start < clause.end] or own)

    @cached_property
    def frame(self) -> tuple[Token, ...]:
        """The other words of the message, pointers and marks apart: how it asks."""
        replaced = self.stands_for_other_words or ((self.picked or self.is_dated) and not self.binding)
        tokens = () if replaced else self.pack.tokenize(self.message)
        return tuple(t for t in tokens if not t.is_content and t.kind != "mark" and not self._points(t))

    @cached_property
    def frame_kept(self) -> float:
        """Share of these words that survive; 1 if there are none."""
        return sum(self.written.has(token) for token in self.frame) / len(self.frame) if self.frame else 1.0

    @cached_property
    def lost(self) -> tuple[Token, ...]:
        """The binding words that are not in the rewrite, spelling apart."""
        if bare(self.message) in bare(self.rewrite):
            return ()
        return tuple(t for t in self.binding if not self.written.has(t) and not spelt(t, self.written.content))

    @cached_property
    def kept_share(self) -> float:
        """Share of the binding words that survive; 1 if there are none."""
        return 1 - len(self.lost) / len(self.binding) if self.binding else 1.0

    @cached_property
    def keeps_nothing(self) -> bool:
        """True if no binding word of the message survives, or no word at all of one that has none."""
        if self.binding:
            return len(self.lost) == len(self.binding)
        return bool(self.frame) and self.frame_kept == 0

    @cached_property
    def keeps_all(self) -> bool:
        """True if every binding word survives, and they are several or the message's other words survive too."""
        return bool(self.binding) and not self.lost and (len(self.binding) > 1 or self.frame_kept == 1)

    @cached_property
    def keeps_remarks(self) -> bool:
        """True if a content word survives of what stands beside the question."""
        binding = set(self.binding)
        return any(t not in binding and not self._points(t) and self.written.has(t) for t in self.asked.content)

    @cached_property
    def added(self) -> tuple[Token, ...]:
        """The content words of the rewrite that the message does not have."""
        return tuple(token for token in self.written.content if not self.asked.has(token))

    @cached_property
    def unsaid(self) -> tuple[Token, ...]:
        """The added words that nobody said, spelling apart; a date that follows from a named time counts as said."""
        return tuple(
            token
            for token in self.added
            if not self.said.has(token)
            and not spelt(token, self.asked.content)
            and not (token.kind in {"number", "time"} and not self.new_numbers)
        )

    @cached_property
    def answer_words(self) -> tuple[Token, ...]:
        """The added words, names apart, that only an answer holds: a document may have put them there."""
        users = said(tuple(m.full_text for m in self.window.all_messages if m.role == "user"))
        if self.stands_for_other_words:
            return ()
        return tuple(t for t in self.added if t.kind not in NAMING and self.said.has(t) and not users.has(t))

    @cached_property
    def obeyed(self) -> tuple[Token, ...]:
        """The added words that were said in orders to the model, and nowhere else."""
        return tuple(token for token in self.unsaid if any(order.has(token) for order in self.said.orders))

    @cached_property
    def novelty(self) -> float:
        """Share of the rewrite's content words that were found neither in the message nor in the conversation."""
        return len(self.unsaid) / len(self.written.content) if self.written.content else 0.0

    @cached_property
    def new_names(self) -> tuple[str, ...]:
        """The names, codes and addresses that nobody mentioned."""
        return tuple(t.text for t in self.unsaid if t.kind in NAMING or not t.text.replace("-", "").isalnum())

    @cached_property
    def rarity(self) -> float:
        """How rare the rarest unsaid word is in its language, from 0 (none, or everyday) to 1."""
        return max((rarity(token.text) for token in self.unsaid), default=0) / RARE

    @cached_property
    def lost_numbers(self) -> tuple[str, ...]:
        """Numbers of what is asked that are gone, unless they pick a list item."""
        asked = NUMBER.findall(self.pack.asking_clause(self.message).text)
        return () if self.picks else tuple(number for number in asked if not self.written.has_number(number))

    @cached_property
    def new_numbers(self) -> tuple[str, ...]:
        """Numbers that nobody said; a date may follow from the time that a message names."""
        new = (n for n in self.written.numbers - self.asked.numbers if not self.said.has_number(n))
        return () if self.is_dated and self.asked.numbers <= self.written.numbers else tuple(new)

    @cached_property
    def negations(self) -> tuple[Span, ...]:
        """The words of the rewrite that negate."""
        return self.pack.negations(self.rewrite)

    @cached_property
    def instructions(self) -> tuple[Span, ...]:
        """The words of the rewrite that order, apologise or talk about the task, and that nobody has said."""
        packs = dict.fromkeys((self.pack, self.written_pack))
        found = (span for pack in packs for span in pack.instructions(self.rewrite))
        return tuple(span for span in found if not self.was_said(span.text))

    @cached_property
    def lost_negation(self) -> bool:
        """True if what is asked negates and the rewrite does so less often."""
        asked = self.pack.negations(self.pack.asking_clause(self.message).text)
        return bool(asked) and len(asked) > len(self.negations)

    @cached_property
    def new_negation(self) -> bool:
        """True if the rewrite negates what was not negated before; "other than X" after "any others?" does not."""
        spans = self.negations
        if (
            not spans
            or len(spans) <= len(self.pack.negations(self.message))
            or any(r.kind == "other" for r in self.references)
        ):
            return False
        tokens = [token for token in self.pack.tokenize(self.rewrite) if token.kind != "mark"]
        ends = (next((t.end for t in tokens if t.start >= span.end), span.end) for span in spans)
        return any(not self.was_said(self.rewrite[s.start : end]) for s, end in zip(spans, ends, strict=True))

    @cached_property
    def references_left(self) -> tuple[str, ...]:
        """Pointers of the message that the rewrite still holds."""
        before = {fold(r.text) for r in self.references if r.kind != "clause"}
        if not before:
            return ()
        return tuple(r.text for r in self.pack.references(self.rewrite) if fold(r.text) in before)

    @cached_property
    def resolves_nothing(self) -> bool:
        """True if the rewrite changes other words, and its question still points back as the message's does."""
        clause = self.pack.references(self.pack.asking_clause(self.message).text)
        before = [fold(r.text) for r in clause if r.kind in POINTING]
        after = [r for r in self.written_pack.references(self.rewrite) if fold(r.text) in before]
        if self.same or not self.added or not before or len(after) < len(before):
            return False
        return not any(token.kind in NAMING or token.start < after[0].start for token in self.added)

    @cached_property
    def asks(self) -> bool:
        """True if the rewrite asks, or requests an answer."""
        return self.written_pack.is_question(self.rewrite)

    @cached_property
    def added_questions(self) -> int:
        """Question words that begin a clause of the rewrite and that the message does not have.

        A message without any ("And its price?") may be given some, unless words come with them that nobody said.
        """
        if self.stands_for_other_words or "correction" in self.signs:  # an offer, or an earlier question, is meant
            return 0
        if not (self.unsaid or any(token.kind == "question" for token in self.frame)):
            return 0
        tokens = self.pack.tokenize(self.rewrite)
        inside = bool(self.pack.joiner)  # languages without spaces ask in the middle of a clause
        return sum(
            token.kind == "question"
            and not self.asked.has(token)
            and not (inside and number and (tokens[number - 1].is_content or tokens[number - 1].kind == "pronoun"))
            for number, token in enumerate(tokens)
        )

    @cached_property
    def is_small_talk(self) -> bool:
        """True if the message is small talk, and no answer to a question, which may be meant."""
        return self.pack.small_talk(self.message) not in {"", "answer"}

    def _points(self, token: Token) -> bool:
        return token.start in self.picked or any(r.start <= token.start < r.end for r in self.references)
