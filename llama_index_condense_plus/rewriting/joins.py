"""Joining what a question is about with a clause that does not say it, so that it reads as one question."""

from __future__ import annotations

import re

from llama_index_condense_plus.lexicons.attributes import ATTRIBUTES_EN
from llama_index_condense_plus.lexicons.patterns import regex
from llama_index_condense_plus.lexicons.stems import singular
from llama_index_condense_plus.lexicons.text import fold, has_han, tokenize
from llama_index_condense_plus.rewriting.follow_up_words import either, follow_up_words
from llama_index_condense_plus.rewriting.noun_phrases import noun_phrases
from llama_index_condense_plus.rewriting.noun_phrases_zh import ATTRIBUTES

_END = regex(r"[\s.?!]*$")
_LEAD = regex(r"^(?:(?:what|how) about|and|or|but|so)\s+", re.IGNORECASE)
_HOW = regex(r"^how (\w+)$", re.IGNORECASE)
_ARTICLE = regex(r"^(?:the|an?|its|their)\s+", re.IGNORECASE)
_VERB = regex(
    r"\b(?:is|are|was|were|do|does|did|can|could|will|would|should|may|must|has|have|what|which|who|where|when|why|how)\b",
    re.IGNORECASE,
)
_MODAL = regex(rf"(?:{either(follow_up_words('zh')['modals'])})(?![量源耗力级])")
"""What opens a clause that says what may be done, though the tagger may take it for a noun's beginning."""
_NOUN_TAGS = ("n", "vn", "an")


def joined(topic: str, clause: str) -> str:
    """Return a clause with what it is about.

    Args:
        topic: the name or noun phrase, an English noun with its article.
        clause: the clause, with its question mark.

    Example:
        >>> joined("GTE-3000", "保修期多长？"), joined("Gale Hut", "The price?")
        ('GTE-3000的保修期多长？', 'What is the price of Gale Hut?')
    """
    if has_han(clause) or not clause.strip():
        return _chinese(topic, clause)
    return _english(topic, clause)


def _chinese(topic: str, clause: str) -> str:
    first = next(iter(tokenize(clause)), None)
    done = first is not None and clause[len(first.text) :][:1] in ("吗", "么")  # 收费吗 asks whether one does
    done = done or _MODAL.match(clause) is not None  # 能带宠物吗
    noun = first is not None and (first.pos in _NOUN_TAGS or first.text in ATTRIBUTES)
    asked = first is not None and any(p.start == 0 and p.kind == "attribute" for p in noun_phrases(clause))
    if not done and (noun or asked):
        return f"{topic}的{clause}"
    return f"{topic}{clause}" if has_han(clause[:1]) else f"{topic} {clause}"


def _english(topic: str, clause: str) -> str:
    mark = _END.search(clause)
    words, end = (clause[: mark.start()], mark.group().strip()) if mark else (clause, "")
    how = _HOW.match(words)
    if how and how.group(1).lower() not in ("much", "many", "long", "often", "far", "come", "so"):
        return f"{words} is {topic}{end}"
    bare = _LEAD.sub("", words)
    phrases = noun_phrases(bare)
    if phrases and phrases[-1].end == len(bare) and not _VERB.search(bare):
        thing = _ARTICLE.sub("", bare)
        return f"What {'are' if _plural(thing) else 'is'} the {thing} of {topic}?"
    last = phrases[-1] if phrases and phrases[-1].end == len(bare) else None
    owned = (
        last is not None
        and last.before not in ("a", "an", "any")
        and singular(fold(last.text.split()[-1])) in ATTRIBUTES_EN
    )
    return f"{bare} {'of' if owned else 'for'} {topic}{end}"


def _plural(words: str) -> bool:
    last = words.rsplit(maxsplit=1)[-1].lower()
    return last.endswith("s") and not last.endswith(("ss", "us", "is"))
