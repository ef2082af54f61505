"""The gate: decides without a model whether a message needs the conversation to be understood."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from llama_index_condense_plus.lexicons import detect_language, lexicon_for
from llama_index_condense_plus.lexicons.base import UNKNOWN, Lexicon
from llama_index_condense_plus.lexicons.text import clip, fold
from llama_index_condense_plus.protocols import Trigger
from llama_index_condense_plus.rewriting.features import features, find, places
from llama_index_condense_plus.rewriting.heuristic import (
    context_cues,
    is_complete,
    must_fire,
    must_skip,
    reason_of,
    rule_score,
)
from llama_index_condense_plus.rewriting.learned import Scorer, read_model_file, shipped_scorer
from llama_index_condense_plus.rewriting.phrasebook import Phrasebook
from llama_index_condense_plus.rewriting.reading import READ_CHARS, HistoryReading, MessageReader, read_history
from llama_index_condense_plus.rewriting.reading_en import EnglishReader
from llama_index_condense_plus.rewriting.reading_zh import ChineseReader
from llama_index_condense_plus.rewriting.small_talk import SmallTalk
from llama_index_condense_plus.settings import CondensePlusSettings
from llama_index_condense_plus.types import Cue, HistoryWindow, TriggerDecision, TriggerReason

SMALL_TALK_CHARS = 120
"""Longer messages are no small talk."""
MEMORY = 256
"""Decisions that are kept: an engine asks again when it explains or repeats a turn."""
TOPIC_SWITCHES = (
    "换个问题", "换个话题", "换一个问题", "换一个话题", "另一个问题", "另外一个问题", "问个别的", "问点别的", "题外话",
    "different question", "another question", "unrelated question", "separate question", "new question", "new topic",
    "different topic", "another topic", "something else :", "something different :", "on another note", "off topic",
)  # fmt: skip
"""Phrases that announce a question of its own."""
_READERS: dict[str, Callable[[Lexicon, Phrasebook], MessageReader]] = {"zh": ChineseReader, "en": EnglishReader}


def build_trigger(settings: CondensePlusSettings) -> Trigger:
    """Return the trigger that the settings ask for.

    Args:
        settings: its ``trigger`` and ``languages`` sections are read.

    Raises:
        ConfigurationError: ``trigger.weights_file`` cannot be read or holds no trained gate.
    """
    mode = settings.trigger.mode
    if mode in ("always", "never"):
        return ConstantTrigger(rewrite=mode == "always")
    return RuleTrigger(settings)


class ConstantTrigger:
    """Rewrites always, or never.

    Args:
        rewrite: the answer to everything that has a history and words.
    """

    def __init__(self, *, rewrite: bool) -> None:
        self._rewrite = rewrite

    def decide(self, message: str, window: HistoryWindow) -> TriggerDecision:
        """Decide on one message."""
        language = detect_language(message)
        if not message.strip():
            return TriggerDecision(False, TriggerReason.BLANK, language)
        if not window:
            return TriggerDecision(False, TriggerReason.NO_HISTORY, language)
        reason = TriggerReason.FORCED if self._rewrite else TriggerReason.DISABLED
        return TriggerDecision(self._rewrite, reason, language)


class _Language:
    """A language's lexicon, prepared."""

    def __init__(self, lexicon: Lexicon) -> None:
        self.lexicon = lexicon
        self.small_talk = SmallTalk(lexicon)
        self.is_modelled = lexicon.models_ellipsis and lexicon.code in _READERS
        self.reader = _READERS.get(lexicon.code, EnglishReader)(lexicon, _phrasebook(lexicon))


_known: dict[int, _Language] = {}
"""Prepared lexicons by their ids, which stay taken while a lexicon is here: a new engine knows the words at once."""
LEXICONS = 64
"""Prepared lexicons that are kept."""


def _prepared(lexicon: Lexicon) -> _Language:
    known = _known.get(id(lexicon))
    if known is None:
        if len(_known) >= LEXICONS:
            _known.clear()
        known = _known.setdefault(id(lexicon), _Language(lexicon))
    return known


def _phrasebook(lexicon: Lexicon) -> Phrasebook:
    return Phrasebook(
        {
            "not_pronoun": lexicon.not_pronouns,
            "topic_switch": TOPIC_SWITCHES,
            "pronoun": lexicon.pronouns,
            "back_reference": lexicon.back_references,
            "ordinal": lexicon.ordinals,
            "comparison": lexicon.comparatives,
            "opener": lexicon.openers,
        },
        by_word=lexicon.code != "zh",
    )


class RuleTrigger:
    """The hard rules, and a judgement of what they leave open: by pronouns, by rules, or by the linear model.

    Args:
        settings: its ``trigger`` and ``languages`` sections are read.

    Raises:
        ConfigurationError: ``trigger.weights_file`` cannot be read or holds no trained gate.
    """

    def __init__(self, settings: CondensePlusSettings) -> None:
        self._settings = settings
        self._languages: dict[str, _Language] = {}
        self._hints = tuple(fold(hint) for hint in settings.trigger.follow_up_hints if hint.strip())
        file = settings.trigger.weights_file
        self._own_scorer = Scorer(read_model_file(file)) if file else None
        self._decide = lru_cache(maxsize=MEMORY)(self._decide_anew)

    def decide(self, message: str, window: HistoryWindow) -> TriggerDecision:
        """Decide on one message; never raises."""
        text = clip(message, READ_CHARS)
        if not text.strip():
            return TriggerDecision(False, TriggerReason.BLANK, UNKNOWN)
        language = detect_language(text)
        if not window:
            return TriggerDecision(False, TriggerReason.NO_HISTORY, language)
        return self._decide(text, language, read_history(window))

    def _decide_anew(self, text: str, language: str, history: HistoryReading) -> TriggerDecision:
        known = self._language(language)
        ruled = self._rule(text, known, history)
        if ruled is not None:
            return ruled
        reading = known.reader.read(text)
        mode = self._settings.trigger.mode
        if mode == "pronoun":
            fires = reading.open_pronouns + reading.bound_pronouns > 0
            reason = TriggerReason.PRONOUN if fires else TriggerReason.SELF_CONTAINED
            return TriggerDecision(fires, reason, language, reading.cues)
        seen = places(reading, history)
        cues = context_cues(reading, history, seen, self._settings.trigger)
        complete = is_complete(reading, seen)
        score = None
        if must_fire(reading, history, self._settings.trigger):
            fires = True
        elif must_skip(reading, history, seen):
            fires, complete = False, True
        else:
            if mode == "learned":
                score = self._scorer.score(language, find(reading, history, seen))
            else:
                score = rule_score(cues, complete=complete)
            fires = score >= 0.5 * (1.0 - self._settings.trigger.recall_bias)
        reason = reason_of(reading, seen, cues, fires=fires, complete=complete)
        return TriggerDecision(fires, reason, language, cues, score)

    def examine(self, message: str, window: HistoryWindow) -> tuple[str, bool | None, list[str]]:
        """Return what training needs to know: the language, what a rule decides if one does, and the features.

        Args:
            message: the user's words.
            window: the conversation, not empty.
        """
        text = clip(message, READ_CHARS)
        language = detect_language(text)
        known = self._language(language)
        history = read_history(window)
        ruled = self._rule(text, known, history)
        if ruled is not None:
            return language, ruled.rewrite, []
        reading = known.reader.read(text)
        fires = must_fire(reading, history, self._settings.trigger)
        ruled_by_words = True if fires else False if must_skip(reading, history, places(reading, history)) else None
        return language, ruled_by_words, features(reading, history)

    @property
    def _scorer(self) -> Scorer:
        return self._own_scorer or shipped_scorer()

    def _language(self, code: str) -> _Language:
        known = self._languages.get(code)
        if known is None:
            known = self._languages.setdefault(code, _prepared(lexicon_for(code, self._settings)))
        return known

    def _rule(self, text: str, known: _Language, history: HistoryReading) -> TriggerDecision | None:
        """Return what a rule decides before the message is read: small talk, a hint of the user's, another language."""
        language = known.lexicon.code
        if len(text) <= SMALL_TALK_CHARS:
            talk = known.small_talk.of(text, asked=history.asks)
            if talk:
                answers = talk[1] and history.asks
                reason = TriggerReason.SLOT_FILLING if answers else TriggerReason.SMALL_TALK
                return TriggerDecision(answers, reason, language, (Cue(reason.value, text, 0),))
        if not known.is_modelled:
            return TriggerDecision(True, TriggerReason.UNKNOWN_LANGUAGE, language)
        if self._hints:
            folded = fold(text)
            for hint in self._hints:
                if hint in folded:
                    cue = Cue("follow_up_hint", hint, folded.find(hint))
                    return TriggerDecision(True, TriggerReason.OPENER, language, (cue,))
        return None
