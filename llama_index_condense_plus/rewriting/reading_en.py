"""Reading an English message: classes of words, and which pronouns point out of it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from llama_index_condense_plus.languages.attributes import ATTRIBUTES_EN
from llama_index_condense_plus.languages.base import Lexicon
from llama_index_condense_plus.languages.en_grammar import (
    AUXILIARIES,
    BE,
    BOUNDARIES,
    DETERMINERS,
    EXPLETIVE_ADJECTIVES,
    EXPLETIVE_TAILS,
    PERSONAL,
    POSSESSIVES,
    PREPOSITIONS,
    THINKING,
    WH,
)
from llama_index_condense_plus.languages.rarity import RAREST, rarity_classes
from llama_index_condense_plus.languages.stems import singular
from llama_index_condense_plus.languages.text import Token, tokenize
from llama_index_condense_plus.rewriting.clauses import asking_span
from llama_index_condense_plus.rewriting.phrasebook import Hit, Phrasebook
from llama_index_condense_plus.rewriting.reading import (
    ATTRIBUTE,
    CONTENT,
    FUNCTION,
    NAME,
    NUMBER,
    OWN,
    PRONOUN,
    PUNCTUATION,
    QUESTION,
    Reading,
)
from llama_index_condense_plus.types import Cue

FIRST_PERSON = ("i", "i'm", "i'd", "i'll", "i've")
VERB_ENDINGS = ("ed", "ing")
ORDINALS = ("first", "second", "third", "fourth", "fifth")
MIN_LOWER = 5
"""Capitals mark names if at least one word in so many begins with a small letter."""
OPEN_QUOTES = {'"': '"', "“": "”", "`": "`", "「": "」", "『": "』", "《": "》"}


def read_english(text: str, lexicon: Lexicon, book: Phrasebook) -> Reading:
    """Read a message.

    Args:
        text: the message, clipped.
        lexicon: the English lexicon with the user's words.
        book: its phrases.
    """
    tokens = tokenize(text)
    lower = [token.text.lower().replace("’", "'") for token in tokens]
    quoted = _quoted(tokens, text)
    hits = [hit for hit in book.find(lower) if not quoted[hit[1]]]
    masked = {
        index
        for kind, start, end in hits
        if kind == "not_pronoun" and not (tokens[start].text == "it" and start and lower[start - 1] in AUXILIARIES)
        for index in range(start, end)
    }
    capitals = _capitals_tell(tokens)
    classes = _classes(tokens, lower, lexicon, quoted, capitals)
    ranks = rarity_classes("en")
    words = tuple(singular(word) if kind in "nac" else word for word, kind in zip(lower, classes, strict=True))
    rarity = tuple(
        min(ranks.get(word, RAREST), ranks.get(stemmed, RAREST)) if kind in "nac" else 0
        for word, stemmed, kind in zip(lower, words, classes, strict=True)
    )
    starts = tuple(token.start for token in tokens)
    first, last = asking_span(text)
    clause = bisect_left(starts, first), bisect_left(starts, last)
    cues: list[Cue] = []
    opened = bound = 0
    for index, word in enumerate(lower):
        if word not in lexicon.pronouns or quoted[index] or index in masked or classes[index] == NAME:
            continue
        if not _refers(index, lower, classes):
            if word in ("it", "it's"):
                cues.append(Cue("empty_reference", tokens[index].text, tokens[index].start))
            continue
        classes[index] = PRONOUN
        if _has_antecedent(index, lower, classes):
            bound += 1
            cues.append(Cue("bound_pronoun", tokens[index].text, tokens[index].start))
        else:
            opened += clause[0] <= index < clause[1]
            cues.append(Cue("pronoun", tokens[index].text, tokens[index].start))
    cues.extend(_phrase_cues(hits, tokens, classes, text))
    return Reading(
        language="en",
        text=text,
        words=words,
        starts=starts,
        classes="".join(classes),
        rarity=rarity,
        clause=clause,
        cues=tuple(sorted(cues, key=lambda cue: cue.start)),
        open_pronouns=opened,
        bound_pronouns=bound,
    )


def _capitals_tell(tokens: Sequence[Token]) -> bool:
    """Return True if capital letters mark names: not if every word has one."""
    longer = [token.text for token in tokens if token.pos == "eng" and len(token.text) > 1]
    return sum(word[0].islower() for word in longer) * MIN_LOWER >= len(longer)


def _quoted(tokens: Sequence[Token], text: str) -> list[bool]:
    """Return for each token whether it stands in quotes, in code or in a URL."""
    flags = [False] * len(tokens)
    if "://" not in text and not any(mark in text for mark in OPEN_QUOTES):
        return flags
    closing = ""
    opened = 0
    url_until = -1
    for index, token in enumerate(tokens):
        mark = token.text
        if token.start < url_until:
            flags[index] = True
        elif closing and mark == closing:
            for inner in range(opened + 1, index):
                flags[inner] = True
            closing = ""
        elif not closing and mark in OPEN_QUOTES:
            closing, opened = OPEN_QUOTES[mark], index
        elif text.startswith("://", token.start + len(mark)):
            url_until = next((at for at in range(token.start, len(text)) if text[at].isspace()), len(text))
            flags[index] = True
    return flags


def _classes(
    tokens: Sequence[Token], lower: Sequence[str], lexicon: Lexicon, quoted: Sequence[bool], capitals: bool
) -> list[str]:
    found = []
    fresh = True  # at the start of a sentence a capital says nothing
    for token, word, inside in zip(tokens, lower, quoted, strict=True):
        written = token.text
        if token.pos == "x" and not written.isalnum():
            found.append(PUNCTUATION)
            fresh = fresh or written in ".?!:\n"
            continue
        if (
            inside
            or _is_code(written)
            or (capitals and not fresh and written[0].isupper() and word not in FIRST_PERSON)
        ):
            found.append(NAME)
        elif token.pos == "m":
            found.append(NUMBER)
        elif word in WH:
            found.append(QUESTION)
        elif word in lexicon.function_words:
            found.append(FUNCTION)
        elif word in ATTRIBUTES_EN or singular(word) in ATTRIBUTES_EN:
            found.append(ATTRIBUTE)
        else:
            found.append(CONTENT)
        fresh = False
    return found


def _is_code(word: str) -> bool:
    if word.isalpha() and word.islower():
        return False
    return (
        (any(map(str.isdigit, word)) and any(map(str.isalpha, word)))
        or (len(word) > 1 and not word[1:].islower() and word[1:].isalpha())
        or "_" in word
    )


def _refers(index: int, words: Sequence[str], classes: Sequence[str]) -> bool:
    """Return False for an it, this or that which stands for nothing."""
    word = words[index]
    before = words[index - 1] if index else ""
    after = words[index + 1] if index + 1 < len(words) else ""
    if word in ("it", "it's"):
        return not _expletive(index, words)
    if word == "that":
        if before in THINKING or (
            classes[index - 1] in "nac" and index and before not in BE and after not in ("?", "", ".", ",", "!")
        ):
            return False
        return not (
            after in ("is", "are", "was", "can", "has", "serves", "have") and index and classes[index - 1] in "nac"
        )
    if word in ("this", "these"):
        return after not in ("year", "month", "week", "morning", "afternoon", "evening", "weekend", "days")
    if word == "those":
        return after not in ("who", "with", "that", "in", "of")
    return True


def _expletive(index: int, words: Sequence[str]) -> bool:
    """Return True for "is it possible to", "it takes … to", "it is raining"."""
    before = words[index - 1] if index else ""
    window = words[index + 1 : index + 8]
    if before in BE or before in ("does", "will", "would", "was"):
        adjective = next((at for at, word in enumerate(window[:3]) if word in EXPLETIVE_ADJECTIVES), -1)
        if adjective >= 0 and (
            EXPLETIVE_TAILS & set(window[adjective + 1 : adjective + 3]) or window[adjective] in ("raining", "snowing")
        ):
            return True
    if window and (window[0] in BE or words[index] == "it's"):
        rest = window if words[index] == "it's" else window[1:]
        adjective = next((at for at, word in enumerate(rest[:3]) if word in EXPLETIVE_ADJECTIVES), -1)
        return adjective >= 0 and bool(
            EXPLETIVE_TAILS & set(rest[adjective + 1 : adjective + 3]) or rest[adjective] in ("raining", "snowing")
        )
    return bool(window) and window[0] in ("take", "takes", "took", "cost", "costs", "seems", "turns") and "to" in window


def _has_antecedent(index: int, words: Sequence[str], classes: Sequence[str]) -> bool:
    """Return True if the message itself may say what a pronoun stands for.

    That takes a noun or a name in an earlier clause, with nothing but small words between the beginning of its own
    clause and the pronoun ("What is X and why is it …"); a possessive may also mean the subject of its own clause.
    """
    if _introduced(index, words, classes):
        return True
    personal = words[index] in PERSONAL
    boundary = -1
    for back in range(index - 1, max(-1, index - 7), -1):
        if words[back] in BOUNDARIES and not (words[back] in ("so", "then", "that", "as") and back == 0):
            boundary = back
            break
        if classes[back] in "na" or words[back] in PREPOSITIONS:
            break
    if boundary > 0 and any(_names_something(at, words, classes, personal=personal) for at in range(boundary)):
        return True
    if words[index] in POSSESSIVES and (not index or words[index - 1] != "of"):
        return any(_names_something(at, words, classes, personal=personal) for at in range(index - 1))
    return False


def _introduced(index: int, words: Sequence[str], classes: Sequence[str]) -> bool:
    """Return True if an earlier clause brings in something new that the pronoun may mean: "if a guest …, can she …"."""
    apart = False
    for at in range(index - 1, 0, -1):
        if apart and words[at] in ("a", "an") and any(kind in OWN for kind in classes[at + 1 : at + 3]):
            return True
        apart = apart or words[at] in BOUNDARIES or classes[at] == QUESTION
    return apart and words[0] in ("a", "an")


def _names_something(index: int, words: Sequence[str], classes: Sequence[str], *, personal: bool) -> bool:
    kind = classes[index]
    if kind == NAME:
        return True
    if kind != CONTENT or words[index].endswith(VERB_ENDINGS):
        return False
    before = words[index - 1] if index else ""
    if personal:
        return before in ("a", "an") or words[index].endswith(("er", "or", "ist", "man"))
    return (
        before in DETERMINERS
        or before in PREPOSITIONS
        or before in BE
        or words[index].endswith("s")
        or (bool(index) and classes[index - 1] in "ca")
    )


def _phrase_cues(hits: Sequence[Hit], tokens: Sequence[Token], classes: Sequence[str], text: str) -> list[Cue]:
    cues = []
    for kind, start, end in hits:
        if kind in ("not_pronoun", "pronoun"):
            continue
        if kind == "opener" and start > 1:
            continue
        last = tokens[end - 1]
        named = kind == "ordinal" and end < len(tokens) and classes[end] in OWN and last.text.lower() in ORDINALS
        name = "ordinal_of_own" if named else kind  # "the first mount": of what is named beside it
        cues.append(Cue(name, text[tokens[start].start : last.start + len(last.text)], tokens[start].start))
    return cues
