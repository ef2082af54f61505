"""Finding which of several things "the latter" and "the cheapest one" mean."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from llama_index_condense_plus.lexicons.patterns import regex
from llama_index_condense_plus.lexicons.text import has_han, simplify, tokenize
from llama_index_condense_plus.rewriting.cutting import item_name, list_items
from llama_index_condense_plus.rewriting.follow_up_words import either, follow_up_words
from llama_index_condense_plus.rewriting.han_names import entity_words
from llama_index_condense_plus.rewriting.noun_phrases import noun_phrases, said
from llama_index_condense_plus.rewriting.noun_phrases_zh import ATTRIBUTES
from llama_index_condense_plus.rewriting.references import Reference
from llama_index_condense_plus.types import WindowMessage

_ZH, _EN = follow_up_words("zh")["superlatives"], follow_up_words("en")["superlatives"]
_UNITS = follow_up_words("units")
_ONE_ZH = r"(?:[那这]一?[款种家台部本间辆条只件位艘个座所]|一[款种家台部本间辆条只件位艘个座所])"
_HAN = regex(
    rf"(?:最|更|比较)(?P<word>{either(_ZH)})的?(?:{_ONE_ZH}|(?<=的)(?=呢|[？?]|$))|最[\u3400-\u9fff]{{1,3}}的{_ONE_ZH}"
)
_FORMS = either(
    [
        form
        for word in _EN
        for stem in (word[:-1] + "i" if word.endswith("y") else word, word + word[-1])
        for form in (stem.rstrip("e") + "est", stem.rstrip("e") + "er", f"most {word}", f"least {word}", f"more {word}")
    ]
)
_LATIN = regex(
    rf"\bthe (?:(?P<word>{_FORMS})|(?:most|least) \w+|\w{{3,}}est)\b"
    r"(?: (?:one|option|choice|of (?:the|those|them|these)(?: two| three| four| lot)?)\b|(?=\W*$))",
    re.IGNORECASE,
)
_AND = regex(r"^\s*(?:,? (?:and|or)(?: the| an?)?|[和与跟及或、]|以及|还是[\u3400-\u9fff]?)\s*$", re.IGNORECASE)
_JOIN = regex(r"[和与跟或]|以及|还是|、|\b(?:and|or)\b", re.IGNORECASE)
_PAIR_ZH = regex(
    r"(?:^|[，,。：:；;去坐选在对])(?P<one>[\u3400-\u9fff]{2,6}?)(?:和|与|跟|还是|或者?)(?P<two>[\u3400-\u9fff]{2,6}?)"
    r"(?=有|哪|谁|的|都|选|之间|怎|好|更|可以|能|在|是|[，,。？?！!]|$)"
)
_OWNING = regex(r"(?<!的)第(?P<n>[一二三四五六七八九十])[个种款项条家座本部位间辆台处档班层]")
_PERSONS = frozenset(entity_words()["zh"]["person_classes"])
_HOLDERS = frozenset(follow_up_words("zh")["holders"])
_QUANTITY = regex(
    r"(?P<sign>[$€£¥￥])?\s?(?P<number>\d[\d,]*(?:\.\d+)?)\s?"
    rf"(?P<unit>{either(word for words in _UNITS.values() for word in words)})?(?![A-Za-z])",
    re.IGNORECASE,
)
_MEASURED = regex(r"(?<=..)(?:[重长高宽]|售价|价格|月费|年费|约)$")
_CLAUSE = regex(r"[。；;！!?？\n]|\.(?=\s|$)|[，,](?!\d)|\b(?:and|while|but|whereas)\b|而")


@dataclass(frozen=True, slots=True)
class Superlative:
    """A choice by size: "the cheapest one"."""

    start: int
    """Offset in the text."""
    end: int
    """Offset after it."""
    largest: bool
    """True for the largest, False for the smallest."""
    dimension: str
    """A dimension in the ``units``, ``any``, or ``none`` for what no number tells (the quietest)."""


def find_superlative(text: str) -> Superlative | None:
    """Return the first choice by size in a text; a superlative with its own noun ("the cheapest hotel") is none."""
    han = has_han(text)
    match = _HAN.search(simplify(text)) if han else _LATIN.search(text)
    if not match or "比" in text[: match.start()]:
        return None
    form = (match["word"] or "").lower()
    word = form if han else form.split(" ")[-1] if " " in form else _adjective(form)
    end, dimension = (_ZH if han else _EN).get(word, ("max", "none"))
    return Superlative(match.start(), match.end(), (end == "max") is not form.startswith("least"), dimension)


def owning_ordinals(text: str) -> Iterator[Reference]:
    """Yield Chinese ordinals before what their item has: 第二个 in 第二个门票多少钱, but none in 第二个版本."""
    for match in _OWNING.finditer(text):
        noun = next((simplify(t.text) for t in tokenize(text) if t.start == match.end()), "")
        person = noun in _PERSONS and match.group()[-1] in "个位"  # 第二位作者 is an author
        if noun in ATTRIBUTES - _HOLDERS and len(noun) > 1 and not person:
            yield Reference(match.group(), match.start(), "ordinal", 1 + "一二三四五六七八九十".index(match["n"]))


def _adjective(form: str) -> str:
    stem = re.sub(r"(?:est|er)$", "", form)
    options = (stem, stem + "e", stem[:-1] + "y" if stem.endswith("i") else stem, stem[:-1])
    return next((option for option in options if option in _EN), "")


def chosen(superlative: Superlative, messages: Sequence[WindowMessage]) -> str | None:
    """Return the name of the thing that a superlative means, by the numbers said of each; None if they do not tell.

    Args:
        superlative: the choice.
        messages: the conversation; the newest message with a list of things and numbers counts.
    """
    for message in reversed(messages):
        sized = _sized(message.full_text, superlative.dimension)
        if len(sized) < 2:  # noqa: PLR2004 - nothing to choose from
            continue
        best = (max if superlative.largest else min)(sized, key=lambda pair: pair[1])
        return best[0] if sum(size == best[1] for _, size in sized) == 1 else None
    return None


def _sized(text: str, dimension: str) -> list[tuple[str, float]]:
    """Return the things of a text with a number of one dimension each; nothing if it is not said of all alike."""
    items = list_items(text)
    named = [(item_name(item), item[len(item_name(item)) :]) for item in items if re.search(r"\d", item)]
    if len(named) < 2 or len(named) != len(items):  # noqa: PLR2004
        named = _clauses(text)
    found: list[tuple[str, float]] = []
    kinds: list[str] = []
    for name, rest in named:
        sizes = [(kind, size) for kind, size in _quantities(rest) if dimension in ("any", kind)]
        if not sizes:
            return []
        kinds.append(sizes[0][0])
        found.append((name, sizes[0][1]))
    return found if len(set(kinds)) == 1 else []


def _quantities(text: str) -> list[tuple[str, float]]:
    found = []
    for match in _QUANTITY.finditer(text):
        unit = (match["sign"] or match["unit"] or "").lower()
        kind = next((kind for kind, units in _UNITS.items() if unit and unit in units), "")
        if kind:
            found.append((kind, float(match["number"].replace(",", ""))))
    return found


def _clauses(text: str) -> list[tuple[str, str]]:
    """Return the first noun phrase of each clause that holds a number, with the rest of the clause."""
    found = []
    for clause in _CLAUSE.split(text):
        if not clause or not re.search(r"\d", clause):
            continue
        phrase = next((p for p in noun_phrases(clause) if p.kind in ("name", "term")), None)
        if phrase:
            found.append((_MEASURED.sub("", phrase.text), clause[phrase.end :]))
    return found


def pair_of(messages: Sequence[WindowMessage]) -> tuple[str, str] | None:
    """Return the two things that were last named in one breath ("the ferry or the train"); None if more were."""
    for message in reversed(messages):
        items = [item_name(item) for item in list_items(message.full_text)]
        found = (items[0], items[1]) if len(items) == 2 else coordinated(message.full_text)  # noqa: PLR2004
        if found:
            return found if len(items) <= 2 else None  # noqa: PLR2004 - the former and the latter
    return None


def coordinated(text: str) -> tuple[str, str] | None:
    """Return the first two things that a text joins: "A and B", A和B."""
    if not _JOIN.search(text):
        return None
    phrases = [p for p in noun_phrases(text) if p.kind not in ("time", "number")]
    for one, two in pairwise(phrases):
        if len(one.text) > 1 and len(two.text) > 1 and _AND.match(text[one.end : two.start]):
            return said(one), said(two)
    return _joined_words(text) if has_han(text) else None


def _joined_words(text: str) -> tuple[str, str] | None:
    """Return two words around a conjunction, whatever the tagger takes them for (大巴和自驾)."""
    match = _PAIR_ZH.search(text)
    if not match:
        return None
    one = next((p.text for p in noun_phrases(text) if p.end == match.end("one")), match["one"])
    return one, match["two"]
