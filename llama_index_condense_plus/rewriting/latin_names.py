"""Finding names and terms in English and other Latin text: capitals, frames that introduce, runs of content words."""

from __future__ import annotations

import re
from collections.abc import Iterator

from llama_index_condense_plus.lexicons.attributes import ATTRIBUTES_EN
from llama_index_condense_plus.lexicons.patterns import regex
from llama_index_condense_plus.lexicons.rarity import rarity_classes
from llama_index_condense_plus.lexicons.stems import singular
from llama_index_condense_plus.lexicons.text import fold
from llama_index_condense_plus.rewriting.han_names import Span, entity_words
from llama_index_condense_plus.types import Entity

_EN = entity_words()["en"]
_NO_NAMES = frozenset(_EN["no_names"])
STOP = frozenset(_EN["stop"].split())
"""English words that are part of no term."""

_CAPITALISED = regex(
    r"(?<![\w.'’-])[A-Z][\w'’&-]*(?:\.[A-Z]\w*)*"
    r"(?:(?: (?:of|the|of the|de|la|van|von|for|&) | )(?:[A-Z][\w'’&-]*|\d+\b(?! [a-z])))*",
    re.ASCII,
)
_PHRASE = r"(?P<name>(?:[\w'’&+.-]+ ){0,5}?[\w'’&+-]+)"
_ASKED = regex(
    r"\b(?:tell me (?:more )?about|(?:what|who)(?:'s| is| are| was| were)|heard of|know about|learn about"
    rf"|interested in|information (?:on|about)|describe|explain) (?:an? |the )?{_PHRASE}(?=\s*(?:[?.!,;:\n]|$))",
    re.IGNORECASE | re.ASCII,
)
_DEFINED = regex(
    rf"(?:^|[.!?\n] ?)(?:yes[,.]? |the |there is )?{_PHRASE} (?:is|are|was|were) (?:an?|the|one|located|in|at|on) ",
    re.IGNORECASE | re.ASCII,
)
_CALLED = regex(
    rf"\b(?:called|named) {_PHRASE}(?=\s*(?:[?.!,;:\n]|$)| (?:in|at|on|which|that|and|with)\b)",
    re.IGNORECASE | re.ASCII,
)
_POSSESSIVE = regex(r"['’]s$")
_NATIONALITY = regex(r"(?:[ai]an|ese|ish)$")
_SENTENCE_START = regex(r"(?:^|[.!?。！？:：\n]\s*[\"“(]?)$")
_WORD = regex(r"[A-Za-z][\w'’-]*")
_MAX_TERM_WORDS = 4
_MIN_TERM_CHARS = 3
_COMMON_CLASS = 5
"""A capital at the start of a sentence makes no name of the 16,000 most frequent words."""


def latin_names(text: str) -> Iterator[Span]:
    """Yield names with the span they occupy, surest kind first; spans may overlap."""
    for pattern in (_CALLED, _ASKED, _DEFINED):
        for match in pattern.finditer(text):
            span = _framed(match.group("name"), match.start("name"))
            if span:
                yield Entity(text[slice(*span)], "framed", span[0]), *span
    yield from _capitalised(text)


def latin_terms(text: str) -> Iterator[Span]:
    """Yield runs of content words."""
    run: list[re.Match[str]] = []
    for match in [*_WORD.finditer(text), None]:
        content = match is not None and match.group().casefold() not in STOP
        if content and match and (not run or text[run[-1].end() : match.start()] == " "):
            run.append(match)
            continue
        if run:
            kept = run[-_MAX_TERM_WORDS:]
            start, end = kept[0].start(), kept[-1].end()
            if end - start >= _MIN_TERM_CHARS:
                yield Entity(text[start:end], "term", start), start, end
        run = [match] if content and match else []


def _framed(words: str, start: int) -> tuple[int, int] | None:
    """Return the span of what a frame introduces, None if that is no name: a pronoun, or a phrase about a name."""
    folded = [word.strip("'’.") for word in fold(words).split()]
    content = [word for word in folded if word not in STOP]
    if not content or folded[0] in STOP or folded[-1] in STOP:
        return None
    if len(folded) == 1 and singular(folded[0]) in ATTRIBUTES_EN:
        return None  # "what is the price": of what
    head, _, owner = words.partition(" of ")
    if owner and singular(fold(head.split()[-1])) in ATTRIBUTES_EN:
        start += len(head) + len(" of ")  # "the steps of offboarding"
        words = owner
    capitals = [word for word in words.split()[1:] if word[:1].isupper()]
    if capitals and any(word.islower() and word not in STOP for word in words.split()):
        return None  # "origins of the Justice League": the capitals are the name
    return start, start + len(words)


def _capitalised(text: str) -> Iterator[Span]:
    for match in _CAPITALISED.finditer(text):
        words, start = _POSSESSIVE.sub("", match.group().rstrip("-&'’")), match.start()
        initial = _SENTENCE_START.search(text[max(0, start - 4) : start]) is not None
        while words and initial:
            head, _, rest = words.partition(" ")
            if head.casefold() not in STOP and head.casefold() not in _NO_NAMES:
                break
            words, start, initial = rest, start + len(head) + 1, False
        if words and fold(words) not in _NO_NAMES and fold(words) not in STOP:
            end = start + len(words)
            yield Entity(words, _kind(words, text[end : end + 40], initial=initial), start), start, end


def _kind(words: str, after: str, *, initial: bool) -> str:
    """Return the kind: ``term`` for a common word that opens a sentence, and for "Thai" in "Thai food"."""
    if " " in words or words.isupper():
        return "name"
    if initial and rarity_classes("en").get(words.casefold(), _COMMON_CLASS + 1) <= _COMMON_CLASS:
        return "term"
    follower = _WORD.match(after, 1) if after[:1] == " " else None
    attributive = follower is not None and follower.group().islower() and follower.group() not in STOP
    return "term" if _NATIONALITY.search(words) and attributive else "name"
