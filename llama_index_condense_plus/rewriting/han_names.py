"""Finding Chinese names where nothing marks them: tagged words, runs with a naming ending, frames of acquaintance."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from llama_index_condense_plus.lexicons.attributes import ATTRIBUTES_ZH
from llama_index_condense_plus.lexicons.patterns import regex
from llama_index_condense_plus.lexicons.rarity import rarity_classes
from llama_index_condense_plus.lexicons.text import Token, has_han, simplify, tokenize
from llama_index_condense_plus.rewriting.follow_up_words import either
from llama_index_condense_plus.settings.reading import shipped_table
from llama_index_condense_plus.types import Entity

Span = tuple[Entity, int, int]
"""An entity with the place it takes up."""


def entity_words() -> Mapping[str, Mapping[str, Any]]:
    """Return the words in ``data/entities.toml``."""
    return shipped_table("llama_index_condense_plus.rewriting", "entities.toml")


_ZH = entity_words()["zh"]
_CLASSES = frozenset(_ZH["classes"])
_FILLERS = frozenset(_ZH["no_names"]) | _CLASSES | frozenset(_ZH["lead"])
_NO_NAMES = ATTRIBUTES_ZH | _FILLERS
_MAX_TERM_WORDS = 4
_MIN_CHARS = 2
_MIN_SUFFIXED = 3
_MAX_RUN = 6
_H = r"\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_NAME_CHARS = rf"[{_H}A-Za-z0-9·•・：:\-]"
_CLASSIFIER = r"[这那][部首个座家本位款张种条只件支台篇名套道处片所些里儿]*"
_CLASS = either(_ZH["classes"])
_INTRODUCED = rf"(?:{either(_ZH['frame_verbs'])})(?:{either(_ZH['lead'])})*({_NAME_CHARS}{{2,20}}?)"
_SURE_FRAME = regex(rf"{_INTRODUCED}{_CLASSIFIER}(?:{_CLASS})")
_FRAME = regex(
    rf"{_INTRODUCED}(?:{_CLASSIFIER}|的?(?:{either(_ZH['frame_ends'])})+[，,。.？?！!\s]|[，,。.？?！!\n]|$)"
)
_ABOUT = regex(
    rf"对({_NAME_CHARS}{{2,20}}?)(?:{_CLASSIFIER}(?:{_CLASS})?)?(?:是否|有|也|很|不)?(?:了解|熟悉|印象|感兴趣|研究)"
)
_START = r"(?:^|[，,。.？?！!；;\s：:])"
_APPOSITION = regex(rf"(?:{_START}|[边近]的)({_NAME_CHARS}{{2,20}}?){_CLASSIFIER}(?:{_CLASS})")
_SUBJECT = regex(
    rf"{_START}({_NAME_CHARS}{{2,16}}?)[你您]?"
    r"(?:知道|怎么?样|如何|[听看去用吃玩]过|听说过|了解|是什么|在哪|是谁|好[玩看听用吃])"
)
_LISTED = regex(rf"(?<=、)([{_H}A-Za-z·]{{2,10}})(?=、)")
_SURNAMED = regex(
    rf"(?:^|[，,。.？?！!；;\s、：:（(和跟与是叫让对由像])((?:{either(_ZH['surnames'])})[{_H}]{{1,2}})"
    r"(?=[，,。.？?！!；;\s、）)和跟与]|$|[是的在有也吗呢这]|主|导|唱|演|写|编|作|给|出|个人|先生|女士|老师)"
)
_NO_PART = "的吗是了在这那你我他她它们有和与吧呢啊呀个对叫由像看听让给跟说被把就过很都还也又于"
_DOTTED = regex(rf"(?:(?![{_NO_PART}])[{_H}A-Za-z.]){{1,8}}(?:[·•・](?:(?![{_NO_PART}])[{_H}A-Za-z.]){{1,8}})+")
_TAGS = {"nr": "person", "nrt": "person", "nrfg": "person", "ns": "place", "nt": "organisation", "nz": "name"}
_NOMINAL = frozenset({"n", "ng", "nr", "nrt", "nrfg", "ns", "nt", "nz", "vn", "an", "j", "l", "i", "b", "eng", "zg"})
_TERM_TAGS = frozenset({"n", "ng", "vn", "an", "eng", "l", "i", "j", "nz", "b"})
_SUFFIX = regex(rf"(?:{either(_ZH['suffixes'])})$")
_MINOR = regex("[奖语族国]$")
"""Endings of names that are told about something else: awards, languages, countries."""
_ADDRESS = regex(r"[省市区县乡镇村路街道号]$")
_ASKING = regex(either(_ZH["asking"]))
_NO_INSIDE = regex(either(_ZH["never_inside"]) + r"|\d[年月日]")
_LEADS = frozenset(_ZH["lead"]) | frozenset(_ZH["frame_verbs"]) | frozenset(_ZH["lead_verbs"]) | _CLASSES
_LONG_ATTRIBUTES = tuple(word for word in ATTRIBUTES_ZH if len(word) >= _MIN_SUFFIXED)
_TRAILS = frozenset(_ZH["trails"])
_COMMON_NAME_CLASS = 5
"""Words of the 16,000 most frequent are no person's or brand's name, whatever the tagger says."""


def han_names(text: str) -> Iterator[Span]:
    """Yield names with the span they occupy, surest kind first; spans may overlap."""
    tokens = tokenize(text)
    for match in _DOTTED.finditer(text):
        start, end = _dotted_span(match, tokens)
        yield Entity(text[start:end], "person", start), start, end
    for pattern in (_SURE_FRAME, _FRAME, _ABOUT, _APPOSITION, _SUBJECT):
        for match in pattern.finditer(text):
            span = _trimmed(match.group(1), match.start(1), sure=pattern is _SURE_FRAME)
            if span:
                yield Entity(text[slice(*span)], "framed", span[0]), *span
    yield from _suffixed(text, tokens)
    for match in _LISTED.finditer(text):
        if _rare(match.group(1)) and not _NO_INSIDE.search(match.group(1)):
            yield Entity(match.group(1), "name", match.start(1)), *match.span(1)
    for match in _SURNAMED.finditer(text):
        if _rare(match.group(1)):
            yield Entity(match.group(1), "person", match.start(1)), *match.span(1)
    yield from _tagged(text, tokens)


def han_terms(text: str) -> Iterator[Span]:
    """Yield runs of common nouns, a rare verb before them included (退货政策); none of attributes alone."""
    run: list[Token] = []
    for token in (*tokenize(text), Token("", -1, "x")):
        fits = token.pos in _TERM_TAGS or (token.pos == "v" and not run and not is_common(token.text))
        fits = fits and token.text not in _FILLERS
        if fits and (not run or _touch(run[-1], token)):
            run.append(token)
            continue
        kept = run[-_MAX_TERM_WORDS:]
        words = "".join(t.text for t in kept)
        alone = len(kept) == 1 and (words in ATTRIBUTES_ZH or kept[0].pos == "v")
        if len(words) >= _MIN_CHARS and not alone:
            yield Entity(words, "term", kept[0].start), kept[0].start, kept[0].start + len(words)
        run = [token] if fits else []


def is_common(words: str) -> bool:
    """Return True for a word of the language's everyday vocabulary, which names nothing by itself."""
    return rarity_classes("zh").get(simplify(words), _COMMON_NAME_CLASS + 1) <= _COMMON_NAME_CLASS


def _rare(words: str) -> bool:
    return len(words) >= _MIN_CHARS and words not in _NO_NAMES and not is_common(words)


def _dotted_span(match: re.Match[str], tokens: Sequence[Token]) -> tuple[int, int]:
    """Cut what is no name off both ends of 尼古拉斯·斯帕克斯 where it stands in running text."""
    start, end = match.span()
    dots = [start + i for i, c in enumerate(match.group()) if c in "·•・"]
    head = [t for t in tokens if start <= t.start < dots[0]]
    while len(head) > 1 and not head[0].pos.startswith("nr"):
        head.pop(0)
    tail = [t for t in tokens if dots[-1] < t.start < end]
    size = 1
    while size < len(tail) and _in_dotted(tail[size]):
        size += 1
    if not has_han(match.string[end : end + 1]) and end - dots[-1] <= _MAX_RUN:
        return (head[0].start if head else start), end
    stop = min(end, tail[size - 1].start + len(tail[size - 1].text)) if tail else end
    return (head[0].start if head else start), stop


def _in_dotted(token: Token) -> bool:
    """Return True for a word that may go on a foreign name: a name, a rare word, a lone syllable (奈特 + 莉)."""
    syllable = len(token.text) == 1 and token.pos[0] not in "vdpucrmqfty"
    return token.pos.startswith("nr") or syllable or not is_common(token.text)


def _trimmed(words: str, start: int, *, sure: bool) -> tuple[int, int] | None:
    """Return the span of a framed name without words that only lead to it or follow it; None if it is no name."""
    if _ASKING.search(words):
        return None
    tokens = list(tokenize(words))
    while tokens and (tokens[0].text in _LEADS or tokens[0].pos[0] in ("uy" if sure else "pcdruyx")):
        tokens.pop(0)
    while tokens and (tokens[-1].text in _TRAILS or tokens[-1].pos[0] in ("uypcx" if sure else "uypcxdrq")):
        tokens.pop()
    if not tokens:
        return None
    first, last = tokens[0].start, tokens[-1].start + len(tokens[-1].text)
    name = words[first:last]
    if len(name) < _MIN_CHARS or name in _NO_NAMES:
        return None
    if not sure and (_NO_INSIDE.search(name) or all(is_common(t.text) for t in tokens)):
        return None
    if not sure and (tokens[-1].text in ATTRIBUTES_ZH or any(name.endswith(word) for word in _LONG_ATTRIBUTES)):
        return None
    return start + first, start + last


def _suffixed(text: str, tokens: Sequence[Token]) -> Iterator[Span]:
    """Yield runs that end as names of institutions, places and products do (观复 + 博物馆)."""
    for index, token in enumerate(tokens):
        if not _SUFFIX.search(token.text):
            continue
        if index + 1 < len(tokens) and _touch(token, tokens[index + 1]) and _SUFFIX.search(tokens[index + 1].text):
            continue
        first = index
        while (
            first > max(0, index - _MAX_RUN) and _touch(tokens[first - 1], tokens[first]) and _names(tokens[first - 1])
        ):
            first -= 1
        start, end = tokens[first].start, token.start + len(token.text)
        words = text[start:end]
        alone = first == index and is_common(words) and token.pos != "nt"
        if len(words) >= _MIN_SUFFIXED and words not in _NO_NAMES and not alone:
            yield Entity(words, "place" if _ADDRESS.search(words) else "organisation", start), start, end


def _names(token: Token) -> bool:
    """Return True if a word may stand inside a name: a nominal, or a word nobody knows."""
    if token.pos in _NOMINAL:
        return token.text not in _CLASSES
    return token.pos[0] in "vaj" and not is_common(token.text)


def _tagged(text: str, tokens: Sequence[Token]) -> Iterator[Span]:
    """Yield stretches that jieba tags as names, neighbours joined (宇智 + 波佐助)."""
    index = 0
    while index < len(tokens):
        kind = _TAGS.get(tokens[index].pos)
        end = index + 1
        if kind is None:
            index = end
            continue
        while end < len(tokens) and tokens[end].pos in _TAGS and _touch(tokens[end - 1], tokens[end]):
            end += 1
        start, stop = tokens[index].start, tokens[end - 1].start + len(tokens[end - 1].text)
        words = text[start:stop]
        if words not in _NO_NAMES and (kind in ("place", "organisation") or _rare(words)) and len(words) >= _MIN_CHARS:
            yield Entity(words, "term" if _MINOR.search(words) else kind, start), start, stop
        index = end


def _touch(left: Token, right: Token) -> bool:
    return left.start + len(left.text) == right.start
