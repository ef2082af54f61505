"""Where the topic of a conversation began: what was named before is no candidate for a reference."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence, Set
from functools import lru_cache

from llama_index_condense_plus.lexicons.patterns import regex
from llama_index_condense_plus.lexicons.text import content_tokens, fold, folded
from llama_index_condense_plus.protocols import EntityExtractor
from llama_index_condense_plus.rewriting.references import find_references
from llama_index_condense_plus.types import WindowMessage

UNNAMED = frozenset({"term", "number"})
"""Kinds of entity that start no topic."""

SUBSTITUTION = regex(
    r"^\s*(?:那么?|那要是|如果是)?(?P<zh>[^，,。？?]{1,16}?)呢[？?。]?\s*$"
    r"|^\s*(?:and |but |so |ok,? )*(?:(?:what|how) about|and|for)\s+(?:(?:in|for|at|on|with|to) )?(?:the )?"
    r"(?P<en>[^,.?]{1,40})\?*\s*$",
    re.IGNORECASE,
)
"""A question that only puts something else in the place of what the last one was about."""


def _names(text: str, extractor: EntityExtractor) -> frozenset[str]:
    if isinstance(extractor, Hashable):
        return _names_of(text, extractor)
    return _names_of.__wrapped__(text, extractor)


@lru_cache(maxsize=4096)
def _names_of(text: str, extractor: EntityExtractor) -> frozenset[str]:
    return frozenset(fold(e.text).strip() for e in extractor.extract(text) if e.kind not in UNNAMED)


def since_topic_start(messages: Sequence[WindowMessage], extractor: EntityExtractor) -> tuple[WindowMessage, ...]:
    """Return the messages from the last clear change of topic on.

    A change is clear if the user names something, refers to nothing, says no word of content that was said before, and
    is answered about what was named, without a name from before; or if a name takes another's place ("And the Pro?").

    Args:
        messages: the conversation, oldest first.
        extractor: finds the names.
    """
    start, words, names = 0, set[str](), set[str]()
    for index, message in enumerate(messages):
        text = message.full_text
        said = content_tokens(text)
        fresh = _names(text, extractor)
        if message.role == "user" and fresh and names:
            answer = messages[index + 1].full_text if index + 1 < len(messages) else ""
            own_words = words.isdisjoint(said) and not find_references(text)
            if SUBSTITUTION.match(text) or (own_words and _answers(answer, fresh, names)):
                start, words, names = index, set(), set()
        words.update(said)
        names |= fresh
    return tuple(messages[start:])


def _answers(answer: str, fresh: Set[str], earlier: Set[str]) -> bool:
    """Return True if an answer takes up a fresh name and none from before."""
    told = folded(answer)
    return any(name in told for name in fresh) and not any(name in told for name in earlier)
