"""Finding what a conversation may be about: names, titles, codes, quantities and noun phrases."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from llama_index_condense_plus.languages import Token, WordPack, pack_of
from llama_index_condense_plus.languages.text import clip, fold, rarity_classes, remembered, singular
from llama_index_condense_plus.types import Entity

MAX_ENTITIES = 128
"""Entities kept of one text, surest kinds first: a longer list of candidates helps nobody."""
COMMON_CLASS = 5
"""Words of the 16,000 most frequent name nothing by themselves."""
_NAMES = frozenset({"person", "place", "organisation", "name", "code"})
_NOMINAL = _NAMES | {"noun", "word", "adjective"}
_MAX_WORDS = 8
_MAX_QUOTED = 5
_SHORT_NAME = 2
SHORTEST_CODE = 2
"""Letters of abbreviations that are too short to be names (US, ET)."""
_POSSESSIVE = ("'s", "\u2019s")
DOTS = frozenset("\u00b7\u2022\u30fb")
"""Marks inside a foreign name."""
_OPEN, _CLOSED = '\u201c"\u300c\u300e\u3010', '\u201d"\u300d\u300f\u3011'
_MARKED = (
    ("title", re.compile("\u300a([^\u300a\u300b\n]{1,60})\u300b")),
    ("quoted", re.compile(f"[{_OPEN}]([^{_OPEN}{_CLOSED}\n]{{1,60}})[{_CLOSED}]|`([^`\n]{{1,60}})`")),
    ("number", re.compile(r"(?<![\w.-])\d[\d,.]*(?:\s?(?:%|[A-Za-z]{1,3}\b))?(?![\w-])")),
)
_SPACE = re.compile(r"[ \t]?")


class DefaultEntityExtractor:
    """Finds entities with each language's patterns and kinds of words; remembered by text, safe to share.

    Example:
        >>> [e.text for e in DefaultEntityExtractor().extract("Who founded the Acme Corporation?")]
        ['Acme Corporation']
    """

    def extract(self, text: str) -> list[Entity]:
        """Return the entities of a text in order of position; none contains another."""
        return list(entities_of(clip(text)))


@remembered
def entities_of(text: str) -> tuple[Entity, ...]:
    """Return the entities of a text in order of position; none contains another."""
    pack = pack_of(text)
    taken, found = bytearray(len(text) + 1), []
    for kind, start, end in _candidates(text, pack):
        words = text[start:end].removesuffix(_POSSESSIVE[0]).removesuffix(_POSSESSIVE[1])
        if words.strip() and taken.find(1, start, end) < 0:
            taken[start:end] = b"\x01" * (end - start)
            found.append(Entity(words, kind, start))
            if len(found) == MAX_ENTITIES:
                break
    return tuple(sorted(found, key=lambda entity: entity.start))


def _candidates(text: str, pack: WordPack) -> Iterator[tuple[str, int, int]]:
    """Yield kinds and places, surest first: what marks set apart, what a frame introduces, names, terms."""
    for kind, pattern in _MARKED[:2]:
        for match in pattern.finditer(text):
            start, end = _trim_spaces(text, *match.span(match.lastindex or 0))
            if kind == "title" or (text[end - 1] not in ",.;!?" and text.count(" ", start, end) < _MAX_QUOTED):
                yield kind, start, end
    tokens = pack.tokenize(text)
    yield from _framed(text, pack, {token.end for token in tokens})
    runs = list(_runs(text, pack, tokens))
    for wanted in (True, False):
        for run in runs:
            kind = _kind(run, pack)
            if (kind != "term") is wanted:
                yield kind, run[0].start, run[-1].end
        if wanted:
            for match in _MARKED[2][1].finditer(text):
                yield "number", *match.span()


def _trim_spaces(text: str, start: int, end: int) -> tuple[int, int]:
    words = text[start:end]
    start += len(words) - len(words.lstrip())
    return start, start + len(words.strip())


def _framed(text: str, pack: WordPack, ends: Collection[int]) -> Iterator[tuple[str, int, int]]:
    """Yield what a frame introduces ("tell me about …"); group ``sure`` may hold common words, ``name`` may not."""
    for match in pack.pattern("introduced").finditer(text):
        group = match.lastgroup or "name"
        start, end = match.span(group)
        inside = [t._replace(start=t.start + start) for t in pack.tokenize(text[start:end])]
        inside = _without_edges(inside, pack, sure=group == "sure")
        if (
            not inside
            or inside[-1].end not in ends
            or (len(inside) == 1 and fold(inside[0].text) in pack.words("class_noun"))
        ):
            continue
        kinds = {token.kind for token in inside if token.text not in DOTS}
        common = all(is_common(token.text, pack) for token in inside) or bool(kinds & {"function", "number", "time"})
        plain = len(inside) == 1 and inside[0].kind in ("noun", "verb", "adverb", "adjective")
        if not kinds & {"question", "pronoun", "mark"} and (group == "sure" or not (common or plain)):
            yield _sort(text[end : match.end()], pack), inside[0].start, inside[-1].end


def _sort(after: str, pack: WordPack) -> str:
    """Return the kind that a class noun behind a name gives it ("X this film"), else ``framed``."""
    classes = (("person", "person_class"), ("place", "place_class"), ("title", "thing_class"))
    return next((kind for kind, name in classes if after.endswith(pack.words(name))), "framed")


def _without_edges(tokens: list[Token], pack: WordPack, *, sure: bool) -> list[Token]:
    """Return the tokens without what leads to a name or follows it."""
    while tokens and (_is_outside(tokens[0], pack, sure=sure) or fold(tokens[0].text) in pack.words("class_noun")):
        tokens = tokens[1:]
    while tokens and _is_outside(tokens[-1], pack, sure=sure):
        tokens = tokens[:-1]
    return tokens


def _is_outside(token: Token, pack: WordPack, *, sure: bool) -> bool:
    is_verb = token.kind in ("verb", "adverb") and is_common(token.text, pack)
    return not token.is_content or fold(token.text) in pack.words("no_name") or (is_verb and not sure)


def _runs(text: str, pack: WordPack, tokens: Sequence[Token]) -> Iterator[list[Token]]:
    """Yield noun phrases: neighbouring words that may name, without verbs that stand around them."""
    run: list[Token] = []
    before, dotted = None, False
    for index, token in enumerate((*tokens, Token("", len(text) + 2, "mark"))):
        gap = text[run[-1].end : token.start] if run else ""
        fits = token.kind != "mark" if dotted else _may_name(token, pack)
        dotted = token.text in DOTS and bool(run)
        fits = fits or dotted
        splits = run and not dotted and _splits(run[-1], token)
        if run and fits and gap in ("", pack.joiner) and not splits and len(run) < _MAX_WORDS:
            run.append(token)
            continue
        if run:
            yield from _nominal(run, before, token if gap in ("", pack.joiner) else None, pack)
        run = [token] if fits else []
        before = tokens[index - 1] if fits and index else None


def _splits(left: Token, right: Token) -> bool:
    """Return True between a noun and a person, and between a whole person and more."""
    whole_person = left.kind == "person" and len(left.text) > _SHORT_NAME and right.kind != "mark"
    return (right.kind == "person" and left.kind == "noun") or whole_person


def _may_name(token: Token, pack: WordPack) -> bool:
    if _is_letter(token) and not pack.joiner:
        return True
    if token.kind in _NOMINAL:
        return token.kind in ("place", "organisation", "noun") or fold(token.text) not in pack.words("no_name")
    return token.kind == "verb" and not is_common(token.text, pack)


def _nominal(run: list[Token], before: Token | None, after: Token | None, pack: WordPack) -> Iterator[list[Token]]:
    """Yield a run without its verb (the last word after "does", the first after "I", the last before "the")."""
    lead = fold(before.text) if before else ""
    if lead in pack.words("auxiliary") and len(run) > 1 and run[-1].kind == "word":
        run = run[:-1]
    elif lead in pack.words("copula") and len(run) > 1 and run[0].kind == "name" and run[-1].kind == "word":
        run = [token for token in run if token.kind != "word"]
    elif lead in pack.words("before_verb") and run[0].kind == "word":
        run = run[1:]
    if run and after and fold(after.text) in pack.words("determiner") and run[-1].kind == "word":
        run = run[:-1]
    if lead in pack.words("determiner") and [token.kind for token in run] == ["name", "word"]:
        after_name = fold(run[-1].text)
        run = run if singular(after_name) == after_name else run[:-1]  # "the Osprey costs", not "the Kestrel drone"
    if all(fold(token.text) in pack.words("no_name") for token in run):
        return
    while len(run) > 1 and run[0].kind == "verb" and run[1].kind in _NAMES:
        run = run[1:]
    while run and (run[-1].kind in ("adjective", "verb") or pack.pattern("no_noun_end").fullmatch(fold(run[-1].text))):
        run = run[:-1]
    yield from _parts(run, pack)


def _parts(run: list[Token], pack: WordPack) -> Iterator[list[Token]]:
    """Yield what a run names: cut behind nouns of class ("the actor X") and institutions ("the museum's tickets")."""
    at = 0
    ends = [index for index, token in enumerate(run) if fold(token.text) in pack.words("class_noun")]
    for end in ends:
        # a class noun belongs to what stands before it ("Acme hotel") unless nothing does
        part = run[at : end + 1] if end > at and run[end - 1].kind != "person" else run[at:end]
        if part:
            yield part
        at = end + 1
    rest, ends = run[at:], [i for i, token in enumerate(run[at:]) if pack.pattern("institution").search(token.text)]
    if ends:
        end = ends[-1] + 1
        end += end < len(rest) and _is_letter(rest[end])
        yield rest[:end]
        rest = rest[end:]
    if rest:
        yield from _by_capitals(rest)


def _by_capitals(run: list[Token]) -> Iterator[list[Token]]:
    """Yield the capitalised part of a mixed run by itself; one takes a noun after it, no verb ("X costs")."""
    capital = [token.kind in ("name", "code") for token in run]
    if (
        True not in capital
        or all(capital)
        or any(token.kind not in ("name", "code", "word", "number") for token in run)
    ):
        yield run
        return
    first, last = capital.index(True), len(capital) - capital[::-1].index(True)
    alone = last - first == 1 and len(run) - last == 1 and not run[-1].text.endswith("s")
    if first:
        yield run[:first]
    yield run[first : len(run) if alone else last]
    if not alone and last < len(run):
        yield run[last:]


def _is_letter(token: Token) -> bool:
    return len(token.text) == 1 and "A" <= token.text <= "Z"


def _kind(run: Sequence[Token], pack: WordPack) -> str:
    kinds = [token.kind for token in run]
    whole = "".join(token.text for token in run)
    named = next((kind for kind in kinds if kind in _NAMES), "")
    dotted = any(token.text in DOTS for token in run)
    if dotted or _is_minor(run, whole, pack):
        return "person" if dotted else "term"
    if "code" in kinds and len(whole) > SHORTEST_CODE:
        return "code" if len(run) == 1 else "name"
    is_rare = len(run) > 1 or not is_common(whole, pack)
    telling = named or not all(is_common(token.text, pack) for token in run)
    whole_word = len(run) > 1 or len(whole) > _SHORT_NAME
    if telling and whole_word and run[-1].kind in _NOMINAL and pack.pattern("institution").search(fold(run[-1].text)):
        return "organisation"
    lettered = any(map(_is_letter, run)) and len(run) > 1 and not pack.joiner
    if lettered or (named and kinds[-1] not in _NAMES and is_rare):
        return "name"
    if named and (is_rare or named in ("place", "organisation", "name")):
        return named
    return "term"


def _is_minor(run: Sequence[Token], whole: str, pack: WordPack) -> bool:
    """Return True for an address, an award, a language, and what is too short to name."""
    short = len(whole) == 1 or (len(whole) <= SHORTEST_CODE and whole.isascii())
    minor = pack.pattern("minor")
    awards = any(minor.search(fold(token.text)) for token in run)
    return short or awards or whole in pack.words("no_name") or len(pack.pattern("address").findall(whole)) > 1


def is_common(word: str, pack: WordPack) -> bool:
    """Return True for a word of the language's everyday vocabulary, which names nothing by itself."""
    return rarity_classes(pack.code).get(singular(fold(word)), COMMON_CLASS + 1) <= COMMON_CLASS or (
        fold(word) in rarity_classes(pack.code)
    )
