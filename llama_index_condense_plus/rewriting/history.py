"""From chat messages to the part of a conversation that a rewrite may draw on, cut to size."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache

from llama_index.core.base.llms.types import ChatMessage

from llama_index_condense_plus.languages import pack_of, speakers
from llama_index_condense_plus.protocols import EntityExtractor
from llama_index_condense_plus.rewriting.cutting import TokenCounter, cut, estimate_tokens, list_items
from llama_index_condense_plus.rewriting.entities import DefaultEntityExtractor
from llama_index_condense_plus.rewriting.ranking import rank_entities
from llama_index_condense_plus.rewriting.spoken import SummaryKind, rounds, spoken
from llama_index_condense_plus.settings.sections import HistorySettings
from llama_index_condense_plus.types import HistoryWindow, WindowMessage

LOOK_BACK = 8
"""Messages, from the newest, in which the list is looked for that "the second one" points at."""
_MAX_ENTITIES = 64
_SUMMARY_SHARE = 3
"""A summary takes at most a third of the shown tokens."""
_EXTRACTOR = DefaultEntityExtractor()


def build_window(
    history: Sequence[ChatMessage | tuple[str, str]],
    settings: HistorySettings,
    *,
    extractor: EntityExtractor | None = None,
    count_tokens: TokenCounter | None = None,
    summary: SummaryKind = "none",
) -> HistoryWindow:
    """Return the window of a conversation.

    Args:
        history: messages, oldest first; ChatMessages or (role, text) pairs.
        settings: how much is shown, and in which order.
        extractor: finds the entities; default ``DefaultEntityExtractor``.
        count_tokens: tokens of a text; default an offline estimate.
        summary: where the memory keeps its summary; no other system message is ever read.
    """
    count = count_tokens or estimate_tokens
    usable, told_before = spoken(history, summary)
    said = [message for message in usable if message]
    grouped = rounds(said)
    split = max(0, len(grouped) - settings.max_rounds)
    shown_summary = cut(told_before, settings.max_tokens // _SUMMARY_SHARE, count)
    budget = settings.max_tokens - (count(shown_summary) if shown_summary else 0)
    shown = _fit(grouped[split:], settings, budget, count)
    older = grouped[: len(grouped) - len(shown)]
    text = render(shown, shown_summary, settings.order)
    ranked = rank_entities(said, extractor or _EXTRACTOR)
    earlier = tuple(m for group in older for m in group)
    return HistoryWindow(
        messages=tuple(m for group in shown for m in group),
        earlier=earlier,
        text=text,
        entities=tuple(entity for entity, _ in ranked[:_MAX_ENTITIES]),
        list_items=next((items for m in reversed(said[-LOOK_BACK:]) if (items := list_items(m.full_text))), ()),
        summary=told_before,
        n_tokens=count(text) if text else 0,
        n_dropped=len(earlier),
    )


def render(groups: Sequence[Sequence[WindowMessage]], summary: str = "", order: str = "chronological") -> str:
    """Return rounds as labelled lines, the summary on top, the labels in the conversation's language."""
    lines = [(message.role, message.text) for group in groups for message in group]
    pack = pack_of("\n".join([summary[:200], *(text[:200] for _, text in lines)]))
    if order == "newest_first":
        lines.reverse()
    if summary:
        lines.insert(0, ("summary", summary))
    line, forged = pack.phrase("line"), _forged(speakers())
    return "\n".join(line.format(who=pack.phrase(who), words=forged.sub(r"  \1", words)) for who, words in lines)


def _fit(
    groups: list[list[WindowMessage]], settings: HistorySettings, budget: int, count: Callable[[str], int]
) -> list[list[WindowMessage]]:
    """Cut each message and return the newest rounds that fit; the newest of all is cut harder instead of dropped."""
    kept: list[list[WindowMessage]] = []
    for group in reversed(groups):
        share = settings.max_tokens if kept else max(0, budget // len(group) - 2)
        limits = {"user": settings.user_max_tokens, "assistant": settings.answer_max_tokens}
        cut_down = [replace(m, text=cut(m.full_text, min(limits[m.role], share), count)) for m in group]
        budget -= sum(count(m.text) + 2 for m in cut_down)
        if (budget < 0 and kept) or not any(m.text for m in cut_down):
            break
        kept.insert(0, cut_down)
    return kept


@lru_cache(maxsize=4)
def _forged(names: tuple[str, ...]) -> re.Pattern[str]:
    """Return what finds a line inside a message that looks like the next turn; it is indented."""
    either = "|".join(map(re.escape, (*names, "user", "assistant", "system", "human", "ai")))
    return re.compile(rf"^[^\S\n]*((?:{either})\s*[:：])", re.IGNORECASE | re.MULTILINE)
