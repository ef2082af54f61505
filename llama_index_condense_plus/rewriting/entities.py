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
FREQUENT_CLASS = 1
"""Words of the 1,000 most frequent begin no name at the start of a sentence."""
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
        points = kind in ("term", "framed") and not pack.joiner and pack.references(words)
        if words.strip() and not points and taken.find(1, start, end) < 0:
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
        if pack.joiner and any(fold(token.text) in pack.words("object_lead") for token in inside[1:]):
            continue  # "the population of Lisbon" is about Lisbon
        inside = _without_edges(_owner(inside), pack, sure=group == "sure")
        if (
            not inside
            or inside[-1].end not in ends
            or (len(inside) == 1 and fold(inside[0].text) in pack.words("class_noun"))
        ):
            continue
        kinds = {token.kind for token in inside if token.text not in DOTS}
        common = all(is_common(token.text, pack) for token in inside) or bool(kinds & {"function", "number", "time"})
        plain = kinds <= {"noun", "verb", "adverb", "adjective"}
        if not kinds & {"question", "pronoun", "mark"} and (group == "sure" or not (common or plain)):
            minor = _is_minor(text[inside[0].start : inside[-1].end], pack)
            yield "term" if minor else _sort(text[end : match.end()], pack), inside[0].start, inside[-1].end


def _owner(tokens: list[Token]) -> list[Token]:
    """Return the tokens of whose something is, all of them if nothing is owned."""
    owner = next((i for i, token in enumerate(tokens) if token.text.endswith(_POSSESSIVE)), len(tokens))
    return tokens[: owner + 1]


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
    """Yield names and noun phrases: neighbouring words that may name, without verbs that stand around them."""
    if pack.joiner:
        names = list(_capitalised(text, tokens, pack))
        yield from names
        inside = {token.start for name in names for token in name}
        tokens = [token._replace(kind="mark") if token.start in inside else token for token in tokens]
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
            nominal = _without_verbs(run, before, token if gap in ("", pack.joiner) else None, pack)
            yield from _parts(nominal, pack)
        run = [token] if fits else []
        before = tokens[index - 1] if fits and index else None


def _capitalised(text: str, tokens: Sequence[Token], pack: WordPack) -> Iterator[list[Token]]:
    """Yield neighbouring words with capitals or digits; a link joins two ("Lord of the Rings")."""
    links, at = pack.words("name_link"), 0
    while at < len(tokens):
        end = at + 1
        while _is_capital(tokens, at, pack) and end < len(tokens) and not tokens[end - 1].text.endswith(_POSSESSIVE):
            after = next((i for i in range(end, min(end + 3, len(tokens))) if fold(tokens[i].text) not in links), end)
            gaps = (text[tokens[i - 1].end : tokens[i].start] for i in range(end, after + 1))
            if not _is_capital(tokens, after, pack) or any(gap != pack.joiner for gap in gaps):
                break
            end = after + 1
        if _is_capital(tokens, at, pack) and fold(tokens[at].text) not in (
            pack.words("no_name") if end == at + 1 else ()
        ):
            name = [token._replace(kind="code" if token.kind == "code" else "name") for token in tokens[at:end]]
            yield [*name, *tokens[end : end + _takes_noun(tokens, at, end, pack)]]
        at = end


def _is_capital(tokens: Sequence[Token], at: int, pack: WordPack) -> bool:
    """Return True for a word of a name; one that opens a sentence is rare, or another follows."""
    token = tokens[at]
    if token.kind == "code":
        return not token.text[0].isdigit() or any(map(str.isupper, token.text))
    if token.kind != "word" or not token.text[0].isupper():
        return token.kind == "name"
    follows = at + 1 < len(tokens) and tokens[at + 1].start == token.end + 1 and tokens[at + 1].kind == "name"
    return not is_common(token.text, pack, FREQUENT_CLASS if follows else COMMON_CLASS)


def _takes_noun(tokens: Sequence[Token], at: int, end: int, pack: WordPack) -> bool:
    """Return True if a noun belongs to a name ("the Kestrel drone", not "the Osprey costs")."""
    if not at or fold(tokens[at - 1].text) not in pack.words("determiner") or end >= len(tokens):
        return False
    noun = tokens[end]
    asked = at > 1 and fold(tokens[at - 2].text) in pack.words("auxiliary")
    followed = end + 1 < len(tokens) and (
        tokens[end + 1].is_content or fold(tokens[end + 1].text) in pack.words("determiner")
    )
    plain = noun.kind == "word" and singular(fold(noun.text)) == fold(noun.text)
    return plain and not asked and not followed and noun.start == tokens[end - 1].end + 1 and _may_name(noun, pack)


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


def _without_verbs(run: list[Token], before: Token | None, after: Token | None, pack: WordPack) -> list[Token]:
    """Return a run without its verb: the last word after "does", the first after "I", the last before "the"."""
    lead = fold(before.text) if before else ""
    if lead in pack.words("auxiliary") and len(run) > 1 and run[-1].kind == "word":
        run = run[:-1]
    elif lead in pack.words("before_verb") and run[0].kind == "word":
        run = run[1:]
    if run and after and fold(after.text) in pack.words("determiner") and run[-1].kind == "word":
        run = run[:-1]
    if all(fold(token.text) in pack.words("no_name") for token in run):
        return []
    while len(run) > 1 and run[0].kind == "verb" and run[1].kind in _NAMES:
        run = run[1:]
    while run and (run[-1].kind in ("adjective", "verb") or pack.pattern("no_noun_end").fullmatch(fold(run[-1].text))):
        run = run[:-1]
    return run


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
        yield rest


def _is_letter(token: Token) -> bool:
    return len(token.text) == 1 and "A" <= token.text <= "Z"


def _kind(run: Sequence[Token], pack: WordPack) -> str:
    kinds = [token.kind for token in run]
    whole = "".join(token.text for token in run)
    named = next((kind for kind in kinds if kind in _NAMES), "")
    dotted = any(token.text in DOTS for token in run)
    is_generic = "adjective" in kinds or kinds == ["noun"]  # "a famous band", "the museum"
    if dotted or is_generic or _is_minor(whole, pack):
        return "person" if dotted else "term"
    if "code" in kinds and len(whole) > SHORTEST_CODE:
        return "code" if len(run) == 1 else "name"
    if pack.joiner:
        ends = pack.pattern("institution").search(fold(run[-1].text)) if named and len(run) > 1 else None
        return "organisation" if ends else "name" if named else "term"
    is_rare = len(run) > 1 or not is_common(whole, pack)
    telling = named or not all(is_common(token.text, pack) for token in run)
    whole_word = len(run) > 1 or len(whole) > _SHORT_NAME
    if telling and whole_word and run[-1].kind in _NOMINAL and pack.pattern("institution").search(fold(run[-1].text)):
        return "organisation"
    is_lettered = any(map(_is_letter, run)) and len(run) > 1
    if is_lettered or (named and kinds[-1] not in _NAMES and is_rare):
        return "name"
    return named if named and (is_rare or named in ("place", "organisation", "name")) else "term"


def _is_minor(words: str, pack: WordPack) -> bool:
    """Return True for an address, an award, a language, and what is too short to name."""
    short = len(words) == 1 or (len(words) <= SHORTEST_CODE and words.isascii())
    is_award = pack.pattern("minor").search(fold(words)) is not None
    return short or is_award or words in pack.words("no_name") or len(pack.pattern("address").findall(words)) > 1


def is_common(word: str, pack: WordPack, limit: int = COMMON_CLASS) -> bool:
    """Return True for a word of the language's everyday vocabulary, which names nothing by itself."""
    ranks = rarity_classes(pack.code)
    return min(ranks.get(singular(fold(word)), limit + 1), ranks.get(fold(word), limit + 1)) <= limit
