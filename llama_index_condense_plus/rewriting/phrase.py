"""A noun phrase, what the finders of both languages give, and words that go on inside a sentence."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class NounPhrase:
    """A noun phrase of a text, without its article."""

    text: str
    """The words as written."""
    start: int
    """Offset in the text, in characters."""
    kind: str = "term"
    """``name`` (capitalised, or tagged as one), ``attribute`` (a price, a reason), ``number``, ``time`` or ``term``."""
    before: str = ""
    """The English word before it, lower case: an article or a preposition, mostly."""

    @property
    def end(self) -> int:
        """Offset after the last character."""
        return self.start + len(self.text)


def decapitalised(words: str) -> str:
    """Return words that go on inside a sentence: without the capital that opened one."""
    head = words.split(" ", 1)[0]
    own = head[1:2].isupper() or head in ("I", "I'm", "I've", "I'd")
    return words if own else words[:1].lower() + words[1:]
