"""What the user's own words are worth to a search: known before the rewrite, so that it decides on the prefetch."""

from __future__ import annotations

from llama_index_condense_plus.languages.base import Lexicon, registered_lexicons
from llama_index_condense_plus.languages.text import Token, fold, has_han, tokenize
from llama_index_condense_plus.types import HistoryWindow, TriggerDecision

NAME_TAGS = ("nr", "ns", "nt", "nz", "eng")
"""jieba's tags of names of people, places, organisations and other things; Latin words in a Chinese question."""
CONTENT_TAGS = ("n", "v", "a", "i", "j", "l", "eng", "m", "t", "s")
"""First letters of jieba's tags of words with content of their own."""
ENOUGH_WORDS = 3
"""Content words that make an English question worth its full weight."""


def original_worth(original: str, window: HistoryWindow, decision: TriggerDecision | None = None) -> float:
    """Return how much the user's own words would bring to a search, before the rewrite is known.

    A Chinese question is worth searching when it carries a name of its own: its other words are shared by every
    passage about every other thing. In English it is the number of content words that tells.

    Args:
        original: the user's words.
        window: the conversation; without one the words are all there is.
        decision: the trigger's decision; a message that needs no rewrite is worth its full weight.

    Returns:
        0 (not worth a search) to 1.
    """
    if decision is not None and not decision.rewrite:
        return 1.0
    if not window:
        return 1.0
    tokens = tokenize(original)
    if has_han(original):
        return 1.0 if _own_names(original, tokens) else 0.0
    return min(1.0, len(content_words(tokens)) / ENOUGH_WORDS)


def content_words(tokens: tuple[Token, ...]) -> list[str]:
    """Return the folded words that are no function words, question words or pronouns."""
    lexicons = registered_lexicons().values()
    words = []
    for token in tokens:
        word = fold(token.text)
        if token.pos == "x" or any(_is_function_word(word, lexicon) for lexicon in lexicons):
            continue
        if token.pos.startswith(CONTENT_TAGS):
            words.append(word)
    return words


def _is_function_word(word: str, lexicon: Lexicon) -> bool:
    return word in lexicon.function_words or word in lexicon.question_words or word in lexicon.pronouns


def _own_names(text: str, tokens: tuple[Token, ...]) -> bool:
    return "《" in text or any(token.pos in NAME_TAGS and len(token.text) > 1 for token in tokens)
