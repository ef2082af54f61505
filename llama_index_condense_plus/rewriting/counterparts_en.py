"""Scoring the phrases of an English question as the counterpart of what a follow-up names."""

from __future__ import annotations

from llama_index_condense_plus.lexicons.attributes import ATTRIBUTES_EN
from llama_index_condense_plus.lexicons.patterns import regex
from llama_index_condense_plus.lexicons.stems import singular
from llama_index_condense_plus.rewriting.follow_up_words import follow_up_words
from llama_index_condense_plus.rewriting.fragments import ADJECTIVES, Fragment
from llama_index_condense_plus.rewriting.likeness import ENGLISH, Scored
from llama_index_condense_plus.rewriting.noun_phrases import noun_phrases
from llama_index_condense_plus.rewriting.noun_phrases_en import ARTICLES, YEAR
from llama_index_condense_plus.rewriting.phrase import NounPhrase

_WORDS = follow_up_words("en")
_ATTRIBUTES = ATTRIBUTES_EN | frozenset(_WORDS["attributes"])
_AND_AFTER = regex(r" (?:and|or) ")
_AND_BEFORE = regex(r" (?:and|or) (?:the |an? )?\Z")
_GROUPS = frozenset(_WORDS["groups"]) | frozenset(_WORDS["persons"])
_POSSESSIVE = regex(r"['’]s\b")
_LAST_WORD = regex(r"(\w+) \Z")
_PREPOSITIONS = frozenset(_WORDS["prepositions"])
_ADVERBIAL = frozenset(_WORDS["adverbial"])
PLACED = frozenset(_WORDS["placed"])
"""Prepositions of place and time that stand for each other: in July, on Sundays."""
_NEAR = 12
"""Characters before a phrase that tell how it is joined to what is before it."""
_UNPLACED = ("time", "number")


def english_counterparts(question: str, new: Fragment) -> list[Scored]:
    """Return the phrases of an English question with what speaks for each as the counterpart of a fragment."""
    probe = next(iter(noun_phrases(new.new)), None)
    kind = probe.kind if probe and probe.kind in _UNPLACED else ""
    found: list[Scored] = []
    for index, old in enumerate(noun_phrases(question)):
        if (old.kind if old.kind in _UNPLACED else "") != kind or _coordinated(question, old):
            continue
        led_by = preposition(question, old)
        owner = bool(_POSSESSIVE.match(question, old.end)) and not new.proper
        other = bool(new.preposition) and is_group(new.new) and not is_group(old.text)
        if owner or other or (not kind and _led_otherwise(new, old, led_by)):
            continue
        found.extend(_modified(old, new) if new.modifier else _scored(old, new, index, led_by))
    return found


def is_english_attribute(words: str) -> bool:
    """Return True for words that end in a noun which belongs to something: "the contribution limit"."""
    last = words.rsplit(maxsplit=1)[-1].lower()
    return singular(last) in _ATTRIBUTES and last not in _WORDS["groups"]


def is_group(words: str) -> bool:
    """Return True for words for a group of persons: "kids", "new customers"."""
    last = words.rsplit(maxsplit=1)[-1].lower()
    return last in _GROUPS or singular(last) in _GROUPS


def preposition(question: str, phrase: NounPhrase) -> str:
    """Return the preposition that leads to a phrase of a question, lower case; empty if none does."""
    if phrase.before in _PREPOSITIONS:
        return phrase.before
    if phrase.before not in ARTICLES:
        return ""
    head = question[: phrase.start].rstrip()
    match = _LAST_WORD.search(head[: len(head) - len(phrase.before)])
    return match.group(1).lower() if match and match.group(1).lower() in _PREPOSITIONS else ""


def _led_otherwise(new: Fragment, old: NounPhrase, led_by: str) -> bool:
    """Return True for "for kids", which is nothing that "a ticket" could be, and "on Christmas Eve", none for "we"."""
    if not new.preposition or new.preposition == led_by:
        return False
    if _same_place(new.preposition, led_by):
        return old.text[0].isupper() and not new.proper  # "on mobile" is beside "in Slack"
    if new.proper:
        return new.preposition in PLACED and not led_by
    return is_group(new.new) or bool(new.article) or old.before != led_by or not led_by  # "for design": "in biology"


def _same_place(one: str, other: str) -> bool:
    return one == other or (one in PLACED and other in PLACED)


def _coordinated(question: str, old: NounPhrase) -> bool:
    """Return True for one of two things in one breath: "A and B"."""
    before = question[max(0, old.start - _NEAR) : old.start]
    return bool(_AND_AFTER.match(question, old.end) or _AND_BEFORE.search(before))


def _modified(old: NounPhrase, new: Fragment) -> list[Scored]:
    """Return the words of a phrase that "a yearly one" takes the place of."""
    parts = old.text.split()
    if old.before in ADJECTIVES:
        return [(ENGLISH.adjective, old.start - len(old.before) - 1, old.start - 1)]
    if len(parts) < 2:  # noqa: PLR2004 - nothing before the noun
        return []
    sum_ = ENGLISH.qualifier + ENGLISH.indefinite * (old.before in ("a", "an"))
    sum_ += ENGLISH.names * (bool(new.proper) and parts[0][0].isupper())
    return [(sum_, old.start, old.start + len(" ".join(parts[:-1])))]


def _scored(old: NounPhrase, new: Fragment, index: int, led_by: str) -> list[Scored]:
    words, parts = new.new.split(), old.text.split()
    attribute = is_english_attribute(new.new) and not new.proper
    old_attribute = is_english_attribute(old.text)
    if attribute and not old_attribute and not _same_word(parts, words):
        return []
    fit, start, end = _wording(old, new, words)
    signs = (
        ENGLISH.thing,
        ENGLISH.late * index,
        fit,
        ENGLISH.number_alike * (parts[-1].endswith("s") == words[-1].endswith("s")),
        ENGLISH.preposition * bool(new.preposition and _same_place(new.preposition, led_by)),
        ENGLISH.measured * (old.before in ("much", "many")),
        ENGLISH.placed * (not new.preposition and not new.asked and led_by in PLACED),
        ENGLISH.adverbial * (not new.preposition and led_by in _ADVERBIAL),
        ENGLISH.counted * (old.before in ("a", "an") and not new.article and not new.asked and not new.preposition),
        ENGLISH.other_article * (new.article in ("a", "an") and old.before == "the"),
        ENGLISH.definite * (new.article == old.before == "the"),
        ENGLISH.indefinite * (new.article in ("a", "an") and old.before in ("a", "an")),
        ENGLISH.attribute * attribute,
        ENGLISH.attribute_for_thing * (old_attribute and not attribute),
        ENGLISH.unled * (not new.asked and not new.article),
    )
    return [(sum(signs), start, end)]


def _same_word(parts: list[str], words: list[str]) -> bool:
    return len(words) > 1 and (
        singular(parts[-1].lower()) == singular(words[-1].lower()) or parts[0].lower() == words[0].lower()
    )


def _wording(old: NounPhrase, new: Fragment, words: list[str]) -> Scored:
    """Return how alike two phrases look, with the part of the old one that the new one takes the place of."""
    parts = old.text.split()
    capital = [part[0].isupper() or part[0].isdigit() for part in parts]
    if _same_word(parts, words):
        ends = singular(parts[-1].lower()) == singular(words[-1].lower())
        return ENGLISH.same_word, old.start, old.end if ends else old.start + len(" ".join(parts[: len(words)]))
    if any(capital) and new.proper is not False:
        sure = ENGLISH.sure_names if new.named else ENGLISH.maybe_names
        size = len(parts) - bool(YEAR.match(parts[0]))  # the 2023 Civic
        fit = ENGLISH.names + sure * (size == len(words))
        if not all(capital) and capital[0] and new.named is not False:
            return fit, old.start, old.start + len(" ".join(parts[: capital.index(False)]))
        letter = len(words) == 1 and len(parts) > 1 and len(words[0]) == 1 == len(parts[-1])
        return fit, old.end - 1 if letter else old.start, old.end
    if any(capital) and not new.proper:
        return ENGLISH.name_for_words * (new.proper is not None), old.start, old.end
    if new.named:
        return ENGLISH.words_for_name, old.start, old.end
    aspect = new.article == "the" and not new.proper and old.before != "the"  # "the deposit?" asks something else
    return ENGLISH.other_aspect * aspect, old.start, old.end
