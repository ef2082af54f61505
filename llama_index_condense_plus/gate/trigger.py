"""The gate: decides without a model whether a message needs the conversation to be understood.

Rules decide where there is no doubt: small talk, a pointing word without anything to point at in the message, a pick
from a list, a correction. Everything else is left to the mode: a linear model, rules, or the pronouns alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from llama_index_condense_plus.gate.features import (
    LAST,
    NOWHERE,
    READ_CHARS,
    Reading,
    Said,
    features,
    read_history,
    read_message,
)
from llama_index_condense_plus.languages import WordPack, detect_language, pack
from llama_index_condense_plus.languages.text import clip, fold
from llama_index_condense_plus.linear import LinearModel
from llama_index_condense_plus.protocols import Trigger
from llama_index_condense_plus.settings import CondensePlusSettings
from llama_index_condense_plus.types import Cue, HistoryWindow, TriggerDecision, TriggerReason

WEIGHTS = Path(__file__).with_name("data") / "weights.toml"
"""The weights of the package."""
MEMORY = 256
"""Decisions that are kept: an engine asks again when it explains or repeats a turn."""
OPEN = frozenset({"person", "thing", "place", "time", "plural", "ordinal", "previous"})
"""Kinds of references that say nothing without what they point at."""
WEAK = frozenset({"opener", "comparison", "other", "ordinal", "reply", "short", "ellipsis"})
"""Signs on which the rules fire."""
REASONS = {
    "pick": TriggerReason.ORDINAL,
    "correction": TriggerReason.CONTINUATION,
    "follow_up_hint": TriggerReason.OPENER,
    "reply": TriggerReason.SLOT_FILLING,
    "back_reference": TriggerReason.BACK_REFERENCE,
    "ordinal": TriggerReason.ORDINAL,
    "pronoun": TriggerReason.PRONOUN,
    "other": TriggerReason.COMPARISON,
    "comparison": TriggerReason.COMPARISON,
    "opener": TriggerReason.OPENER,
    "ellipsis": TriggerReason.ELLIPSIS,
    "continuation": TriggerReason.CONTINUATION,
    "short": TriggerReason.SHORT,
}
"""Sign → reason, the strongest first."""


def build_trigger(settings: CondensePlusSettings) -> Trigger:
    """Return the trigger that the settings ask for.

    Args:
        settings: its ``trigger`` and ``languages`` sections are read.

    Raises:
        ConfigurationError: ``trigger.weights_file`` cannot be read or holds no weights.
    """
    mode = settings.trigger.mode
    return ConstantTrigger(rewrite=mode == "always") if mode in ("always", "never") else MessageTrigger(settings)


class ConstantTrigger:
    """Rewrites always, or never.

    Args:
        rewrite: the answer to everything that has a history and words.
    """

    def __init__(self, *, rewrite: bool) -> None:
        self._rewrite = rewrite

    def decide(self, message: str, window: HistoryWindow) -> TriggerDecision:
        """Decide on one message; never raises."""
        reason = TriggerReason.FORCED if self._rewrite else TriggerReason.DISABLED
        if not message.strip():
            reason = TriggerReason.BLANK
        elif not window:
            reason = TriggerReason.NO_HISTORY
        return TriggerDecision(reason is TriggerReason.FORCED, reason, detect_language(message))


class _Ruled(NamedTuple):
    """What is certain about a message."""

    rewrite: bool
    sign: str
    """Name of the sign that decides."""


class MessageTrigger:
    """Decides from the message and what was said before.

    Args:
        settings: its ``trigger`` and ``languages`` sections are read.

    Raises:
        ConfigurationError: ``trigger.weights_file`` cannot be read or holds no weights.
    """

    def __init__(self, settings: CondensePlusSettings) -> None:
        self._settings = settings
        self._options = settings.trigger
        self._hints = tuple(fold(hint) for hint in settings.trigger.follow_up_hints if hint.strip())
        self._model = load_weights(Path(settings.trigger.weights_file or WEIGHTS))
        self._decide = lru_cache(maxsize=MEMORY)(self._decide_anew)

    def decide(self, message: str, window: HistoryWindow) -> TriggerDecision:
        """Decide on one message; never raises."""
        text = clip(message, READ_CHARS)
        if not text.strip():
            return TriggerDecision(False, TriggerReason.BLANK, detect_language(text))
        return self._decide(text, read_history(window), bool(window))

    def _decide_anew(self, text: str, said: Said, has_history: bool) -> TriggerDecision:
        language = detect_language(text)
        known = pack(language, self._settings)
        talk = known.small_talk(text)
        if talk and not (talk == "answer" and said.asks):
            return TriggerDecision(False, TriggerReason.SMALL_TALK, language, (Cue(talk, text, 0),))
        if not has_history:
            return TriggerDecision(False, TriggerReason.NO_HISTORY, language)
        if talk:
            return TriggerDecision(True, TriggerReason.SLOT_FILLING, language, (Cue("reply", text, 0),))
        if not known.models_ellipsis:
            return TriggerDecision(True, TriggerReason.UNKNOWN_LANGUAGE, language)
        reading = read_message(text, known, said)
        cues = self._signs(reading, known)
        if self._options.mode == "pronoun":
            fires = bool(reading.references) or any(_is_pronoun(cue, reading) for cue in cues)
            reason = TriggerReason.PRONOUN if fires else TriggerReason.SELF_CONTAINED
            return TriggerDecision(fires, reason, language, reading.cues)
        ruled = certain(reading, cues, known)
        if ruled:
            reason = REASONS.get(ruled.sign, TriggerReason.SELF_CONTAINED)
            return TriggerDecision(ruled.rewrite, reason if ruled.rewrite else _why_not(reading), language, cues)
        if self._options.mode == "heuristic":
            score = 0.8 if any(cue.name in WEAK for cue in cues) else 0.2
            threshold = 0.5
        else:
            score, threshold = self._model.probability(features(reading), language), self._model.threshold
        bias = self._options.recall_bias
        fires = score >= threshold * (1 - bias) - (1 - threshold) * min(0.0, bias) * (bias < 0)
        return TriggerDecision(fires, _why(cues) if fires else _why_not(reading), language, cues, score)

    def _signs(self, reading: Reading, known: WordPack) -> tuple[Cue, ...]:
        """Return the cues of the message together with those that take the history or the settings to see."""
        text, clause, said = reading.text, reading.clause, reading.said
        found = list(reading.cues)
        folded = fold(text)
        found += [Cue("follow_up_hint", hint, folded.find(hint)) for hint in self._hints if hint in folded]
        n_words = sum(token.kind != "mark" for token in reading.tokens)
        long = n_words > self._options.short_max_words if reading.spaced else len(text) > self._options.short_max_chars
        if not long:
            found.append(Cue("short", text, 0))
        if said.asks and not reading.asks:
            found.append(Cue("reply", text, 0))
        subjects = reading.subjects
        if not subjects:
            found.append(Cue("ellipsis", clause.text, clause.start))
        elif all(word.place == LAST and not word.is_name for word in subjects):
            found.append(Cue("continuation", subjects[0].token.text, subjects[0].token.start))
        for span in known.instructions(text):
            if span.kind == "talk":
                found.append(Cue("talk", span.text, span.start))
        return tuple(sorted(found, key=lambda cue: cue.start))


class Weights(NamedTuple):
    """A linear model for each language: shared weights, and what a language adds to them."""

    shared: LinearModel
    own: Mapping[str, LinearModel]
    threshold: float

    def probability(self, found: Mapping[str, float], language: str) -> float:
        """Return the estimated probability that a rewrite is needed.

        Args:
            found: values of the features.
            language: code of the message's language.
        """
        return self.own.get(language, self.shared).probability(found)


@lru_cache(maxsize=16)
def load_weights(path: Path) -> Weights:
    """Return the weights of a file: those of ``name`` are shared, ``name_xx`` is added to it in the language ``xx``.

    Raises:
        ConfigurationError: the file cannot be read or holds no weights.
    """
    model = LinearModel.load(path)
    shared = {name: weight for name, weight in model.weights.items() if not _language_of(name, model)}
    own: dict[str, dict[str, float]] = {}
    for name, weight in model.weights.items():
        code = _language_of(name, model)
        if code:
            base = name.removesuffix(f"_{code}")
            weights = own.setdefault(code, dict(shared))
            weights[base] = weights.get(base, 0.0) + weight
    models = {
        code: replace(model, weights=weights, intercept=model.intercept + weights.pop("language", 0.0))
        for code, weights in own.items()
    }
    return Weights(replace(model, weights=shared), models, model.threshold)


def _language_of(name: str, model: LinearModel) -> str:
    base, _, code = name.rpartition("_")
    return code if base == "language" or base in model.weights else ""


def certain(reading: Reading, cues: tuple[Cue, ...], known: WordPack) -> _Ruled | None:
    """Return what is beyond doubt about a message, if anything is.

    Args:
        reading: the message.
        cues: its signs.
        known: its language.
    """
    names = {cue.name for cue in cues}
    for sign in ("follow_up_hint", "pick", "correction"):
        if sign in names:
            return _Ruled(True, sign)
    if "talk" in names and not any(word.place == NOWHERE and word.is_name for word in reading.words):
        return _Ruled(False, "talk")
    if not reading.bound and any(reference.kind in OPEN for reference in reading.references):
        sign = next(name for name in REASONS if name in names or name == "pronoun")
        return _Ruled(True, sign)
    if "topic_switch" in names and reading.subjects and not reading.references:
        return _Ruled(False, "topic_switch")
    return None


def _is_pronoun(cue: Cue, reading: Reading) -> bool:
    """Return True if a question opens with a word of the pronouns' class."""
    return cue.name == "opener" and any(
        token.kind == "pronoun" and token.start == cue.start for token in reading.tokens
    )


def _why(cues: tuple[Cue, ...]) -> TriggerReason:
    names = {cue.name for cue in cues}
    return next((reason for sign, reason in REASONS.items() if sign in names), TriggerReason.LEARNED)


def _why_not(reading: Reading) -> TriggerReason:
    said_before = any(word.place != NOWHERE for word in reading.words)
    return TriggerReason.SELF_CONTAINED if said_before else TriggerReason.NEW_TOPIC
