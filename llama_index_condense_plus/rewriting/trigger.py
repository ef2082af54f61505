"""The gate: decides without a model whether a message needs the conversation to be understood."""

from __future__ import annotations

from llama_index_condense_plus.languages import detect_language, lexicon_for
from llama_index_condense_plus.languages.base import Lexicon
from llama_index_condense_plus.languages.text import clip, fold
from llama_index_condense_plus.protocols import Trigger
from llama_index_condense_plus.rewriting.heuristic import judge
from llama_index_condense_plus.rewriting.phrasebook import Phrasebook
from llama_index_condense_plus.rewriting.reading import READ_CHARS, HistoryReading, Reading, read_history
from llama_index_condense_plus.rewriting.reading_en import read_english
from llama_index_condense_plus.rewriting.reading_zh import read_chinese
from llama_index_condense_plus.rewriting.small_talk import SmallTalk
from llama_index_condense_plus.settings import CondensePlusSettings
from llama_index_condense_plus.types import Cue, HistoryWindow, TriggerDecision, TriggerReason

SMALL_TALK_CHARS = 120
"""Longer messages are no small talk."""
_READERS = {"zh": read_chinese, "en": read_english}


def build_trigger(settings: CondensePlusSettings, llm_trigger: Trigger | None = None) -> Trigger:
    """Return the trigger that the settings ask for.

    Args:
        settings: its ``trigger`` and ``languages`` sections are read.
        llm_trigger: a trigger that is asked where the gate is undecided; none by default.
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
        by_word = lexicon.code != "zh"
        self.lexicon = lexicon
        self.small_talk = SmallTalk(lexicon, by_word=by_word)
        self.by_word = by_word
        self.book = Phrasebook(
            {
                "not_pronoun": lexicon.not_pronouns,
                "pronoun": lexicon.pronouns,
                "back_reference": lexicon.back_references,
                "ordinal": lexicon.ordinals,
                "comparison": lexicon.comparatives,
                "opener": lexicon.openers,
            },
            by_word=by_word,
        )

    def units(self, text: str) -> list[str]:
        """Return a message's words or characters without punctuation."""
        folded = fold(text).replace("’", "'")
        if self.by_word:
            return "".join(c if c.isalnum() or c == "'" else " " for c in folded).split()
        return [character for character in folded if character.isalnum()]


class RuleTrigger:
    """The hard rules, and a judgement of what they leave open.

    Args:
        settings: its ``trigger`` and ``languages`` sections are read.
    """

    def __init__(self, settings: CondensePlusSettings) -> None:
        self._settings = settings
        self._languages: dict[str, _Language] = {}
        self._hints = tuple(fold(hint) for hint in settings.trigger.follow_up_hints if hint.strip())

    def decide(self, message: str, window: HistoryWindow) -> TriggerDecision:
        """Decide on one message; never raises."""
        text = clip(message, READ_CHARS)
        language = detect_language(text)
        if not text.strip():
            return TriggerDecision(False, TriggerReason.BLANK, language)
        if not window:
            return TriggerDecision(False, TriggerReason.NO_HISTORY, language)
        known = self._languages.get(language)
        if known is None:
            known = self._languages.setdefault(language, _Language(lexicon_for(language, self._settings)))
        history = read_history(window)
        talk = known.small_talk.parts(known.units(text)) if len(text) <= SMALL_TALK_CHARS else None
        if talk and not (talk[1] and not talk[0] and history.asks):
            return TriggerDecision(False, TriggerReason.SMALL_TALK, language, (Cue("small_talk", text, 0),))
        if talk:
            return TriggerDecision(True, TriggerReason.SLOT_FILLING, language, (Cue("slot_filling", text, 0),))
        reader = _READERS.get(language)
        if reader is None or not known.lexicon.models_ellipsis:
            return TriggerDecision(True, TriggerReason.UNKNOWN_LANGUAGE, language)
        reading = reader(text, known.lexicon, known.book)
        hint = self._hint(text)
        if hint:
            return TriggerDecision(True, TriggerReason.OPENER, language, (hint, *reading.cues))
        return self._judge(reading, history)

    def _judge(self, reading: Reading, history: HistoryReading) -> TriggerDecision:
        if self._settings.trigger.mode == "pronoun":
            fires = reading.open_pronouns + reading.bound_pronouns > 0
            reason = TriggerReason.PRONOUN if fires else TriggerReason.SELF_CONTAINED
            return TriggerDecision(fires, reason, reading.language, reading.cues)
        return judge(reading, history, self._settings.trigger)

    def _hint(self, text: str) -> Cue | None:
        if not self._hints:
            return None
        folded = fold(text)
        return next((Cue("follow_up_hint", hint, folded.find(hint)) for hint in self._hints if hint in folded), None)
