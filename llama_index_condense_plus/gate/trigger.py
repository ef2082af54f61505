"""The gate: decides without a model whether a message needs the conversation to be understood.

Rules decide where there is no doubt: small talk, a pointing word without anything to point at in the message, a pick
from a list, a correction. Everything else is left to the mode: a linear model, rules, or the pronouns alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from llama_index.core.base.llms.types import ChatMessage

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
from llama_index_condense_plus.rewriting.history import build_window
from llama_index_condense_plus.settings import CondensePlusSettings
from llama_index_condense_plus.types import Cue, HistoryWindow, TriggerDecision, TriggerReason

WEIGHTS = Path(__file__).with_name("data") / "weights.toml"
"""The weights of the package."""
MEMORY = 256
"""Decisions that are kept: an engine asks again when it explains or repeats a turn."""
OPEN = frozenset({"person", "thing", "place", "time", "plural", "ordinal", "previous"})
"""Kinds of references that say nothing without what they point at."""
CERTAIN = frozenset({"follow_up_hint", "pick", "correction", "more"})
"""Signs that leave no doubt."""
WEAK = frozenset({"opener", "comparison", "other", "ordinal", "reply", "short", "ellipsis"})
"""Signs on which the rules fire."""
REASONS = {
    "pick": TriggerReason.ORDINAL,
    "correction": TriggerReason.CONTINUATION,
    "more": TriggerReason.CONTINUATION,
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
    """Return the trigger that the ``trigger`` and ``languages`` sections of the settings ask for."""
    return MessageTrigger(settings)


def decide_rewrite(
    message: str,
    history: Sequence[ChatMessage | tuple[str, str]] = (),
    settings: CondensePlusSettings | None = None,
) -> TriggerDecision:
    """Decide outside the engine whether a message needs the conversation to be understood; pure.

    Args:
        message: the user's words.
        history: earlier messages, oldest first, as ChatMessages or (role, text) pairs.
        settings: the options; None: ``CondensePlusSettings()``.

    Example:
        >>> decide_rewrite("And the profit?", [("user", "What was the revenue?"), ("assistant", "12 million.")]).rewrite
        True
    """
    settings = settings or CondensePlusSettings()
    if not settings.enabled:
        return TriggerDecision(False, TriggerReason.DISABLED, detect_language(message))
    return build_trigger(settings).decide(message, build_window(history, settings.history))


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
        self._model, self._models = load_weights(Path(settings.trigger.weights_file or WEIGHTS))
        self._decide = lru_cache(maxsize=MEMORY)(self._decide_anew)

    def decide(self, message: str, window: HistoryWindow) -> TriggerDecision:
        """Decide on one message; never raises."""
        text, mode = clip(message, READ_CHARS), self._options.mode
        if not text.strip():
            return TriggerDecision(False, TriggerReason.BLANK, detect_language(text))
        if mode in ("always", "never"):
            fires = mode == "always" and bool(window)
            constant = TriggerReason.FORCED if mode == "always" else TriggerReason.DISABLED
            return TriggerDecision(fires, constant if window else TriggerReason.NO_HISTORY, detect_language(text))
        return self._decide(text, read_history(window), bool(window))

    def _decide_anew(self, text: str, said: Said, has_history: bool) -> TriggerDecision:
        language = detect_language(text) if any(map(str.isalpha, text)) else said.code
        known = pack(language, self._settings)
        talk = known.small_talk(text)
        accepts = talk == "answer" and said.offers
        if talk and not accepts:
            return TriggerDecision(False, TriggerReason.SMALL_TALK, language, (Cue(talk, text, 0),))
        if not has_history:
            return TriggerDecision(False, TriggerReason.NO_HISTORY, language)
        if accepts or not known.models_ellipsis:
            reason = TriggerReason.SLOT_FILLING if accepts else TriggerReason.UNKNOWN_LANGUAGE
            return TriggerDecision(True, reason, language, (Cue("reply", text, 0),) * accepts)
        reading = read_message(text, known, said)
        cues = self._signs(reading, known)
        fires, score = self._judge(reading, cues, language)
        if self._options.mode == "pronoun":
            reason = TriggerReason.PRONOUN if fires else TriggerReason.SELF_CONTAINED
            return TriggerDecision(fires, reason, language, reading.cues)
        return TriggerDecision(fires, _why(cues) if fires else _why_not(reading), language, cues, score)

    def _judge(self, reading: Reading, cues: tuple[Cue, ...], language: str) -> tuple[bool, float | None]:
        """Return whether a message is rewritten, and the probability that it needs to be where no rule decides."""
        if self._options.mode == "pronoun":
            openers = {cue.start for cue in cues if cue.name == "opener"}
            pointing = any(token.kind == "pronoun" and token.start in openers for token in reading.tokens)
            return pointing or bool(reading.references), None
        ruled = certain(reading, cues)
        if ruled is not None:
            return ruled, None
        if self._options.mode == "heuristic":
            score, threshold = (0.8 if any(cue.name in WEAK for cue in cues) else 0.2), 0.5
        else:
            model = self._models.get(language, self._model)
            score, threshold = model.probability(features(reading)), model.threshold
        bias = self._options.recall_bias
        return score >= (threshold * (1 - bias) if bias > 0 else threshold - (1 - threshold) * bias), score

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
        found += [Cue("talk", span.text, span.start) for span in known.instructions(text, ["talk"])]
        return tuple(sorted(found, key=lambda cue: cue.start))


@lru_cache(maxsize=16)
def load_weights(path: Path) -> tuple[LinearModel, dict[str, LinearModel]]:
    """Return the shared model of a file, and each language's: ``name_xx`` is added to ``name`` in ``xx``."""
    model = LinearModel.load(path)
    own: dict[str, dict[str, float]] = {}
    for name, weight in model.weights.items():
        base, _, code = name.rpartition("_")
        if base == "language" or base in model.weights:
            weights = own.setdefault(code, dict(model.weights))
            weights[base] = weights.get(base, 0.0) + weight
    return model, {
        code: replace(model, weights=weights, intercept=model.intercept + weights.get("language", 0.0))
        for code, weights in own.items()
    }


def certain(reading: Reading, cues: tuple[Cue, ...]) -> bool | None:
    """Return whether a message needs a rewrite where its signs leave no doubt, else None."""
    names = {cue.name for cue in cues}
    if not names.isdisjoint(CERTAIN):
        return True
    if _is_about_the_talk(reading, cues):
        return False
    if not reading.bound and any(reference.kind in OPEN for reference in reading.references):
        return True
    return False if "topic_switch" in names and reading.subjects and not reading.references else None


def _is_about_the_talk(reading: Reading, cues: tuple[Cue, ...]) -> bool:
    """Return True for an order about what was said, which names nothing else."""
    spans = [(cue.start, cue.start + len(cue.text)) for cue in cues if cue.name == "talk"]
    outside = [w for w in reading.subjects if not any(a <= w.token.start < b for a, b in spans)]
    return bool(spans) and not outside


def _why(cues: tuple[Cue, ...]) -> TriggerReason:
    names = {cue.name for cue in cues}
    return next((reason for sign, reason in REASONS.items() if sign in names), TriggerReason.LEARNED)


def _why_not(reading: Reading) -> TriggerReason:
    said_before = any(word.place != NOWHERE for word in reading.words)
    return TriggerReason.SELF_CONTAINED if said_before else TriggerReason.NEW_TOPIC
