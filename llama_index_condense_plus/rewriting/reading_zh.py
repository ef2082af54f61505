"""Reading a Chinese message: classes of words, and which pronouns point out of it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from llama_index_condense_plus.languages.attributes import ATTRIBUTES_ZH
from llama_index_condense_plus.languages.base import Lexicon
from llama_index_condense_plus.languages.patterns import regex
from llama_index_condense_plus.languages.rarity import RAREST, rarity_classes
from llama_index_condense_plus.languages.text import FUNCTION_TAGS, Token, fold, tokenize
from llama_index_condense_plus.rewriting.clauses import asking_span
from llama_index_condense_plus.rewriting.phrasebook import Phrasebook
from llama_index_condense_plus.rewriting.reading import (
    ATTRIBUTE,
    CLASSED,
    CONTENT,
    FUNCTION,
    NAME,
    NUMBER,
    PRONOUN,
    PUNCTUATION,
    QUESTION,
    VERB,
    Reading,
)
from llama_index_condense_plus.types import Cue

NAME_TAGS = frozenset(("nr", "ns", "nt", "nz", "nrt", "nrfg", "eng"))
PERSON_TAGS = frozenset(("nr", "nrt", "nrfg", "nz"))
OPEN_QUOTES = {"《": "》", "“": "”", "「": "」", "『": "』", "【": "】", '"': '"', "`": "`", "〈": "〉"}
BARE = frozenset("其该此")
"""Pronouns that are one only before a noun."""
MINE = frozenset(("我", "我们", "咱", "咱们", "我家"))
"""Words before a noun that brings in somebody new: 我女儿."""
PERSONS = frozenset(("male", "female", "person"))
EMPTY = regex(r"[这那]么[多大少长高贵小重]|[这那]样的(?!$|[?？])")
"""Beginnings that look like a reference and come with their own noun."""
LATIN = "\u2fff"
"""Chinese words sort after this character."""
NOUN_CLASSES = NAME + ATTRIBUTE + CONTENT + NUMBER
NOUNS = frozenset("nlijzx")
PIECES = frozenset(("g", "ng", "nr", "nz", "zg", "vg", "ag", "tg", "j", "x", "nrfg", "nrt"))
"""Tags of single characters that stand side by side only in a name."""
MAX_SOUGHT = 64
"""Cues after which no pronoun's antecedent is looked for: no question has so many, hostile text has."""


def read_chinese(text: str, lexicon: Lexicon, book: Phrasebook) -> Reading:
    """Read a message.

    Args:
        text: the message, clipped.
        lexicon: the Chinese lexicon with the user's words.
        book: its phrases.
    """
    tokens = tokenize(text)
    folded = _aligned(text)
    quoted = _quoted_spans(text)
    hits = [hit for hit in book.find(folded) if not _inside(hit[1], quoted)]
    words = tuple(folded[token.start : token.start + len(token.text)] for token in tokens)
    classes = _classes(tokens, words, lexicon, quoted)
    starts = tuple(token.start for token in tokens)
    ranks = rarity_classes("zh")
    english = rarity_classes("en")
    rarity = tuple(
        (ranks if word > LATIN else english).get(word, RAREST) if kind in CLASSED else 0
        for word, kind in zip(words, classes, strict=True)
    )
    first, last = asking_span(text)
    at_start = {start: index for index, start in enumerate(starts)}
    cues: list[Cue] = []
    opened = bound = 0
    for kind, start, end in hits:
        phrase = folded[start:end]
        if kind == "not_pronoun":
            continue
        if kind != "pronoun":
            if (kind != "opener" or _opens(start, folded)) and not _counts(phrase, at_start.get(start), classes):
                cues.append(Cue(kind, text[start:end], start))
            continue
        if not _refers(phrase, start, folded, tokens, at_start) or (
            lexicon.pronoun_classes.get(phrase) == "place" and _after_noun(at_start.get(start), classes, tokens)
        ):
            continue
        index = at_start.get(start)
        if index is not None:
            classes[index] = PRONOUN
        if len(cues) < MAX_SOUGHT and (
            _title_follows(end, last, quoted, text)
            or _has_antecedent(phrase, start, tokens, classes, words, rarity, lexicon, quoted)
        ):
            bound += 1
            cues.append(Cue("bound_pronoun", text[start:end], start))
        else:
            opened += first <= start < last
            cues.append(Cue("pronoun", text[start:end], start))
    empty = EMPTY.match(folded)
    if empty:
        cues.append(Cue("empty_reference", text[: empty.end()], 0))
    return Reading(
        language="zh",
        text=text,
        words=words,
        starts=starts,
        classes="".join(classes),
        rarity=rarity,
        clause=(bisect_left(starts, first), bisect_left(starts, last)),
        cues=tuple(sorted(cues, key=lambda cue: cue.start)),
        open_pronouns=opened,
        bound_pronouns=bound,
    )


def _aligned(text: str) -> str:
    """Return the folded text, character by character, so that offsets stay."""
    folded = fold(text)
    return folded if len(folded) == len(text) else "".join((fold(character) or " ")[0] for character in text)


def _quoted_spans(text: str) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    closing, opened = "", 0
    if not any(mark in text for mark in OPEN_QUOTES):
        return spans
    for index, character in enumerate(text):
        if closing and character == closing:
            spans.append((opened, index))
            closing = ""
        elif not closing and character in OPEN_QUOTES:
            closing, opened = OPEN_QUOTES[character], index
    return spans


def _inside(start: int, spans: Sequence[tuple[int, int]]) -> bool:
    return any(first < start < last for first, last in spans)


def _opens(start: int, folded: str) -> bool:
    before = folded[max(0, start - 3) : start]
    return start == 0 or before[-1] in ",.!?;。、 ~…" or before.strip("嗯哦恩,. ") == ""


def _counts(phrase: str, index: int | None, classes: Sequence[str]) -> bool:
    """Return True for 以上 after a number or a noun: 十台以上, 本科以上."""
    return phrase == "以上" and bool(index) and classes[(index or 1) - 1] in NOUN_CLASSES


def _after_noun(index: int | None, classes: Sequence[str], tokens: Sequence[Token]) -> bool:
    """Return True if a place stands beside its own noun: 我们部门这边."""
    return bool(index) and classes[(index or 1) - 1] in NOUN_CLASSES and tokens[(index or 1) - 1].pos[0] in NOUNS


def _refers(phrase: str, start: int, folded: str, tokens: Sequence[Token], at_start: dict[int, int]) -> bool:
    index = at_start.get(start)
    if phrase in BARE:
        if index is None or tokens[index].text != phrase:
            return False
        return index + 1 < len(tokens) and tokens[index + 1].pos[0] in "nvaj"
    if phrase in ("他", "她", "它") and index is None:
        return False  # inside a longer word or name
    if phrase == "那个" and folded[start + 2 : start + 3] in (",", "。", "…"):
        return False
    if phrase in ("这样", "那样"):
        return not folded.startswith("的", start + 2)
    return True


def _has_antecedent(
    phrase: str,
    start: int,
    tokens: Sequence[Token],
    classes: Sequence[str],
    words: Sequence[str],
    rarity: Sequence[int],
    lexicon: Lexicon,
    quoted: Sequence[tuple[int, int]],
) -> bool:
    """Return True if the message itself may say what a pronoun stands for: a fitting name before it."""
    kind = lexicon.pronoun_classes.get(phrase, "thing")
    if kind == "time":
        return False
    for index, (token, cls) in enumerate(zip(tokens, classes, strict=True)):
        if token.start >= start:
            return False
        if kind in PERSONS and index > 0 and words[index - 1] in MINE and token.pos[0] == "n":
            return True
        if cls == NAME:
            if kind not in PERSONS or token.pos in PERSON_TAGS or _inside(token.start, quoted):
                return True
        elif cls in (CONTENT, VERB) and _may_name(index, tokens, words, rarity):
            return True
    return False


def _title_follows(end: int, last: int, quoted: Sequence[tuple[int, int]], text: str) -> bool:
    """Return True for 他的《…》: what is asked about is named after the pronoun, in the same clause."""
    return any(
        end <= first < last and text[first] == "《" and not any(mark in text[end:first] for mark in "，。,？?！!")
        for first, _ in quoted
    )


def _may_name(index: int, tokens: Sequence[Token], words: Sequence[str], rarity: Sequence[int]) -> bool:
    """Return True for a rare noun, or for pieces of a name that the dictionary does not hold."""
    token = tokens[index]
    if len(words[index]) > 1:
        return rarity[index] == RAREST and token.pos[0] in NOUNS
    after = tokens[index + 1] if index + 1 < len(tokens) else None
    return token.pos in PIECES and after is not None and len(after.text) == 1 and after.pos in PIECES


def _classes(
    tokens: Sequence[Token], words: Sequence[str], lexicon: Lexicon, quoted: Sequence[tuple[int, int]]
) -> list[str]:
    found = []
    dotted = {index + step for index, token in enumerate(tokens) if token.text in "·•" for step in (-1, 1)}
    for index, (token, word) in enumerate(zip(tokens, words, strict=True)):
        if token.pos == "x" and not word.isalnum():
            found.append(PUNCTUATION)
        elif (quoted and _inside(token.start, quoted)) or index in dotted:
            found.append(NAME)
        elif word in lexicon.question_words:
            found.append(QUESTION)
        elif word in ATTRIBUTES_ZH:
            found.append(ATTRIBUTE)
        elif token.pos in ("m", "q", "mq"):
            found.append(NUMBER)
        elif word in lexicon.function_words or (token.pos[0] in FUNCTION_TAGS and token.pos != "eng"):
            found.append(FUNCTION)
        elif token.pos in NAME_TAGS and len(word) > 1:
            found.append(NAME)
        else:
            found.append(CONTENT if token.pos[0] in NOUNS or token.pos in PIECES or token.pos == "eng" else VERB)
    return found
