"""Finding what a conversation may be about: names, titles, codes, quantities and plain terms."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from functools import lru_cache
from importlib.resources import files
from typing import Any

from llama_index_condense_plus.languages.text import Token, clip, fold, has_han, tokenize
from llama_index_condense_plus.types import Entity

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_H = r"\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_TITLE = re.compile(r"《([^《》\n]{1,60})》")
_QUOTED = re.compile(r"[“\"「『]([^“”\"「」『』\n]{1,60})[”\"」』]|`([^`\n]{1,60})`")
_CODE = re.compile(
    r"(?<![\w/.])(?=[\w./#+-]*[A-Za-z])"
    r"(?:[A-Za-z0-9]+(?:[-_/.#+][A-Za-z0-9]+)*\d[A-Za-z0-9]*(?:[-_/.][A-Za-z0-9]+)*"  # GTE-3000, v2.1, A12B
    r"|[A-Za-z]\w*(?:[._/]\w+)+|[A-Za-z]+_\w+|[a-z]+[A-Z]\w*|[A-Z][a-z]+[A-Z]\w*)(?![\w])"  # api.v2, a_b, camelCase
)
_LETTER_NOUNS = "方案|计划|套餐|选项|类型|产品|项目|模式"
_LETTERED = re.compile(rf"[A-Za-z](?:{_LETTER_NOUNS}|[款型版组班座区级类])|(?:{_LETTER_NOUNS})[A-Za-z](?![A-Za-z])")
_DOTTED = re.compile(rf"[{_H}A-Za-z.]{{1,12}}(?:[·•・][{_H}A-Za-z.]{{1,12}})+")
_NUMBER = re.compile(rf"\d[\d,.]*\s?(?:%|[A-Za-z]{{1,4}}\b|[万亿千百]?[{_H}])")
_CAPITALISED = re.compile(
    r"(?<![\w.'’-])[A-Z][\w'’&-]*(?:\.[A-Z]\w*)*"
    r"(?:(?: (?:of|the|de|la|van|von|and|for|&) | )(?:[A-Z0-9][\w'’&-]*|\d+))*",
    re.ASCII,
)
_SENTENCE_START = re.compile(r"(?:^|[.!?。！？:：\n]\s*[\"“(]?)$")
_WORD = re.compile(r"[A-Za-z][\w'’-]*")
_NAME_TAGS = {"nr": "person", "nrt": "person", "nrfg": "person", "ns": "place", "nt": "organisation", "nz": "name"}
_TERM_TAGS = frozenset({"n", "ng", "vn", "an", "eng", "l", "i", "j", "nz", "b"})
_MAX_TERM_WORDS = 4
_MIN_TERM_CHARS = 3
_MIN_NAME_CHARS = 2


def _words() -> dict[str, Any]:
    data = files("llama_index_condense_plus.rewriting") / "data" / "entities.toml"
    return tomllib.loads(data.read_text(encoding="utf-8"))


_DATA = _words()
_ZH: Mapping[str, list[str]] = _DATA["zh"]
_NO_NAMES = frozenset(_ZH["no_names"]) | frozenset(_ZH["classes"]) | frozenset(_ZH["lead"])
CLASS_NOUNS = frozenset(_ZH["classes"])
"""Chinese nouns that say what kind of thing a name is."""
_EN_NO_NAMES = frozenset(_DATA["en"]["no_names"])
EN_STOP = frozenset(_DATA["en"]["stop"].split())
"""English words that are part of no term."""


def _either(words: list[str]) -> str:
    return "|".join(sorted(map(re.escape, words), key=len, reverse=True))


_CLASSIFIER = r"[这那][部首个座家本位款张种条只件支台篇名套道处片]?"
_FRAME = re.compile(
    rf"(?:{_either(_ZH['frame_verbs'])})(?:{_either(_ZH['lead'])})*"
    rf"([{_H}A-Za-z0-9·•・：:\-]{{2,20}}?)(?:的)?"
    rf"(?:(?={_CLASSIFIER}(?:{_either(_ZH['classes'])}|.))|(?:{_either(_ZH['frame_ends'])})+[，,。.？?！!]|[，,。.？?！!\n]|$)"
)
_APPOSITION = re.compile(
    rf"(?:^|[，,。.？?！!\s])(?:{_either(_ZH['lead'])})*([{_H}A-Za-z0-9·•・]{{2,16}}?){_CLASSIFIER}(?:{_either(_ZH['classes'])})"
)


class DefaultEntityExtractor:
    """Finds entities with patterns and jieba's part-of-speech tags; cached by text, safe to share between threads.

    Example:
        >>> [e.text for e in DefaultEntityExtractor().extract("看过《十面埋伏》吗？")]
        ['十面埋伏']
    """

    def extract(self, text: str) -> list[Entity]:
        """Return the entities of a text in order of position; none contains another."""
        return list(_extract(clip(text)))


@lru_cache(maxsize=8192)
def _extract(text: str) -> tuple[Entity, ...]:
    taken: list[tuple[int, int]] = []
    found: list[Entity] = []
    for entity, start, end in _candidates(text):
        if entity.text.strip() and not any(start < e and s < end for s, e in taken):
            taken.append((start, end))
            found.append(entity)
    return tuple(sorted(found, key=lambda e: e.start))


def _candidates(text: str) -> Iterator[tuple[Entity, int, int]]:
    """Yield entities with the span they occupy, surest kind first."""
    for pattern, kind in ((_TITLE, "title"), (_QUOTED, "quoted"), (_CODE, "code"), (_LETTERED, "name")):
        for match in pattern.finditer(text):
            words = next((g for g in match.groups() if g), match.group())
            yield Entity(words.strip(), kind, match.start() + match.group().find(words)), *match.span()
    if has_han(text):
        yield from _chinese(text)
    yield from _capitalised(text)
    for match in _NUMBER.finditer(text):
        yield Entity(match.group().strip(), "number", match.start()), *match.span()
    if has_han(text):
        yield from _chinese_terms(text)
    yield from _english_terms(text)


def _chinese(text: str) -> Iterator[tuple[Entity, int, int]]:
    tokens = tokenize(text)
    starts = {t.start for t in tokens}
    for match in _DOTTED.finditer(text):
        start, end = _dotted_span(match, tokens)
        yield Entity(text[start:end], "person", start), start, end
    for pattern in (_FRAME, _APPOSITION):
        for match in pattern.finditer(text):
            start, end = match.span(1)
            if start in starts and _is_name(match.group(1)):
                yield Entity(match.group(1), "framed", start), start, end
    yield from _tagged(text, tokens)


def _dotted_span(match: re.Match[str], tokens: tuple[Token, ...]) -> tuple[int, int]:
    """Cut what is no name off both ends of 尼古拉斯·斯帕克斯 where it stands in running text."""
    start, end = match.span()
    first_dot = start + re.search("[·•・]", match.group()).start()  # type: ignore[union-attr]
    last_dot = start + max(match.group().rfind(c) for c in "·•・")
    head = [t for t in tokens if start <= t.start < first_dot]
    while len(head) > 1 and not head[0].pos.startswith("nr"):
        head.pop(0)
    tail = [t for t in tokens if last_dot < t.start < end]
    size = 1
    while size < len(tail) and tail[size].pos.startswith("nr"):
        size += 1
    last = tail[size - 1] if tail else None
    return head[0].start if head else start, min(end, last.start + len(last.text)) if last else end


def _is_name(words: str) -> bool:
    if words in _NO_NAMES or len(words) < _MIN_NAME_CHARS:
        return False
    tags = [t.pos[:1] for t in tokenize(words)]
    return not (set(tags) <= set("rmqupcdyexzf")) and tags[0] not in "ruy" and tags[-1] not in "ruypc"


def _tagged(text: str, tokens: tuple[Token, ...]) -> Iterator[tuple[Entity, int, int]]:
    """Yield stretches that jieba tags as names, neighbours joined (宇智 + 波佐助)."""
    index = 0
    while index < len(tokens):
        kind = _NAME_TAGS.get(tokens[index].pos)
        if kind is None:
            index += 1
            continue
        end = index + 1
        while end < len(tokens) and tokens[end].pos in _NAME_TAGS and _touch(tokens[end - 1], tokens[end]):
            end += 1
        start, stop = tokens[index].start, tokens[end - 1].start + len(tokens[end - 1].text)
        words = text[start:stop]
        if len(words) > 1 and fold(words) not in _NO_NAMES:
            yield Entity(words, kind, start), start, stop
        index = end


def _touch(left: Token, right: Token) -> bool:
    return left.start + len(left.text) == right.start


def _capitalised(text: str) -> Iterator[tuple[Entity, int, int]]:
    for match in _CAPITALISED.finditer(text):
        words, start = match.group().rstrip("-&'’"), match.start()
        words = re.sub(r"['’]s$", "", words)
        initial = _SENTENCE_START.search(text[max(0, start - 4) : start]) is not None
        while words and initial:
            head, _, rest = words.partition(" ")
            if head.casefold() not in EN_STOP and head.casefold() not in _EN_NO_NAMES:
                break
            words, start, initial = rest, start + len(head) + 1, False
        if not words or fold(words) in _EN_NO_NAMES or (fold(words) in EN_STOP):
            continue
        kind = "term" if initial and " " not in words and not words.isupper() else "name"
        yield Entity(words, kind, start), start, start + len(words)


def _chinese_terms(text: str) -> Iterator[tuple[Entity, int, int]]:
    run: list[Token] = []
    for token in (*tokenize(text), Token("", -1, "x")):
        if token.pos in _TERM_TAGS and token.text not in _NO_NAMES and (not run or _touch(run[-1], token)):
            run.append(token)
            continue
        words = "".join(t.text for t in run[-_MAX_TERM_WORDS:])
        if len(words) > 1:
            start = run[-_MAX_TERM_WORDS:][0].start
            yield Entity(words, "term", start), start, start + len(words)
        run = [token] if token.pos in _TERM_TAGS and token.text not in _NO_NAMES else []


def _english_terms(text: str) -> Iterator[tuple[Entity, int, int]]:
    run: list[re.Match[str]] = []
    for match in [*_WORD.finditer(text), None]:
        content = match is not None and match.group().casefold() not in EN_STOP
        if content and match and (not run or text[run[-1].end() : match.start()] == " "):
            run.append(match)
            continue
        if run:
            kept = run[-_MAX_TERM_WORDS:]
            start, end = kept[0].start(), kept[-1].end()
            if end - start >= _MIN_TERM_CHARS:
                yield Entity(text[start:end], "term", start), start, end
        run = [match] if content and match else []
