"""Finding the phrase of a question that a name in a follow-up is of one kind with."""

from __future__ import annotations

import re

from llama_index_condense_plus.languages.attributes import ATTRIBUTES_EN
from llama_index_condense_plus.languages.patterns import regex
from llama_index_condense_plus.languages.stems import singular
from llama_index_condense_plus.languages.text import fold, has_han, simplify, tokenize
from llama_index_condense_plus.rewriting.follow_up_words import either, follow_up_words
from llama_index_condense_plus.rewriting.fragments import ADJECTIVES, BRACKETS, Fragment
from llama_index_condense_plus.rewriting.noun_phrases import noun_phrases
from llama_index_condense_plus.rewriting.noun_phrases_zh import ATTRIBUTES
from llama_index_condense_plus.rewriting.phrase import NounPhrase

Scored = tuple[float, int, int]
"""How well a span fits, where it starts and ends."""

_YEAR = regex(r"(?<!\d)(?:19|20)\d\d(?!\d)年?")
_NUMBER = regex(r"\d+(?:\.\d+)?")
_AND_AFTER = regex(r" ?(?:[和与跟及或、]|还是| (?:and|or) )")
_AND_BEFORE = regex(r"(?:[和与跟及或、]|还是| (?:and|or) (?:the |an? )?) ?\Z")
_PROPER = ("nr", "ns", "nz", "en")
"""How jieba's tags of persons, places, other names and Latin words begin."""
_HAN_RUN = regex(r"[\u3400-\u9fff]*\Z")
_ASKED = regex(rf" ?(?:{either(follow_up_words('zh')['asking'])}|是|有)")
_MODIFIERS = frozenset("abz")
_ENOUGH = 1.0
"""A counterpart that scores less is none."""
_NEAR = 8
"""Characters before a phrase that tell how it is joined to what is before it."""


def counterpart(question: str, new: Fragment) -> tuple[int, int] | None:
    """Return where a question names what a fragment takes the place of; None if nothing is alike enough."""
    for pattern in (_YEAR, _NUMBER):
        if pattern.fullmatch(new.new):
            found = [m for m in pattern.finditer(question) if m.group() != new.new]
            if not found:
                return None
            match = found[0]
            return match.start(), match.start() + len(match.group().rstrip("年" if not new.new.endswith("年") else ""))
    if re.search(rf"(?<![a-z0-9]){re.escape(fold(new.new))}(?![a-z0-9])", fold(question)):
        return None
    spans = _chinese(question, new) if has_han(question) else _english(question, new)
    best = max(spans, key=lambda s: s[0], default=None)
    return best[1:] if best and best[0] >= _ENOUGH else None


def _coordinated(question: str, old: NounPhrase) -> bool:
    """Return True for one of two things in one breath: "A and B"."""
    return bool(
        _AND_AFTER.match(question, old.end) or _AND_BEFORE.search(question[max(0, old.start - _NEAR) : old.start])
    )


def _english(question: str, new: Fragment) -> list[Scored]:
    words = new.new.split()
    found: list[Scored] = []
    phrases = noun_phrases(question)
    probe = next(iter(noun_phrases(new.new)), None)
    for index, old in enumerate(phrases):
        if (old.kind in ("time", "number") and not (probe and probe.kind == old.kind)) or _coordinated(question, old):
            continue
        if new.modifier:
            parts = old.text.split()
            if old.before in ADJECTIVES:
                found.append((3, old.start - len(old.before) - 1, old.start - 1))
            elif len(parts) > 1:
                found.append((2 + (old.before in ("a", "an")), old.start, old.start + len(" ".join(parts[:-1]))))
            continue
        found.append(_english_score(old, new, words, index))
    return found


def _english_score(old: NounPhrase, new: Fragment, words: list[str], index: int) -> Scored:
    parts = old.text.split()
    fit, start, end = _wording(old, new, words)
    score = 1.0 + 0.1 * index + fit + 0.5 * (parts[-1].endswith("s") == words[-1].endswith("s"))
    if new.preposition and new.preposition == old.before:
        score += 2
    if new.article in ("a", "an") and old.before in ("a", "an"):
        score += 1
    attribute = is_attribute(new.new) and not new.named
    if attribute != is_attribute(old.text):
        score -= 2
    return score + 2 * attribute, start, end


def _wording(old: NounPhrase, new: Fragment, words: list[str]) -> Scored:
    """Return how alike two English phrases look, with the part of the old one that the new one takes the place of."""
    parts = old.text.split()
    capital = [part[0].isupper() or part[0].isdigit() for part in parts]
    if len(words) > 1 and singular(parts[-1].lower()) == singular(words[-1].lower()):
        return 4.0, old.start, old.end
    if len(words) > 1 and parts[0].lower() == words[0].lower():
        return 4.0, old.start, old.start + len(" ".join(parts[: len(words)]))
    if any(capital) and new.named is not False:
        fit = 2 + (len(parts) == len(words)) * (1.0 if new.named else 0.5)
        if not all(capital) and capital[0]:
            return fit, old.start, old.start + len(" ".join(parts[: capital.index(False)]))
        letter = len(words) == 1 and len(parts) > 1 and len(words[0]) == 1 == len(parts[-1])
        return fit, old.end - 1 if letter else old.start, old.end
    if new.named is not None and any(capital) is not new.named:
        return -2.0 if any(capital) else -1.0, old.start, old.end
    aspect = new.article == "the" and not new.named and old.before != "the"  # "the deposit?" asks something else
    return -2.0 if aspect else 0.0, old.start, old.end


def _chinese(question: str, new: Fragment) -> list[Scored]:
    words = new.new.strip(BRACKETS)
    probe = noun_phrases(words)
    attribute = is_attribute(words)
    pos = next((t.pos for t in tokenize(words)), "")
    found: list[Scored] = []
    for index, old in enumerate(noun_phrases(question)):
        if (old.kind == "time" and not (probe and probe[0].kind == "time")) or _coordinated(question, old):
            continue
        if not (new.modifier and pos[:1] in _MODIFIERS):
            found.extend(_chinese_scores(question, old, words, attribute, 0.3 / (index + 1)))
    for token in tokenize(question):
        if len(token.text) != len(words) or token.text == words:
            continue
        shared = token.text[0] == words[0] or token.text[-1] == words[-1]
        verb = token.pos == "v" and pos == "v" and len(words) > 1
        modifier = (new.modifier or len(words) == 1) and token.pos[0] in _MODIFIERS and pos[:1] in _MODIFIERS
        noun = token.pos == pos == "n" and len(words) == 1
        if modifier or verb or noun:
            found.append((1.0 + 2 * shared + 2 * (modifier or noun), token.start, token.start + len(token.text)))
    if new.modifier and pos[:1] in _MODIFIERS and not any(score > _ENOUGH for score, *_ in found):
        return [(_ENOUGH, p.start, p.start) for p in noun_phrases(question)[:1]]  # 临时的 + 身份证
    return found


def is_attribute(words: str) -> bool:
    """Return True for a noun that belongs to something: 价格, 分红情况, "price"."""
    if not has_han(words):
        return singular(words.rsplit(maxsplit=1)[-1].lower()) in ATTRIBUTES_EN
    words = simplify(words)
    return any(words[-size:] in ATTRIBUTES for size in range(2, min(5, len(words)) + 1))


def _chinese_scores(question: str, old: NounPhrase, words: str, attribute: bool, early: float) -> list[Scored]:
    """Score a phrase whole, and the part of it that shares its end or beginning with the new words."""
    tokens = tokenize(old.text)
    suffix = _shared_end(old.text, words)
    if attribute:
        tail = tokens[-1].start if len(tokens) > 1 and is_attribute(old.text) else 0
        asked = is_attribute(old.text) and (_ASKED.match(question, old.end) or not question[old.end :][:1].isalnum())
        return [(2.0 + min(suffix, 1), old.start + tail, old.end)] if asked else []
    base = (0.0 if is_attribute(old.text) and len(tokens) == 1 else 1.0) + early
    base += 0.7 * (_tag(old.text) == _tag(words)) + 0.3 * (has_latin(old.text) == has_latin(words))
    base -= words.islower() and words.isascii() and not old.text.islower()
    start = old.start
    if suffix and len(old.text) < len(words):  # 年 + 假 against 病假
        room = _HAN_RUN.search(question[max(0, old.start - _NEAR) : old.start])
        start -= min(len(words) - len(old.text), len(room.group()) if room else 0)
    scores = [(base + min(suffix, 2) * 1.5, start, old.end)]
    for token in tokens[:-1]:
        if _tag(token.text) == _tag(words) in _PROPER and len(token.text) > 1:
            scores.append((2.6 + early, old.start + token.start, old.start + token.start + len(token.text)))
        ends = token.start + len(token.text)
        head, piece = old.text[:ends], token.text
        if not suffix and len(head) > 1 and head[-1] == words[-1]:
            scores.append((1.5 + 1.5 * min(_shared_end(head, words), 2), old.start, old.start + ends))
        elif not suffix and len(piece) == len(words) > 1 and piece[0] == words[0]:
            scores.append((2.5, old.start + token.start, old.start + ends))
        elif not suffix and token.start == 0 and words.isascii() and piece.isascii():
            scores.append((2.0, old.start, old.start + ends))
    return scores


def _tag(words: str) -> str:
    """Return the tag of a phrase's last word, names of persons and places apart from common nouns."""
    pos = tokenize(words)[-1].pos
    return pos[:2] if pos[:2] in _PROPER else pos[:1]


def has_latin(words: str) -> bool:
    """Return True for words with ASCII letters or digits in them."""
    return any(char.isascii() and char.isalnum() for char in words)


def _shared_end(one: str, other: str) -> int:
    """Return how many characters two words share at the end."""
    size = 0
    while size < min(len(one), len(other)) and one[-1 - size] == other[-1 - size]:
        size += 1
    return size
