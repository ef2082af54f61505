"""Finding the noun phrases of an English question by its function words, without a tagger."""

from __future__ import annotations

from llama_index_condense_plus.lexicons.attributes import ATTRIBUTES_EN
from llama_index_condense_plus.lexicons.memo import remembered
from llama_index_condense_plus.lexicons.patterns import regex
from llama_index_condense_plus.lexicons.rarity import RAREST, rarity_classes
from llama_index_condense_plus.lexicons.stems import singular
from llama_index_condense_plus.rewriting.follow_up_words import follow_up_words
from llama_index_condense_plus.rewriting.latin_names import STOP
from llama_index_condense_plus.rewriting.phrase import NounPhrase

_WORD = regex(r"\d[\d,.]*\d|[\w$€£][\w'’&.+#/-]*(?<![.'’/-])|[^\w\s]")
_WORDS = follow_up_words("en")
_PREDICATES = frozenset(_WORDS["predicates"].split())
_SUBJECTS = frozenset(_WORDS["subjects"])
_AUXILIARIES = frozenset(_WORDS["auxiliaries"])
_COPULAS = frozenset(_WORDS["copulas"])
ARTICLES = frozenset(_WORDS["articles"])
"""Words before a noun phrase that is spoken of again with "the"."""
_PREPOSITIONS = frozenset(_WORDS["prepositions"])
_ADJECTIVES = frozenset(_WORDS["adjectives"])
_TIMES = frozenset(_WORDS["times"])
_CONTRACTED = regex(r"['’](?:s|re|ll|d|ve)$")
_POSSESSIVE = regex(r"(?:['’]s|(?<=s)['’])$")
_CONTRACTING = frozenset(_WORDS["contracting"])
YEAR = regex(r"(?:19|20)\d\d$")
"""A year, which is apart from what it follows."""


@remembered
def english_noun_phrases(text: str) -> tuple[NounPhrase, ...]:
    """Return the noun phrases of a text in order."""
    words = [(m.group(), m.start()) for m in _WORD.finditer(text)]
    lower = [word.casefold() for word, _ in words]
    found: list[NounPhrase] = []
    index = 0
    while index < len(words):
        end = index
        asked = not _AUXILIARIES.isdisjoint(lower[max(0, index - 2) : index])
        while end < len(words) and _content(words[end][0], lower[end]) and _adjacent(text, words, index, end):
            end += 1
        if asked:
            end = _verb_at(words, lower, index, end)
        if end > index:
            first, last = _trimmed(words, lower, index, end)
            found.extend(_split(text, words, lower, first, last))
        index = max(end, index + 1)
    return tuple(found)


def _content(word: str, lower: str) -> bool:
    """Return True for a word that may stand in a noun phrase: capitalised "Other" and numbers too."""
    return word[0].isalnum() and (lower not in STOP or word == "May") and _CONTRACTED.sub("", lower) not in _CONTRACTING


def _verb_at(words: list[tuple[str, int]], lower: list[str], first: int, end: int) -> int:
    """Return where the verb of a question stands in a run of its content words, or the end of the run.

    It is a word that often is a verb ("Does the Volta 5 | support fast charging?"), or, with no verb after the run,
    what follows a name ("Why did Dali | choose surrealism?"), or its noun ("Does the Acme blender | crush cubed ice?").
    """
    for index in range(end - 1, first, -1):
        if words[index][0].islower() and lower[index] in _PREDICATES:
            return index
    follows = lower[end] if end < len(lower) else "?"
    ends = not follows[0].isalnum() or follows in _PREPOSITIONS or follows in ARTICLES
    small = [i for i in range(first, end) if words[i][0].islower()]
    if not small or small[0] == first or not words[first][0][0].isupper():
        return end
    if lower[small[0]].endswith("ly"):
        return small[0]
    noun = lower[first - 1] in ARTICLES and len(small) > 2  # noqa: PLR2004 - noun, verb, object
    return small[noun] if ends else end


def _adjacent(text: str, words: list[tuple[str, int]], first: int, at: int) -> bool:
    return at == first or text[words[at - 1][1] + len(words[at - 1][0]) : words[at][1]] == " "


def _trimmed(words: list[tuple[str, int]], lower: list[str], first: int, last: int) -> tuple[int, int]:
    """Cut verbs and predicates off both ends of a run of content words."""
    before = _CONTRACTED.sub("", lower[first - 1]) if first else ""
    opened = next((i for i in range(first - 1, max(-1, first - 3), -1) if lower[i] not in ARTICLES), -1)
    opener = lower[opened] if opened >= 0 else ""
    follows = lower[last] if last < len(lower) else "?"
    if before in _SUBJECTS and words[first][0].islower():
        verb = before != "to" or last - first > 1 or follows in ARTICLES or lower[first] in _PREDICATES
        first += verb
    clause_ends = follows in _PREPOSITIONS or not follows[0].isalnum()
    if before == "how" and words[first][0].islower():
        first += 1  # how tall
    if follows == "than" and last - first > 1:
        last -= 1  # "Is AWS cheaper than …"
    question = opener in _AUXILIARIES or (opener in _COPULAS and opened == 0)
    if question and last - first > 1 and words[last - 1][0].islower() and clause_ends:
        last -= 1
    higher = lower[last - 1].removesuffix("er") in _ADJECTIVES  # "Why is my bill higher this month?"
    last -= higher and opener in _COPULAS and last - first > 1
    while last - first > 0 and lower[last - 1] in _PREDICATES and words[last - 1][0].islower():
        last -= 1
    while last - first > 0 and lower[first] in _PREDICATES and words[first][0].islower():
        first += 1
    return first, last


def _split(text: str, words: list[tuple[str, int]], lower: list[str], first: int, last: int) -> list[NounPhrase]:
    """Return a run as one phrase, a year apart from what it follows."""
    found = []
    while first < last:
        dated = first > 0 and lower[first - 1] in ARTICLES  # "the 2023 Civic"
        stop = next((i for i in range(first + dated, last) if YEAR.match(lower[i])), last)
        stop = stop if stop > first else first + 1
        stop = next((i + 1 for i in range(first, stop - 1) if _POSSESSIVE.search(lower[i])), stop)
        start, end = words[first][1], words[stop - 1][1] + len(_POSSESSIVE.sub("", words[stop - 1][0]))
        before = lower[first - 1] if first else ""
        if before == "the" and words[first - 1][0] == "The" and first > 1 and words[first - 2][0] not in ".?!:":
            first, start, before = first - 1, words[first - 1][1], lower[first - 2]  # "Who wrote The Glass Orchard?"
        opens = first == 0 or words[first - 1][0] in ".?!:"
        kind = _kind([word for word, _ in words[first:stop]], opens=opens)
        found.append(NounPhrase(text[start:end], start, kind, before))
        first = stop
    return found


def _kind(words: list[str], *, opens: bool) -> str:
    lower = [word.casefold() for word in words]
    if lower[-1] in _TIMES:
        return "time"
    if all(word[0].isdigit() for word in words):
        return "number"
    common = opens and len(words) == 1 and rarity_classes("en").get(lower[0], RAREST) < RAREST
    if words[0][0].isupper() and not common and all(w[0].isupper() or w[0].isdigit() for w in words):
        return "name"
    return "attribute" if singular(lower[-1]) in ATTRIBUTES_EN else "term"
