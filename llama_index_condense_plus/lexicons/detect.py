"""Telling the language of a message from its script and its most frequent words."""

from __future__ import annotations

from functools import lru_cache
from itertools import chain

from llama_index_condense_plus.lexicons.base import UNKNOWN, Lexicon, own_lexicons, registrations
from llama_index_condense_plus.lexicons.patterns import regex
from llama_index_condense_plus.lexicons.rarity import rarity_classes
from llama_index_condense_plus.lexicons.text import has_han

SAMPLE = 400
"""Characters that are looked at."""
FEW_WORDS = 3
"""So few words in Latin letters without a sign of another language are taken for English: names and codes."""

_HAN = regex(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_KANA = regex(r"[\u3041-\u3096\u30a1-\u30fa\u30fd-\u30ff]")
_HANGUL = regex(r"[\uac00-\ud7a3\u1100-\u11ff\u3131-\u318e]")
_CHINESE_ONLY = regex("[的了是吗呢什么这那它他她们怎哪谁还有多少和]")
_WORDS = regex(r"[^\W\d_]+")

FREQUENT = {
    "en": "the of and to in is it you that for on are with this be at have from or by what how who when where "
    "why which do does did can was were an a my me i not about your please their they there will would "
    "could should tell show its his her she he any more",
    "es": "gracias hola muchas el la los las de que y en un una es por con para del se su lo como más qué cuál "
    "cómo cuándo dónde cuánto cuesta está son hay pero sobre puede puedo tiene tengo mi al le no",
    "fr": "merci bonjour salut beaucoup le la les de des et en un une est que qui dans pour sur avec du au ce "
    "il elle je vous nous quel quelle comment combien où quand pourquoi ne pas sont plus est-ce quoi "
    "c'est mon ma",
    "de": "danke hallo bitte guten vielen der die das und ist in zu den mit von für auf ein eine einen im wie "
    "was wer wo wann warum nicht ich sie es sind kann wird hat kostet welche dem des gibt mein über auch",
}
"""The most frequent words of languages in Latin script, as any word count of them shows."""
_OF_WORD: dict[str, tuple[str, ...]] = {}
for _code, _words in FREQUENT.items():
    for _word in _words.split():
        _OF_WORD[_word] = (*_OF_WORD.get(_word, ()), _code)
_MARKS = {"es": "ñ¿¡áíóú", "fr": "çœàèêëîïùûœ", "de": "äöüß"}


def detect_language(text: str) -> str:
    """Return a language code: zh, en, ja, ko, es, fr, de, that of a lexicon registered besides, or ``und``.

    Text in Latin letters that holds Chinese characters is Chinese if one of them is a function word or if they
    are not few; so a question such as ``它的 API 限流呢`` is Chinese, and "what does 你好 mean" is English. A few
    words without any sign of another language count as English.

    Args:
        text: a message; only its beginning is looked at.
    """
    return _detect(text[:SAMPLE], registrations())


@lru_cache(maxsize=1024)
def _detect(text: str, registered: int) -> str:
    if text.isascii():
        return _latin(text, registered)
    kana, hangul = len(_KANA.findall(text)), len(_HANGUL.findall(text))
    if kana or hangul:
        han = len(_HAN.findall(text))
        if kana * 4 > han:
            return "ja"
        if hangul > han:
            return "ko"
    if has_han(text) and not _quoted_only(text):
        return "zh"
    return _latin(text, registered)


def _quoted_only(text: str) -> bool:
    """Return True if the Chinese characters are no part of an English sentence's own words."""
    if _CHINESE_ONLY.search(text):
        return False
    words = text.lower().split()
    english = sum("en" in _OF_WORD.get(word.strip("?,.!\"'"), ()) for word in words)
    return english > 1 and english * 2 >= len(words) - 2


@lru_cache(maxsize=1)
def _vocabularies(registered: int) -> dict[str, frozenset[str]]:  # noqa: ARG001 - the cache's key
    """Return the words of the languages that a user registered."""
    return {
        code: frozenset(word for phrase in _phrases(lexicon) for word in _WORDS.findall(phrase))
        for code, lexicon in own_lexicons().items()
    }


def _phrases(lexicon: Lexicon) -> frozenset[str]:
    return lexicon.pronouns | lexicon.openers | lexicon.small_talk | lexicon.function_words | lexicon.question_words


def _latin(text: str, registered: int) -> str:
    words = _WORDS.findall(text.lower())
    if not words:
        return UNKNOWN
    own = _vocabularies(registered)
    codes = list(chain.from_iterable(map(_OF_WORD.__getitem__, filter(_OF_WORD.__contains__, words))))
    if 0 < len(codes) <= 2 * codes.count("en") and text.isascii() and not own:
        return "en"  # no other language can have more
    scores = {code: float(sum(word in vocabulary for word in words)) for code, vocabulary in own.items()}
    scores |= {code: float(codes.count(code)) for code in FREQUENT}
    if not text.isascii():
        for code, marks in _MARKS.items():
            scores[code] += sum(text.count(mark) for mark in marks) * 0.6
    most = max(scores.values())
    if most > 0.0:
        return "en" if scores["en"] == most else next(code for code, score in scores.items() if score == most)
    if any(not word.isascii() for word in words):
        return UNKNOWN
    ranks = rarity_classes("en")
    known = sum(word in ranks or word + "s" in ranks for word in words)
    return "en" if len(words) <= FEW_WORDS or known * 2 >= len(words) else UNKNOWN
