"""Guard: a rewrite in another language than the question."""

from __future__ import annotations

import unicodedata

from llama_index_condense_plus.lexicons.memo import remembered
from llama_index_condense_plus.lexicons.patterns import regex
from llama_index_condense_plus.lexicons.text import clip, fold
from llama_index_condense_plus.lexicons.weak_words import WEAK_EN
from llama_index_condense_plus.types import GuardVerdict, HistoryWindow

_SCRIPTS = (
    ("han", regex(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")),
    ("kana", regex(r"[\u3040-\u30ff]")),
    ("hangul", regex(r"[\uac00-\ud7af\u1100-\u11ff]")),
    ("cyrillic", regex(r"[\u0400-\u04ff]")),
    ("arabic", regex(r"[\u0600-\u06ff]")),
    ("greek", regex(r"[\u0370-\u03ff]")),
    ("hebrew", regex(r"[\u0590-\u05ff]")),
    ("thai", regex(r"[\u0e00-\u0e7f]")),
    ("devanagari", regex(r"[\u0900-\u097f]")),
)
_LATIN_WORD = regex(r"[A-Za-zÀ-ɏ]+(?:['’][A-Za-z]+)?")
_FOREIGN = (
    frozenset(
        """
    le la les des du une est et dans pour que qui quel quelle quels quelles quoi où sont avec sur au aux ce cette
    comment pourquoi combien el los las del y en es qué cuál cuáles cómo cuánto
    dónde por para con una un se su son der die das und ist sind wie wer wo wann warum welche welcher welches ein eine
    einen für mit von zu den dem nicht auf il lo gli che è
    di per quale quali come perché quanto o os do da dos das qual quais onde quando não são um uma em het een van wat
    welke hoe
    """.split()  # noqa: SIM905
    )
    - WEAK_EN
)
_MIN_SHARE = 0.2
_MIN_FOREIGN = 2
_MIN_LETTERS = 2


class LanguageGuard:
    """The rewrite's script and, among Latin languages, its function words must be the question's or the conversation's.

    Measured: the share of the rewrite's letters in a script that neither used.
    """

    name = "language"

    def check(self, original: str, rewrite: str, window: HistoryWindow) -> list[GuardVerdict]:
        """Return one verdict."""
        before, after = _shares(clip(original, _CHECKED)), _shares(clip(rewrite, _CHECKED))
        main = max(before, key=lambda script: before[script], default="")
        if main == "latin":
            after = _shares(_without_said(clip(rewrite, _CHECKED), window)) or before
        if not main or not after:
            return [GuardVerdict(self.name, True)]
        problem = ""
        share = 1.0 - sum(share for script, share in after.items() if script in before or script == "latin")
        if share > _MIN_SHARE and not _mostly_codes(original, before):
            problem = f"script of the question: {main}"
        elif main != "latin" and after.get(main, 0.0) < _LEAST_OWN and not _all_names(rewrite):
            problem, share = f"script of the question: {main}", 1.0 - after.get(main, 0.0)
        elif main == "latin" and _foreign(rewrite) and not _foreign(original):
            problem, share = "another language than the question", 1.0
        elif share > _MIN_SHARE and not any(
            set(_shares(clip(m.full_text, _CHECKED))) & set(after) - {"latin"} for m in window.all_messages
        ):
            problem = "a script that nobody used"
        return [GuardVerdict(self.name, not problem, "reject", round(max(0.0, share), 3), _MIN_SHARE, problem)]


_CHECKED = 2_000
_RUN = regex(r"[^\x00-\u036f\u2000-\u206f\u3000-\u303f\uff00-\uffef]+")
_LEAST_OWN = 0.08


def _without_said(text: str, window: HistoryWindow) -> str:
    """Return the text without names in another script that the conversation used."""
    if text.isascii():
        return text
    said = [fold(message.full_text) for message in window.all_messages]
    return _RUN.sub(lambda run: "" if any(fold(run.group()) in one for one in said) else run.group(), text)


@remembered
def _shares(text: str) -> dict[str, float]:
    """Return the share of letters of each script."""
    text = unicodedata.normalize("NFKC", text)
    counts: dict[str, float] = (
        {name: len(pattern.findall(text)) for name, pattern in _SCRIPTS} if not text.isascii() else {}
    )
    counts["latin"] = sum(len(word) for word in _LATIN_WORD.findall(text)) / 4  # a word weighs like a character or two
    total = sum(counts.values())
    return {name: count / total for name, count in counts.items() if count} if total else {}


def _mostly_codes(original: str, shares: dict[str, float]) -> bool:
    """Return True for a question such as ``GTE-3000?`` that is in no language."""
    if set(shares) != {"latin"}:
        return False
    words = [word.lower() for word in _LATIN_WORD.findall(original)]
    return len(words) <= 3 and not any(word in WEAK_EN for word in words)  # noqa: PLR2004


def _all_names(rewrite: str) -> bool:
    """Return True for codes and names alone: no function words."""
    words = [word.lower() for word in _LATIN_WORD.findall(rewrite)]
    return len(words) <= 2 and not any(word in WEAK_EN for word in words)  # noqa: PLR2004


def _foreign(text: str) -> bool:
    words = [word.lower() for word in _LATIN_WORD.findall(clip(text, _CHECKED))]
    foreign = sum(word in _FOREIGN for word in words)
    return foreign >= _MIN_FOREIGN and foreign > sum(word in WEAK_EN for word in words)
