"""Telling whole questions that stand apart from what was talked about: no topic of the conversation is added."""

from __future__ import annotations

import re

from llama_index_condense_plus.lexicons.patterns import regex
from llama_index_condense_plus.lexicons.text import fold, has_han
from llama_index_condense_plus.rewriting.counterparts import is_attribute
from llama_index_condense_plus.rewriting.follow_up_words import either, follow_up_words
from llama_index_condense_plus.rewriting.noun_phrases import noun_phrases

_ZH, _EN = follow_up_words("zh"), follow_up_words("en")
_OPENERS_EN = rf"^\W*(?:(?:{either([*_EN['openers'], *_EN['interjections']])})\b,? )*"
_ADDRESSED_EN = regex(
    rf"{_OPENERS_EN}(?:(?:(?:{either(_EN['asking'])}) )?(?:are|were) you\b(?! (?:{either(_EN['addressed_not'])}))"
    rf"|what(?:['’]s| is) your (?:{either(_EN['of_you'])})\b|do you (?:{either(_EN['trading'])}) )",
    re.IGNORECASE,
)
_ADDRESSED_ZH = regex(
    rf"^(?:{either(_ZH['openers'])})?[，,]?(?:[你您](?:{either(_ZH['of_you'])})|.{{0,6}}(?:{either(_ZH['well_being'])})"
    rf"|[你您]们[^，,]{{0,6}}(?:{either(_ZH['of_houses'])}))"
)
_AND = regex(r"[和与跟及]")
_COMPARES = regex(
    rf"[\u3400-\u9fff]?(?:的|之间|有什么|有啥|有何)*(?:{either([*_ZH['pair'], '区别', '不同', '差别', '差异'])})"
)
_HOUSE = regex(rf"(?:{either(_ZH['houses'])}|\b(?:{either(_EN['houses'])}))$", re.IGNORECASE)
_LEANING = ("the", "my", "your")
"""Words that point at a thing the conversation knows: "Is the case dearer than a screen?" may mean a phone's."""


def is_addressed(clause: str, topic: str) -> bool:
    """Return True for a question about the one who answers, or the house that answers, and not about a topic.

    Args:
        clause: the question.
        topic: what it would be about; a house is spoken of as "you" itself ("the Oslo branch", "are you open?").

    Example:
        >>> is_addressed("你们周末营业吗？", "定期存款"), is_addressed("你们周末营业吗？", "城北店")
        (True, False)
    """
    return bool((_ADDRESSED_ZH if has_han(clause) else _ADDRESSED_EN).match(clause)) and not _HOUSE.search(topic)


def compares_two(clause: str) -> bool:
    """Return True for a question that names both things it compares ("Is butter healthier than oil?").

    Example:
        >>> compares_two("基金和股票有什么区别？"), compares_two("股票有什么区别？")
        (True, False)
    """
    phrases = [p for p in noun_phrases(clause) if p.kind in ("name", "term") and not is_attribute(p.text)]
    if has_han(clause):
        two = len(phrases) > 1 and _AND.fullmatch(clause, phrases[0].end, phrases[1].start) is not None
        return two and _COMPARES.match(clause, phrases[1].end) is not None
    return any(p.before == "than" for p in phrases[1:]) and phrases[0].before not in _LEANING


def is_sibling(topic: str, clause: str) -> bool:
    """Return True if a Chinese clause opens with a thing of the topic's kind, which is no part of the topic.

    Example:
        >>> is_sibling("年假", "病假怎么算工资？"), is_sibling("公司", "子公司在哪？")
        (True, False)
    """
    first = next(iter(noun_phrases(clause)), None) if has_han(clause) else None
    latin = first is not None and first.text[:1].isupper() and first.text.isascii() and topic.isascii()
    if latin and first and not first.start and not first.text.isupper():
        return fold(topic) not in fold(first.text)  # React and Vue
    if first is None or first.start or first.kind in ("attribute", "time") or is_attribute(first.text):
        return False
    return first.text[-1] == topic[-1] and topic not in first.text and len(first.text) == len(topic)
