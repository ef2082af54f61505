"""Following "back to the first model" and 回到刚才那个型号 to what was spoken of before the newest topic."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from llama_index_condense_plus.lexicons.patterns import regex
from llama_index_condense_plus.lexicons.text import fold, has_han, simplify
from llama_index_condense_plus.rewriting.follow_up_words import either, follow_up_words
from llama_index_condense_plus.rewriting.noun_phrases import noun_phrases, said
from llama_index_condense_plus.rewriting.standing import Standing

_ZH, _EN = follow_up_words("zh"), follow_up_words("en")
_MEASURE = r"(?:[那这]?一?[个款本家部种位座条台艘首间辆]?)"
_WHEN = either(dict.fromkeys([*_ZH["mention"], *_ZH["first"]]))
_SAID = either(_ZH["said"])
_HAN_LEAD = regex(
    rf"^(?:{either(_ZH['back'])})(?P<what>[^，,。？?]{{0,16}}?)(?:的事|的问题|来)?[，,。：:]\s*(?P<rest>.+)$"
)
_HAN_SAID = regex(
    rf"(?:[你您我咱]们?)?(?P<when>{_WHEN})(?:[你您我咱]们?)?(?:{_SAID})?(?:那|的)?{_MEASURE}的?"
    r"(?P<noun>[\u3400-\u9fffA-Za-z0-9]{0,6})"
)
_HAN_CUE = regex(rf"(?:{_WHEN})(?:[你您我咱]们?)?(?:{_SAID}|那{_MEASURE})")
_STRIP = regex(rf"^(?:{_WHEN})?(?:[你您我咱]们?)?(?:{_SAID})?{_MEASURE}的?")
_LATIN_LEAD = regex(
    r"^(?:ok(?:ay)?,? |so,? |sorry,? )?"
    r"(?:(?:(?:going|coming|getting|to go|let's go|to come)? ?back to|returning to|about|as for|regarding|concerning)"
    r" (?P<what>[^,:?]{2,60})|(?P<again>the [^,:?]{2,30}) again)[,:] (?P<rest>.+)$",
    re.IGNORECASE,
)
_LATIN_SAID = regex(
    r"\b(?:the|that|this|your)(?P<order> (?:very )?(?:first|earlier|previous|initial|original|other))?"
    rf" (?P<noun>[\w-]+(?: [\w-]+)?) (?:that )?(?:you|we|i) (?:just |first |originally )?(?:{either(_EN['said'])})"
    r"(?: (?:earlier|before|first|just now|at first))?",
    re.IGNORECASE,
)
_LATIN_ORDER = regex(
    r"\b(?:that|the|your) (?P<order>first|earlier|previous|initial|original) (?P<noun>[\w-]+)(?: of yours)?",
    re.IGNORECASE,
)
_SAID_EN = rf"(?:you|we|i) (?:just )?(?:{either(_EN['said'])})|^that "
_EARLIER = regex(either([*_EN["return"], *_EN["first"]]), re.IGNORECASE)
_FIRST = regex(either(_EN["first"]), re.IGNORECASE)
_ARTICLES = regex(
    r"^(?:what (?:you|we|i) \w+ (?:earlier |before )?about |the |that |those |this |my |your |our )+", re.IGNORECASE
)
_GENERIC = frozenset(
    {"topic", "model", "place", "book", "film", "movie", "product", "city", "company", "hotel", "subject"}
)
"""Kinds of things that "that first …" goes back to: with another noun it may be new."""
_EMPTY = _GENERIC | {"one", "ones", "thing", "question", "matter", "person", "option", "item", "point"}
"""Nouns that tell nothing about what is meant."""


@dataclass(frozen=True, slots=True)
class BackReference:
    """A phrase that points at something said before."""

    start: int
    """Offset in the message."""
    end: int
    """Offset after it."""
    noun: str
    """What kind of thing it points at, empty if it does not say."""
    first: bool
    """True: the first topic of all is meant."""
    earlier: bool
    """True: the newest topic is not meant."""
    rest: str | None
    """The question behind a phrase that only leads to it; None if the phrase is part of the question."""


def find_back_reference(message: str) -> BackReference | None:
    """Return the phrase of a message that points at an earlier topic, None if there is none.

    Example:
        >>> find_back_reference("回到刚才那个型号，充电要多久？").rest
        '充电要多久？'
    """
    return _chinese(message) if has_han(message) else _english(message)


def _chinese(message: str) -> BackReference | None:
    text = simplify(message)
    lead = _HAN_LEAD.match(text)
    if lead:
        what = lead["what"]
        first = any(word in lead.group() for word in _ZH["first"])
        start = lead.start("rest")
        return BackReference(0, start, _noun(_STRIP.sub("", what)), first, True, message[start:])
    cue = _HAN_CUE.search(text)
    if not cue:
        return None
    match = _HAN_SAID.match(text, cue.start())
    if not match:
        return None
    noun, end = _head(text, match)
    first = match["when"] in _ZH["first"]
    earlier = (
        first
        or (match["when"] not in ("刚才", "刚刚", "上面", "前面") and not re.search(_SAID, match.group()[:8]))
        or "之前那" in match.group()
    )
    rest = message[end + 1 :] if text[end : end + 1] in ("，", ",") and not text[: cue.start()].strip() else None
    return BackReference(cue.start(), end, noun, first, earlier, rest)


def _head(text: str, match: re.Match[str]) -> tuple[str, int]:
    """Return the noun right after the phrase, with where it ends."""
    at = match.start("noun")
    phrase = next((p for p in noun_phrases(text[at:]) if p.start == 0), None)
    return (phrase.text, at + phrase.end) if phrase else ("", at)


def _english(message: str) -> BackReference | None:
    lead = _LATIN_LEAD.match(message.strip())
    if lead:
        what = lead["what"] or lead["again"]
        earlier = bool(_EARLIER.search(lead.group()[: lead.start("rest")]))
        if lead["what"] is None or earlier or re.search(_SAID_EN, what):
            rest = lead["rest"]
            return BackReference(0, lead.start("rest"), _noun(what), bool(_FIRST.search(what)), earlier, rest)
    match = _LATIN_SAID.search(message)
    if not match:
        match = _LATIN_ORDER.search(message)
        if not match or match["noun"].lower() not in _GENERIC:
            return None
    order = (match["order"] or "").strip().lower()
    words = match.group().lower()
    first = "first" in order or " first " in words or "originally" in words
    leads = not message[: match.start()].strip() and message[match.end() : match.end() + 1] == ","
    rest = message[match.end() + 1 :].strip() if leads else None
    return BackReference(
        match.start(), match.end(), _noun(match["noun"]), first, bool(order) or first or "earlier" in words, rest
    )


def _noun(words: str) -> str:
    """Return the words that say what kind of thing is meant, none for "the first one"."""
    words = _ARTICLES.sub("", words.strip())
    words = re.sub(r"^(?:(?:very )?first|earlier|previous|initial|original|other)\b ?", "", words, flags=re.IGNORECASE)
    words = re.sub(r" (?:you|we|i) .*$| again$", "", words, flags=re.IGNORECASE)
    return "" if words.lower() in _EMPTY else words.strip()


def resolved_topic(reference: BackReference, rounds: Sequence[Standing]) -> str | None:
    """Return what a back reference means.

    Args:
        reference: the phrase.
        rounds: the conversation's questions and answers, oldest first.
    """
    topics = [r.about for r in rounds]
    newest = said(topics[-1]) if topics and topics[-1] else ""
    named = _named(reference, rounds)
    if named or (reference.noun and not reference.earlier):
        return named or reference.noun
    told = [said(t) for t in topics if t]
    if reference.first:
        return told[0] if told else None
    if reference.earlier:
        return next((t for t in reversed(told) if fold(t) != fold(newest)), None)
    return told[-1] if told else None


def _named(reference: BackReference, rounds: Sequence[Standing]) -> str | None:
    """Return the fullest phrase that holds the noun, the newest round left out where an earlier one is meant."""
    noun = fold(reference.noun)
    if not noun:
        return None
    read = rounds[:-1] if reference.earlier and len(rounds) > 1 else rounds
    for index in range(len(read) - 1, -1, -1) if not reference.first else range(len(read)):
        for text in (read[index].text, read[index].answer):
            for phrase in noun_phrases(text):
                folded = fold(phrase.text)
                if folded.endswith(noun) or (noun in folded and not has_han(noun)):
                    return said(phrase)
    return None
