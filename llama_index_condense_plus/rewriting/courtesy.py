"""Telling thanks and greetings from the question after them: "Great, thanks! And the Heron?" asks about the Heron."""

from __future__ import annotations

from llama_index_condense_plus.lexicons import lexicon_for
from llama_index_condense_plus.lexicons.memo import remembered
from llama_index_condense_plus.lexicons.patterns import regex
from llama_index_condense_plus.lexicons.text import fold, has_han
from llama_index_condense_plus.rewriting.asking import asks
from llama_index_condense_plus.rewriting.follow_up_words import either, follow_up_words
from llama_index_condense_plus.rewriting.small_talk import SmallTalk

_STOP = regex(r"[,，.。!！~～;；…\n]+\s*")
_LAUGH = regex(either([*follow_up_words("zh")["laughs"], *follow_up_words("en")["laughs"]]))
_MAX_CHARS = 60
"""Characters in which courtesy may stand before a question."""


def without_courtesy(message: str) -> str:
    """Return a message without the small talk that it opens with; the message itself if it is nothing else.

    Example:
        >>> without_courtesy("Great, thanks! And the Heron?"), without_courtesy("好的谢谢！那紫砂壶呢？")
        ('And the Heron?', '那紫砂壶呢？')
    """
    talk, start = _small_talk("zh" if has_han(message) else "en"), 0
    for stop in _STOP.finditer(message, 0, _MAX_CHARS):
        rest = message[stop.end() :]
        holds = talk.of(message[: stop.start()], asked=False)
        if holds is None or holds[1] or not any(char.isalnum() for char in rest):
            break  # an answer is no courtesy
        start = stop.end()
    return message[start:] if start and talk.of(message[start:], asked=False) is None else message


def only_small_talk(message: str) -> bool:
    """Return True for thanks, laughter and the like that ask nothing."""
    if asks(message):
        return False
    phrases = lexicon_for("zh" if has_han(message) else "en").small_talk
    pieces = [piece.strip() for piece in _STOP.split(fold(message))]
    return any(piece in phrases or _LAUGH.match(piece) for piece in pieces if piece)


@remembered
def _small_talk(language: str) -> SmallTalk:
    return SmallTalk(lexicon_for(language))
