"""Building the rewriting model's prompt: static text first, the conversation quoted so that it cannot break out."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from functools import cache
from pathlib import Path
from typing import Any, Literal
from zoneinfo import ZoneInfo

from llama_index.core.base.llms.types import ChatMessage, MessageRole
from pydantic import BaseModel, Field, ValidationError

from llama_index_condense_plus.errors import ConfigurationError
from llama_index_condense_plus.lexicons.base import registered_lexicons
from llama_index_condense_plus.lexicons.patterns import regex
from llama_index_condense_plus.lexicons.text import fold
from llama_index_condense_plus.rewriting.back_references import find_back_reference
from llama_index_condense_plus.rewriting.candidates import Candidates
from llama_index_condense_plus.rewriting.entities import DefaultEntityExtractor
from llama_index_condense_plus.rewriting.history import render
from llama_index_condense_plus.settings.reading import read_toml, shipped_table
from llama_index_condense_plus.settings.sections import RewriteSettings
from llama_index_condense_plus.types import HistoryWindow, RewriteRequest, TriggerDecision, WindowMessage

Clock = Callable[[], datetime]
OutputForm = Literal["text", "json", "structured"]

MAX_NAMES = 5
"""Names shown to the model: more distract a small one."""
_TAGS = regex(r"<(\s*/?\s*(?:conversation|message|names|example|date)\b)", re.IGNORECASE)
_WHITESPACE = regex(r"\s+")


class StandaloneQuestion(BaseModel):
    """A question that can be searched on its own."""

    query: str = Field(description="The user's last message, rewritten so that it can be searched on its own.")


class Shot(BaseModel):
    """An example shown to the model: always, or only for messages like it."""

    history: list[tuple[Literal["user", "assistant"], str]]
    question: str
    rewrite: str
    language: str | None = None
    when: list[str] = Field(default_factory=list, description="Cues or words that a message must have one of.")

    def fits(self, message: str, cues: Collection[str]) -> bool:
        """Return True if a message, folded, has one of the cues or words of ``when``."""
        return any(word in cues or _holds(message, word) for word in self.when)


@dataclass(frozen=True, slots=True)
class PromptTexts:
    """The wording of one language's prompt."""

    instruction: str
    output_text: str
    output_json: str
    language: str
    entities: str
    date: str
    ask: str
    weekdays: tuple[str, ...]
    relative_time: tuple[str, ...]
    shots: tuple[Shot, ...]


@cache
def prompt_texts(language: str) -> PromptTexts:
    """Return the built-in wording of a language; English for one that has none of its own."""
    tables = shipped_table("llama_index_condense_plus.rewriting", "prompts.toml")
    table = tables.get(language, tables["en"])
    shots = tuple(Shot.model_validate(shot) for shot in table["shots"])
    words: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value.strip("\n") for key, value in table.items()
    }
    words["shots"] = shots
    return PromptTexts(**words)


def read_shots(path: Path) -> tuple[Shot, ...]:
    """Read examples of the user's own: ``[[shots]]`` tables with history, question, rewrite and, optionally, language.

    Raises:
        ConfigurationError: the file cannot be read or holds something else.
    """
    entries = read_toml(path).get("shots")
    if not isinstance(entries, list) or not entries:
        raise ConfigurationError(f"{path} holds no [[shots]]: each needs history, question and rewrite.")
    try:
        return tuple(Shot.model_validate(entry) for entry in entries)
    except ValidationError as error:
        first = error.errors()[0]
        raise ConfigurationError(f"{path}: shots.{'.'.join(map(str, first['loc']))}: {first['msg']}.") from None


def build_prompt(
    request: RewriteRequest,
    settings: RewriteSettings,
    *,
    shots: Sequence[Shot] | None = None,
    clock: Clock | None = None,
) -> tuple[ChatMessage, ...]:
    """Return the chat messages that ask for a standalone question.

    Args:
        request: the message, its window and the decision, whose language chooses the wording.
        settings: output form and time zone.
        shots: examples that replace the built-in ones; one without a language serves every language.
        clock: the present time; default the system's, in ``settings.timezone``.
    """
    language = request.decision.language
    texts = prompt_texts(language)
    mine = texts.shots if shots is None else [s for s in shots if s.language in (None, language)]
    examples = fitting_shots(mine, request.message, request.decision)
    parts = [f"{texts.instruction}\n{_output_rule(texts, settings.output)}"]
    parts += [_example(shot, texts, settings.output) for shot in examples]
    if texts == prompt_texts("en") and language not in ("en", "und"):
        lexicon = registered_lexicons().get(language)
        parts.append(texts.language.format(name=f" ({lexicon.name})" if lexicon and lexicon.name else ""))
    if relative_times(request.message, language):
        parts.append(_date_line(texts, clock, settings.timezone))
    parts.append(_task(request.window.text, request.message, shown_names(request.message, request.window), texts))
    return (ChatMessage(role=MessageRole.USER, content="\n\n".join(parts)),)


def fitting_shots(shots: Sequence[Shot], message: str, decision: TriggerDecision) -> list[Shot]:
    """Return the examples without ``when``, and of the others the first that fits a message, in their order.

    Where none of them fits, the last stands in. Two examples of which one fits found as much as all six at half the
    tokens (``benchmarks/rewriting.py``).
    """
    special = [shot for shot in shots if shot.when]
    folded, cues = fold(message), {cue.name for cue in decision.cues}
    chosen = next((shot for shot in special if shot.fits(folded, cues)), special[-1] if special else None)
    return [shot for shot in shots if not shot.when or shot is chosen]


def relative_times(message: str, language: str) -> list[str]:
    """Return the expressions of relative time in a message, in its order; of overlapping ones the longest."""
    folded = fold(message)
    hits = sorted(
        (folded.find(words), -len(words), words) for words in prompt_texts(language).relative_time if words in folded
    )
    found: list[str] = []
    end = 0
    for start, _, words in hits:
        if start >= end:
            found.append(words)
            end = start + len(words)
    return found


def prompt_hash(messages: Sequence[ChatMessage]) -> str:
    """Return a short hash of a rendered prompt, for trace, log and cache key."""
    rendered = "\x1e".join(f"{m.role.value}\x1f{m.content or ''}" for m in messages)
    return hashlib.sha256(rendered.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def quoted(text: str) -> str:
    """Return text in which none of the prompt's own delimiters can be closed or opened."""
    return _TAGS.sub(r"‹\1", text)


def shown_names(message: str, window: HistoryWindow) -> list[str]:
    """Return the names that the model is shown, likeliest first; what "that first model" points at stands alone."""
    back = find_back_reference(message)
    if back and (meant := Candidates(window, message, DefaultEntityExtractor()).referred(back)):
        return [_WHITESPACE.sub(" ", meant)]
    names = [_WHITESPACE.sub(" ", e.text) for e in window.entities if e.kind not in ("term", "number")]
    return list(dict.fromkeys(names))[:MAX_NAMES]


def _holds(text: str, word: str) -> bool:
    return bool(re.search(rf"\b{re.escape(word)}\b", text)) if word.isascii() else word in text


def _output_rule(texts: PromptTexts, form: OutputForm) -> str:
    return texts.output_text if form == "text" else texts.output_json


def _example(shot: Shot, texts: PromptTexts, form: OutputForm) -> str:
    said = [[WindowMessage(role=role, full_text=text, text=text) for role, text in shot.history]]
    answer = shot.rewrite if form == "text" else StandaloneQuestion(query=shot.rewrite).model_dump_json()
    return _task(render(said), shot.question, (), texts) + answer


def _task(history: str, message: str, names: Sequence[str], texts: PromptTexts) -> str:
    listed = texts.entities.format(names="；".join(names)) + "\n" if names else ""
    said = f"<conversation>\n{quoted(history)}\n</conversation>\n"
    return f"{said}{quoted(listed)}<message>{quoted(message.strip())}</message>\n{texts.ask}"


def _date_line(texts: PromptTexts, clock: Clock | None, timezone: str | None) -> str:
    zone: tzinfo | None = ZoneInfo(timezone) if timezone else None
    now = clock() if clock else datetime.now(zone).astimezone(zone)
    if zone and now.tzinfo:
        now = now.astimezone(zone)
    return texts.date.format(date=now.date().isoformat(), weekday=texts.weekdays[now.weekday()])
