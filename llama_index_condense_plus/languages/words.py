"""A language pack made of words and patterns: everything that tells one language from another stands in a TOML file."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from llama_index_condense_plus.errors import ConfigurationError
from llama_index_condense_plus.languages.base import NAMING, LanguagePack, Reference, Span, Token
from llama_index_condense_plus.languages.text import PIECES, aligned, clip, fold, remembered, singular
from llama_index_condense_plus.settings.reading import read_toml
from llama_index_condense_plus.settings.sections import LanguageSettings
from llama_index_condense_plus.types import Cue

SMALL_TALK_CHARS = 160
"""Longer messages are no small talk."""
POINTING = {"ordinal": "ordinal", "previous": "back_reference", "other": "other"}
"""Kind of reference → name of its cue; every other kind but ``clause`` is a ``pronoun``."""
ORDERS = ("talk", "meta", "apology", "injection")
"""Kinds of instructions."""
CLOSED = ("time", "function", "negation", "pronoun", "question")
"""Lists of closed classes; a word in several of them is of the last one's kind."""
SMALL_TALK = ("answer", "thanks", "greeting", "acknowledgement", "reaction")
"""Kinds of small talk, the one first that tells what a message of several kinds is."""
CHANGEABLE: dict[str, tuple[str, ...]] = {
    "pronouns": ("pronoun",),
    "openers": ("opener",),
    "small_talk": ("acknowledgement", "answer", "greeting", "thanks"),
    "connectives": ("connective",),
}
"""Setting → lists that a user's words are removed from; they are added to the first."""
_NEVER = r"(?!)"
_SEPARATORS = re.compile(r"[^\w?]*")
_AFTER_GREETING = re.compile(r"\W*")
_SLOT = re.compile(r"\{([a-z_]+)\}")


class WordPack(LanguagePack):
    """A ``LanguagePack`` read from a table of words and patterns.

    A subclass replaces what a language does differently. In a pattern, ``{name}`` stands for any word of the list
    ``name``. Patterns are verbose regular expressions. They are matched against folded text, those that begin with
    ``(?i)`` against text as written.

    Args:
        table: what ``words.toml`` of a language holds.
        english: words that are known beside the language's own, for most text mixes both.

    Raises:
        ConfigurationError: the table has no code, or a pattern is no regular expression.

    Example:
        >>> from llama_index_condense_plus.languages import pack
        >>> pack("en").asking_clause("Nice, I like it. When was it made?").text
        'When was it made?'
    """

    def __init__(self, table: Mapping[str, Any], english: WordPack | None = None) -> None:
        if not table.get("code"):
            raise ConfigurationError('A language pack needs a code, for example code = "it" in its words.toml.')
        self.table = table
        self.code: str = str(table["code"])
        self.name: str = str(table.get("name", self.code))
        self.joiner: str = str(table.get("joiner", " "))
        self.models_ellipsis: bool = bool(table.get("models_ellipsis", False))
        self._english = english
        self._lists = {name: _items(words) for name, words in table.get("words", {}).items()}
        self._patterns: dict[str, re.Pattern[str]] = {}
        self._kinds: dict[str, str] = dict(english._kinds) if english else {}
        for kind in CLOSED:
            self._kinds |= dict.fromkeys(self.words(kind), "function" if kind == "negation" else kind)
        for name in ("tokenize", "content_words", "asking_clause", "references", "cues", "_edges"):
            setattr(self, name, remembered(getattr(self, name)))  # each is asked for by several parts of a turn

    @classmethod
    def from_toml(cls, path: Path, english: WordPack | None = None) -> WordPack:
        """Return the pack of a file, with the ``prompt.toml`` beside it, if there is one.

        Args:
            path: a ``words.toml``.
            english: words that are known beside the language's own.

        Raises:
            ConfigurationError: the file cannot be read, or is no pack.
        """
        prompt = path.with_name("prompt.toml")
        return cls({**read_toml(path), **({"prompt": read_toml(prompt)} if prompt.exists() else {})}, english)

    def adapted(self, own: LanguageSettings) -> WordPack:
        """Return the pack with a user's words added and removed."""
        words = {name: list(known) for name, known in self._lists.items()}
        for option, names in CHANGEABLE.items():
            removed = set(map(fold, getattr(own, f"{option}_remove")))
            for name in names:
                words[name] = [word for word in self.words(name) if word not in removed]
            words[names[0]] += map(fold, getattr(own, f"{option}_add"))
        words["not_reference"] = [*self.words("not_reference"), *map(fold, own.pronouns_remove)]
        words["own_reference"] = [fold(word) for word in own.pronouns_add]
        return type(self)({**self.table, "words": words}, self._english)

    def words(self, name: str) -> tuple[str, ...]:
        """Return a list of words by its name in the TOML file, longest first; empty if there is none."""
        return self._lists.get(name, ())

    def pattern(self, name: str) -> re.Pattern[str]:
        """Return a pattern by its name in the TOML file; one that is not there matches the words of that list.

        Raises:
            ConfigurationError: it is no regular expression.
        """
        if name not in self._patterns:
            edge = r"\b" if self.joiner else ""
            source = self.table.get("patterns", {}).get(name, f"{edge}{{{name}}}{edge}")
            filled = _SLOT.sub(lambda slot: _any_of(self.words(slot[1])), source)
            try:
                self._patterns[name] = re.compile(filled, re.VERBOSE | re.MULTILINE)
            except re.error as error:
                raise ConfigurationError(f"Pattern {name} of language {self.code}: {error}.") from None
        return self._patterns[name]

    def tokenize(self, text: str) -> tuple[Token, ...]:
        found: list[Token] = []
        opens = True
        for match in PIECES.finditer(clip(text)):
            piece, start = match.group(), match.start()
            if match.lastindex:
                found.extend(self._segment(piece, start))
            else:
                found.append(Token(piece, start, self._kind(piece, opens=opens)))
            opens = piece in '.!?。！？:："“「'
        return tuple(found)

    def content_words(self, text: str) -> tuple[str, ...]:
        return tuple(singular(fold(token.text)) for token in self.tokenize(text) if token.is_content)

    def sentences(self, text: str) -> tuple[Span, ...]:
        pattern = self.pattern("sentence")
        return tuple(Span(match.group(), match.start()) for match in pattern.finditer(text) if match.group().strip())

    def is_question(self, text: str) -> bool:
        return self._asks(aligned(clip(text)), opens=True)

    def asking_clause(self, text: str) -> Span:
        if len(clip(text)) != len(text):
            return self._asking_end(text)
        folded = aligned(text)
        parts = [match.span() for match in self.pattern("clause").finditer(folded)]
        asking = [i for i, (start, end) in enumerate(parts) if self._asks(folded[start:end], opens=i == 0)]
        if not asking:
            return Span(text, 0)
        first = last = asking[-1]
        while first > 0 and self.pattern("condition").match(folded[slice(*parts[first - 1])].strip()):
            first -= 1
        return self._trimmed(text, folded, parts[first][0], parts[last][1])

    def references(self, text: str) -> tuple[Reference, ...]:
        text = clip(text)
        found = []
        for kind, start, end, match in self._found("reference", text):
            groups = {name: words for name, words in match.groupdict().items() if words}
            position = self._position(groups.get("n")) if kind == "ordinal" else 0
            possessive = any(name.startswith("its") for name in groups)
            found.append(Reference(text[start:end], start, kind, position, possessive))
        return tuple(found)

    def negations(self, text: str) -> tuple[Span, ...]:
        text = clip(text)
        found = [Span(text[start:end], start, kind) for kind, start, end, _ in self._found("negation", text)]
        corrections = [cue for cue in self.cues(text) if cue.name == "correction"] if found else []
        return tuple(s for s in found if not any(c.start <= s.start < c.start + len(c.text) for c in corrections))

    def small_talk(self, text: str) -> str:
        if len(text) > SMALL_TALK_CHARS:
            return ""
        folded = fold(text).replace("’", "'").strip()
        reaction = self.pattern("reaction")
        if reaction.fullmatch(folded) or not any(map(str.isalnum, folded)):
            return "reaction" if folded else ""
        (phrase, kind_of), clause = self._polite, self.pattern("small_talk")
        kinds, at = list[str](), 0
        while at < len(folded):
            known = [match for match in (phrase.match(folded, at), clause.match(folded, at)) if match]
            match = max(known, key=lambda found: found.end(), default=None)
            kind = (match.lastgroup or kind_of.get(" ".join(match.group().split()), "")) if match else "reaction"
            match = match or (reaction.match(folded, at) if "?" not in folded else None)
            if match is None or match.end() == at:
                return ""
            kinds.append(kind)
            marks = (_AFTER_GREETING if kind == "greeting" else _SEPARATORS).match(folded, match.end())
            at = marks.end() if marks else match.end()
        return next((kind for kind in SMALL_TALK if kind in kinds), "")

    def offers(self, text: str) -> bool:
        folded, nothing = fold(clip(text)), self.pattern("no_offer")
        sentences = (span.text for span in self.sentences(folded))
        offering = (s for s in sentences if self.pattern("offer").search(s) or self.is_question(s))
        return any(not nothing.search(sentence) for sentence in offering)

    def connectives(self, text: str) -> tuple[Span, ...]:
        return tuple(
            Span(text[start:end], start, kind)
            for kind, start, end, match in self._found("connective", text, from_edge=False)
            if match.lastgroup != "connective_name" or self._names_at(text, end)
        )

    def instructions(self, text: str, kinds: Sequence[str] = ORDERS) -> tuple[Span, ...]:
        text = clip(text)
        found = [(kind, match) for kind in kinds for match in self.pattern(kind).finditer(aligned(text))]
        return tuple(Span(text[slice(*match.span())], match.start(), kind) for kind, match in found)

    def cues(self, text: str) -> tuple[Cue, ...]:
        text = clip(text)
        folded = aligned(text)
        pointing = (reference for reference in self.references(text) if reference.kind != "clause")
        found = [Cue(POINTING.get(r.kind, "pronoun"), r.text, r.start) for r in pointing]
        signs = (match for match in self.pattern("cue").finditer(folded) if match.group())
        found += [Cue(str(m.lastgroup), text[slice(*m.span())].strip(), m.start()) for m in signs if m.lastgroup]
        begin = self.asking_clause(text).start
        lead = self.pattern("lead").match(folded[begin:])
        begin += lead.end() if lead else 0
        opener, edges = self.pattern("opener").match(folded, begin), self._edges(text)
        if opener and (edges is None or opener.end() in edges):
            found.append(Cue("opener", text[begin : opener.end()].strip(), begin))
        return tuple(sorted(found, key=lambda cue: cue.start))

    def phrase(self, key: str) -> str:
        own = self.table.get("phrases", {}).get(key)
        return str(own or "") if own is not None or self._english is None else self._english.phrase(key)

    def _found(self, name: str, text: str, *, from_edge: bool = True) -> Iterator[tuple[str, int, int, re.Match[str]]]:
        """Yield kind and place of what a pattern finds, but for parts of words and for what ``not_<name>`` finds.

        The kind is the name of the first group, up to an underscore; ``n`` and ``its…`` only tell more of it.
        """
        folded = aligned(text)
        matches = [match for match in self.pattern(name).finditer(folded) if match.group()]
        edges = self._edges(text) if matches else None
        blocked = [match.span() for match in self.pattern(f"not_{name}").finditer(folded)] if matches else []
        for match in matches:
            groups = (group for group, words in match.groupdict().items() if words)
            group = next((group for group in groups if group != "n" and not group.startswith("its")), "")
            start, end = match.span(group or 0)
            whole = edges is None or ((start in edges or not from_edge) and (end in edges or end == len(text)))
            if whole and not any(s < end and start < e for s, e in blocked):
                yield (group or name).split("_")[0], start, end, match

    def _segment(self, piece: str, start: int) -> Iterator[Token]:
        """Yield the words of a stretch of Chinese characters in another language's text."""
        yield Token(piece, start, "word")

    def _edges(self, text: str) -> frozenset[int] | None:  # noqa: ARG002 - a language without spaces reads it
        """Return where words begin and end, for a language whose words have no spaces between them; else None."""
        return None

    def _names_at(self, text: str, start: int) -> bool:
        """Return True if a name, a title or a word in other letters begins at a place."""
        after = text[start : start + 1]
        named = any(token.start == start and token.kind in NAMING for token in self.tokenize(text))
        return named or (after.isascii() and after.isalnum()) or unicodedata.category(after or " ") in ("Ps", "Pi")

    def _kind(self, piece: str, *, opens: bool) -> str:
        """Return the kind of a word or mark that is not Chinese."""
        if not piece[0].isalnum():
            return "mark"
        closed = self._kinds.get(fold(piece).replace("’", "'"))
        if closed:
            return closed
        if piece[0].isdigit() and not any(map(str.isalpha, piece)):
            return "number"
        if any(map(str.isdigit, piece)) or any(map(str.isupper, piece[1:])):
            return "code"
        return "name" if piece[0].isupper() and not opens else "word"

    def _asks(self, folded: str, *, opens: bool) -> bool:
        return bool(self.pattern("asks").search(folded) or (opens and self.pattern("asks_first").match(folded)))

    def _asking_end(self, text: str) -> Span:
        """Return the part of a pasted document that asks: its last paragraph, or its first."""
        for part in (text[-SMALL_TALK_CHARS * 4 :], text[: SMALL_TALK_CHARS * 4]):
            clause = self.asking_clause(part)
            if self.is_question(clause.text) and len(clause.text) < len(part):
                return Span(clause.text, text.find(clause.text), clause.kind)
        return Span(text, 0)

    def _trimmed(self, text: str, folded: str, start: int, end: int) -> Span:
        lead = self.pattern("lead").match(folded[start:end])
        if lead and any(map(str.isalnum, folded[start + lead.end() : end])):
            start += lead.end()
        words = text[start:end]
        kept = words.strip().lstrip(",.!;，。！；、 ")
        return Span(kept, start + words.find(kept)) if kept else Span(text, 0)

    def _position(self, number: str | None) -> int:
        """Return which item an ordinal means; one without a number means the last."""
        if number is None:
            return -1
        return int(number) if number.isdecimal() else int(self.table.get("numbers", {}).get(number, 0))

    @cached_property
    def _polite(self) -> tuple[re.Pattern[str], dict[str, str]]:
        """Return what matches one phrase of small talk, the longest first, and each phrase's kind."""
        kinds: dict[str, str] = {}
        for kind in ("filler", "answer", "acknowledgement", "thanks", "greeting"):
            for source in (self._english, self):
                kinds |= dict.fromkeys(source.words(kind) if source else (), kind)
        end = r"(?!\w)" if self.joiner else r"(?![a-z0-9])"
        return re.compile(_any_of(sorted(kinds, key=len, reverse=True)) + end, re.VERBOSE), kinds


def _items(words: str | list[str]) -> tuple[str, ...]:
    """Return the words of a list, longest first: commas stand between them, or spaces alone."""
    if isinstance(words, str):
        words = " ".join(words.split()).split(",") if "," in words else words.split()
    return tuple(sorted({word.strip() for word in words if word.strip()}, key=lambda word: (-len(word), word)))


def _any_of(phrases: Sequence[str]) -> str:
    """Return the source of a pattern that matches any of the phrases."""
    either = "|".join(re.escape(phrase).replace(r"\ ", r"\s+") for phrase in phrases)
    return f"(?:{either})" if either else _NEVER
