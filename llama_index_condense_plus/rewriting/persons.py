"""Telling whom "he" and 她 may mean: names that were used of a person, and never of a thing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from llama_index_condense_plus.lexicons.patterns import regex
from llama_index_condense_plus.lexicons.rarity import RAREST, rarity_classes
from llama_index_condense_plus.lexicons.text import has_han, simplify, tokenize
from llama_index_condense_plus.rewriting.follow_up_words import either, follow_up_words
from llama_index_condense_plus.rewriting.han_names import entity_words
from llama_index_condense_plus.rewriting.standing import Standing
from llama_index_condense_plus.types import Entity

SURE, LIKELY, MAYBE, NEVER = 1.0, 0.6, 0.25, 0.0
_EN, _ZH = follow_up_words("en"), follow_up_words("zh")
_ROLES = either(_EN["persons"])
_TITLED = regex(rf"^(?:{either(_EN['titles'])})\b\.?", re.IGNORECASE)
_WHO = regex(r"\bwho(?:'s|se|m)?\b|谁|哪位|哪个人", re.IGNORECASE)
_MASK = "\x01"
"""Stands for the name that is looked at, so that one pattern serves all."""
_MADE = either(_EN["made"])
_DONE = either(word for word in _EN["made"] if word.endswith(("d", "n")))
_USED_OF_THINGS = regex(
    rf"\b(?:the|an?|this|in|at|near|from|to) {_MASK}(?!['’]s)|{_MASK} (?:was|were|is|are) (?:{_DONE})\b"
    rf"|\bwho (?!is |was )\w+ (?:the \w+ )?{_MASK}",
    re.IGNORECASE,
)
_USED_OF_PERSONS = regex(
    rf"\b(?:{_MADE}) (?:by )?{_MASK}|\b(?:{_ROLES}),? {_MASK}"
    rf"|{_MASK}(?:,| is| was| has been| became| as) (?:an?|the|our|my|his|her)? ?(?:\w+ ){{0,3}}(?:{_ROLES})\b"
    rf"|\b(?:about|is|was) {_MASK}[^.?!]{{0,20}}[.?!] (?:an?|the) (?:\w+ ){{0,3}}(?:{_ROLES})\b"
    rf"|\b(?:who|where) (?:is|was) {_MASK}"
    rf"|{_MASK} (?:said|wrote|plays|lives|lived|works|married|was born|is (?:travelling|away|on|off|out))\b",
    re.IGNORECASE,
)
_HAN_FIT = {"person": SURE, "framed": 0.7, "name": 0.5}
_NAME = regex(r"[A-Z][\w'’-]*(?: (?:de|van|von|la|al) )?(?: ?[A-Z][\w'’.-]*)*$")
_SURNAMED = regex(rf"(?:{either(entity_words()['zh']['surnames'])})[\u3400-\u9fff]{{1,2}}$")
_HAN_ROLE = regex(rf"(?:{either(_ZH['persons'])}|[人者员师])$")
_FOREIGN = regex(r"[·•・A-Za-z]")
_MIN_TRANSLITERATED = 4
_OWN_PERSON = {
    "zh": regex(rf"[我咱]们?(?:的|家)?(?:{either(_ZH['persons'])})"),
    "en": regex(rf"\b(?:my|our|a) (?:\w+ )?(?:{_ROLES})\b", re.IGNORECASE),
}


def names_a_person(text: str) -> bool:
    """Return True if a text brings in a person who needs no history (我女儿, "my boss")."""
    return _OWN_PERSON["zh" if has_han(text) else "en"].search(simplify(text)) is not None


def looks_like_person(name: str) -> bool:
    """Return True for a Chinese name with a frequent family name, and for a foreign one.

    Example:
        >>> looks_like_person("周杰伦"), looks_like_person("银行卡")
        (True, False)
    """
    if _SURNAMED.match(name) or _FOREIGN.search(name) or len(name) >= _MIN_TRANSLITERATED:
        return True
    return any(token.pos == "nrt" for token in tokenize(name))


def owner_of(name: str) -> str:
    """Return the person whose thing a name means, or the name itself: "he" is no office.

    Example:
        >>> owner_of("李老师的办公室"), owner_of("李老师的女儿")
        ('李老师', '李老师的女儿')
    """
    person, _, thing = name.partition("的")
    return person if thing and _SURNAMED.match(person) and not _HAN_ROLE.search(thing) else name


def person_fit(entity: Entity, rounds: Sequence[Standing]) -> float:
    """Return how likely an entity is a person, from 0 (a thing) to 1.

    Args:
        entity: the entity.
        rounds: the conversation's questions and answers.
    """
    if has_han(entity.text):
        fit = _HAN_FIT.get(entity.kind, NEVER)
        if fit and any(_WHO.search(r.text) and entity.text in r.answer and entity.text not in r.text for r in rounds):
            return SURE
        return fit if not any(char.isdigit() for char in entity.text) else NEVER
    return _latin_fit(entity.text, tuple((r.text, r.answer) for r in rounds))


@lru_cache(maxsize=1024)
def _latin_fit(name: str, rounds: tuple[tuple[str, str], ...]) -> float:
    if _TITLED.match(name):
        return SURE
    if not _NAME.match(name) or name.isupper() or name.startswith("The "):
        return NEVER
    masked = [(question.replace(name, _MASK), answer.replace(name, _MASK)) for question, answer in rounds]
    if any(_USED_OF_THINGS.search(part) for pair in masked for part in pair):
        return NEVER
    for question, answer in masked:
        named_as_answer = _WHO.search(question) and _MASK in answer and _MASK not in question
        if named_as_answer or _USED_OF_PERSONS.search(question) or _USED_OF_PERSONS.search(answer):
            return SURE
    words = name.split()
    rare = rarity_classes("en").get(words[-1].casefold(), RAREST) >= RAREST - 1
    if len(words) == 1:
        return MAYBE
    return LIKELY if rare and len(words) <= 3 else NEVER  # noqa: PLR2004 - first, middle and family name
