"""The rewriting model's prompt: static text first, the conversation quoted so that it cannot break out."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, tzinfo
from pathlib import Path
from typing import Any, Literal
from zoneinfo import ZoneInfo

from llama_index.core.base.llms.types import ChatMessage, MessageRole
from pydantic import BaseModel, Field, ValidationError

from llama_index_condense_plus.errors import ConfigurationError
from llama_index_condense_plus.languages import pack, registered_packs
from llama_index_condense_plus.languages.text import fold
from llama_index_condense_plus.rewriting.cutting import cut, estimate_tokens
from llama_index_condense_plus.rewriting.history import render
from llama_index_condense_plus.rewriting.spoken import rounds
from llama_index_condense_plus.settings.reading import read_toml
from llama_index_condense_plus.settings.sections import RewriteSettings
from llama_index_condense_plus.types import HistoryWindow, RewriteRequest, WindowMessage

Clock = Callable[[], datetime]
OutputForm = Literal["text", "json", "structured"]

MESSAGE_MAX_TOKENS = 600
"""A pasted document is shown up to this many tokens, both ends kept: what is asked stands at one of them."""
MESSAGE_SHARE = 2
"""Where room is scarce the message takes at most half of it."""
SPARE_TOKENS = 64
"""Left free in the context window for a chat template's own marks."""
MAX_NAMES = 5
"""Names shown to the model: more distract a small one."""
_TAGS = re.compile(r"<(\s*/?\s*(?:conversation|message|date)\b)", re.IGNORECASE)


class StandaloneQuestion(BaseModel):
    """A question that can be searched on its own."""

    query: str = Field(description="The user's last message, rewritten so that it can be searched on its own.")


class Shot(BaseModel):
    """An example shown to the model."""

    history: list[tuple[Literal["user", "assistant"], str]]
    question: str
    rewrite: str
    language: str | None = None


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


def shipped_shots(language: str | None = None) -> list[Shot]:
    """Return the examples of a language's prompt; of none, those of all."""
    packs = registered_packs().values()
    prompts = [_texts(language)] if language else [own.table.get("prompt", {}) for own in packs]
    return [Shot.model_validate(shot) for prompt in prompts for shot in prompt.get("shots", ())]


def build_prompt(
    request: RewriteRequest,
    settings: RewriteSettings,
    *,
    shots: Sequence[Shot] | None = None,
    clock: Clock | None = None,
    context_window: int | None = None,
) -> tuple[ChatMessage, ...]:
    """Return the chat messages that ask for a standalone question.

    Args:
        request: the message, its window and the decision, whose language chooses the wording.
        settings: output form, length of the answer and time zone.
        shots: examples that replace the built-in ones; one without a language serves every language.
        clock: the present time; default the system's, in ``settings.timezone``.
        context_window: tokens that the model takes; older rounds and the middle of the message go first.
    """
    language = request.decision.language
    texts = _texts(language)
    mine = shipped_shots(language) if shots is None else [s for s in shots if s.language in (None, language)]
    parts = [f"{texts['instruction']}\n{texts['output_text' if settings.output == 'text' else 'output_json']}"]
    parts += [_example(shot, texts, settings.output) for shot in mine]
    known = registered_packs().get(language)
    if known is None or "prompt" not in known.table:
        parts.append(texts["language"].format(name=f" ({known.name})" if known else ""))
    if relative_times(request.message, language):
        parts.append(_date_line(texts, clock, settings.timezone))
    history, message = fitting(request, "\n\n".join(parts), settings.max_tokens, context_window)
    parts.append(_task(history, message, texts, _shown_names(request.window) if "names" in texts else ()))
    return (ChatMessage(role=MessageRole.USER, content="\n\n".join(parts)),)


def fitting(request: RewriteRequest, static: str, max_tokens: int, context_window: int | None) -> tuple[str, str]:
    """Return the conversation and the message, cut to what a prompt has room for.

    Args:
        request: the message and its window.
        static: the other text of the prompt.
        max_tokens: length of the answer.
        context_window: tokens that the model takes; none: no limit but the message's own.
    """
    message, window = request.message.strip(), request.window
    if context_window is None:
        return window.text, cut(message, MESSAGE_MAX_TOKENS)
    room = max(0, context_window - max_tokens - SPARE_TOKENS - estimate_tokens(static))
    message = cut(message, min(MESSAGE_MAX_TOKENS, room // MESSAGE_SHARE))
    return _newest(window, room - estimate_tokens(message)), message


def relative_times(message: str, language: str) -> list[str]:
    """Return the expressions of relative time in a message, in its order; of overlapping ones the longest."""
    folded = fold(message)
    words = sorted(_texts(language)["relative_time"], key=len, reverse=True)
    edge = r"\b" if words[0].isascii() else ""
    return re.findall(f"{edge}(?:{'|'.join(map(re.escape, words))}){edge}", folded)


def quoted(text: str) -> str:
    """Return text in which none of the prompt's own delimiters can be closed or opened."""
    return _TAGS.sub(r"‹\1", text)


def _texts(language: str) -> Mapping[str, Any]:
    """Return the wording of a language; the English one for a language that has none of its own."""
    own: Mapping[str, Any] | None = pack(language).table.get("prompt")
    return own or registered_packs()["und"].table["prompt"]


def _newest(window: HistoryWindow, room: int) -> str:
    """Return the shown conversation, without its oldest rounds where it is too long for the model."""
    if window.n_tokens <= room:
        return window.text
    groups = rounds(window.messages)
    while len(groups) > 1:
        del groups[0]
        text = render(groups)
        if estimate_tokens(text) <= room:
            return text
    return cut(render(groups), room)


def _example(shot: Shot, texts: Mapping[str, Any], form: OutputForm) -> str:
    said = [[WindowMessage(role=role, full_text=text, text=text) for role, text in shot.history]]
    answer = shot.rewrite if form == "text" else StandaloneQuestion(query=shot.rewrite).model_dump_json()
    return _task(render(said), shot.question, texts) + answer


def _task(history: str, message: str, texts: Mapping[str, Any], names: Sequence[str] = ()) -> str:
    said = f"<conversation>\n{quoted(history)}\n</conversation>\n"
    listed = quoted(texts["names"].format(names="；".join(names))) + "\n" if names else ""
    return f"{said}{listed}<message>{quoted(message)}</message>\n{texts['ask']}"


def _shown_names(window: HistoryWindow) -> list[str]:
    """Return the likeliest names of the shown messages: one of an earlier message would make equal prompts differ."""
    shown = "\n".join(message.full_text for message in window.messages)
    names = (entity.text for entity in window.entities if entity.kind not in ("term", "number"))
    return [" ".join(name.split()) for name in dict.fromkeys(names) if name in shown][:MAX_NAMES]


def _date_line(texts: Mapping[str, Any], clock: Clock | None, timezone: str | None) -> str:
    zone: tzinfo | None = ZoneInfo(timezone) if timezone else None
    now = clock() if clock else datetime.now(zone).astimezone(zone)
    if zone and now.tzinfo:
        now = now.astimezone(zone)
    return str(texts["date"]).format(date=now.date().isoformat(), weekday=texts["weekdays"][now.weekday()])
