"""Finding what a conversation may be about: names, titles, codes, quantities and plain terms."""

from __future__ import annotations

from collections.abc import Iterator

from llama_index_condense_plus.lexicons.memo import remembered
from llama_index_condense_plus.lexicons.patterns import regex
from llama_index_condense_plus.lexicons.text import clip, has_han
from llama_index_condense_plus.rewriting.han_names import han_names, han_terms
from llama_index_condense_plus.rewriting.latin_names import latin_names, latin_terms
from llama_index_condense_plus.types import Entity

_H = r"\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_TITLE = regex(r"《([^《》\n]{1,60})》")
_QUOTED = regex(r"[“\"「『【]([^“”\"「」『』【】\n]{1,60})[”\"」』】]|`([^`\n]{1,60})`")
_CODE = regex(
    r"(?<![\w/.])(?=[\w./#+-]*[A-Za-z])"
    r"(?:[A-Za-z0-9]+(?:[-_/.#+][A-Za-z0-9]+)*\d[A-Za-z0-9]*(?:[-_/.][A-Za-z0-9]+)*(?![\w])"  # GTE-3000, v2.1, A12B
    r"|(?a:[A-Za-z]\w*(?:[._/]\w+)+|[A-Za-z]+_\w+|[a-z]+[A-Z]\w*|[A-Z][a-z]+[A-Z]\w*)(?![A-Za-z0-9_]))"  # api.v2, a_b
)
_LETTER_NOUNS = "方案|计划|套餐|选项|类型|产品|项目|模式"
_LETTERED = regex(rf"[A-Za-z](?:{_LETTER_NOUNS}|[款型版组班座区级类])|(?:{_LETTER_NOUNS})[A-Za-z](?![A-Za-z])")
_NUMBER = regex(rf"\d[\d,.]*\s?(?:%|[A-Za-z]{{1,4}}\b|[万亿千百]?[{_H}])")


MAX_ENTITIES = 128
"""Entities kept of one text, surest kinds first: a longer list of candidates helps nobody."""


class DefaultEntityExtractor:
    """Finds entities with patterns and jieba's part-of-speech tags; cached by text, safe to share between threads.

    Example:
        >>> [e.text for e in DefaultEntityExtractor().extract("看过《十面埋伏》吗？")]
        ['十面埋伏']
    """

    def extract(self, text: str) -> list[Entity]:
        """Return the entities of a text in order of position; none contains another."""
        return list(_extract(clip(text)))


@remembered
def _extract(text: str) -> tuple[Entity, ...]:
    taken, found = bytearray(len(text)), []
    for entity, start, end in _candidates(text):
        if entity.text.strip() and taken.find(1, start, end) < 0:
            taken[start:end] = b"\x01" * (end - start)
            found.append(entity)
            if len(found) == MAX_ENTITIES:
                break
    return tuple(sorted(found, key=lambda e: e.start))


def _candidates(text: str) -> Iterator[tuple[Entity, int, int]]:
    """Yield entities with the span they occupy, surest kind first."""
    for pattern, kind in ((_TITLE, "title"), (_QUOTED, "quoted"), (_CODE, "code"), (_LETTERED, "name")):
        for match in pattern.finditer(text):
            words = next((g for g in match.groups() if g), match.group())
            yield Entity(words.strip(" 【】"), kind, match.start() + match.group().find(words)), *match.span()
    if has_han(text):
        yield from han_names(text)
    yield from latin_names(text)
    for match in _NUMBER.finditer(text):
        yield Entity(match.group().strip(), "number", match.start()), *match.span()
    if has_han(text):
        yield from han_terms(text)
    yield from latin_terms(text)
