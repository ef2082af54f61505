"""The part of a conversation that a rewrite may draw on, cut to size."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from llama_index.core.base.llms.types import ChatMessage

from llama_index_condense_plus.lexicons.memo import remembered
from llama_index_condense_plus.lexicons.patterns import regex
from llama_index_condense_plus.lexicons.text import clip, has_han
from llama_index_condense_plus.protocols import EntityExtractor
from llama_index_condense_plus.rewriting.cutting import cut, estimate_tokens
from llama_index_condense_plus.rewriting.entities import DefaultEntityExtractor
from llama_index_condense_plus.rewriting.lists import list_items
from llama_index_condense_plus.rewriting.messages import rounds, spoken
from llama_index_condense_plus.rewriting.salience import LOOK_BACK, rank_entities
from llama_index_condense_plus.settings.sections import HistorySettings
from llama_index_condense_plus.types import HistoryWindow, WindowMessage

_LABELS = {True: {"user": "用户：", "assistant": "助手："}, False: {"user": "User: ", "assistant": "Assistant: "}}
_FORGED = regex(r"^[^\S\n]*((?:user|assistant|system|human|ai|用户|助手|系统)\s*[:：])", re.IGNORECASE | re.MULTILINE)
"""A line inside a message that looks like the next turn; it is indented."""
_SUMMARY_LABEL = {True: "此前摘要：", False: "Summary so far: "}
_SUMMARY_SHARE = 3
"""A summary takes at most a third of the shown tokens."""
_MAX_ENTITIES = 64
_EXTRACTOR = DefaultEntityExtractor()


def build_window(
    history: Sequence[ChatMessage | tuple[str, str]],
    settings: HistorySettings,
    *,
    extractor: EntityExtractor | None = None,
    count_tokens: Callable[[str], int] | None = None,
    topic_start: int = 0,
) -> HistoryWindow:
    """Return the window of a conversation.

    Args:
        history: messages, oldest first; ChatMessages or (role, text) pairs.
        settings: how much is shown, and in which order.
        extractor: finds the entities; default ``DefaultEntityExtractor``.
        count_tokens: tokens of a text; default an offline estimate.
        topic_start: index in ``history`` at which the present topic began: older messages are not shown and give no
            entities, but still count as said.
    """
    count = count_tokens or estimate_tokens
    usable, summary = spoken(history)
    before = [m for m in usable[: max(0, topic_start)] if m]
    current = [m for m in usable[max(0, topic_start) :] if m]
    grouped = rounds(current)
    split = max(0, len(grouped) - settings.max_rounds)
    older, shown = grouped[:split], grouped[split:]
    summary_shown = cut(summary, settings.max_tokens // _SUMMARY_SHARE, count) if summary else ""
    budget = settings.max_tokens - (count(summary_shown) if summary_shown else 0)
    older, shown_cut = _fit(older, shown, settings, budget, count)
    text = render(shown_cut, summary_shown, settings.order)
    ranked = rank_entities(current, extractor or _EXTRACTOR)
    earlier = (*before, *(m for group in older for m in group))
    return HistoryWindow(
        messages=tuple(m for group in shown_cut for m in group),
        earlier=earlier,
        text=text,
        entities=tuple(entity for entity, _ in ranked[:_MAX_ENTITIES]),
        list_items=_newest_list(current),
        summary=summary,
        n_tokens=count(text) if text else 0,
        n_dropped=len(earlier),
        n_before_topic=len(before),
    )


def render(groups: Sequence[Sequence[WindowMessage]], summary: str = "", order: str = "chronological") -> str:
    """Return rounds as labelled lines, the summary on top, the labels in the conversation's script."""
    lines = [(m.role, m.text) for group in groups for m in group]
    chinese = has_han(summary) or any(has_han(text) for _, text in lines)
    if order == "newest_first":
        lines.reverse()
    top = [_SUMMARY_LABEL[chinese] + summary] if summary else []
    return "\n".join([*top, *(_LABELS[chinese][role] + _FORGED.sub(r"  \1", text) for role, text in lines)])


def _fit(
    older: list[list[WindowMessage]],
    shown: list[list[WindowMessage]],
    settings: HistorySettings,
    budget: int,
    count: Callable[[str], int],
) -> tuple[list[list[WindowMessage]], list[list[WindowMessage]]]:
    """Cut each message, then drop the oldest rounds until the rest fits; the newest round is cut harder instead."""
    kept: list[list[WindowMessage]] = []
    for position in range(len(shown) - 1, -1, -1):
        group = _cut_round(shown[position], settings, budget if not kept else None, count)
        size = sum(count(m.text) + 2 for m in group)
        if size > budget and kept:
            return older + shown[: position + 1], kept
        if not any(m.text for m in group):
            return older + shown[: position + 1], kept
        budget -= size
        kept.insert(0, group)
    return older, kept


def _cut_round(
    group: list[WindowMessage], settings: HistorySettings, budget: int | None, count: Callable[[str], int]
) -> list[WindowMessage]:
    share = max(0, budget // len(group) - 2) if budget is not None else settings.max_tokens
    limits = {"user": settings.user_max_tokens, "assistant": settings.answer_max_tokens}
    return [replace(m, text=cut(m.full_text, min(limits[m.role], share), count)) for m in group]


@remembered
def _items(text: str) -> tuple[str, ...]:
    return list_items(clip(text))


def _newest_list(messages: Sequence[WindowMessage]) -> tuple[str, ...]:
    for message in reversed(messages[-LOOK_BACK:]):
        items = _items(message.full_text)
        if items:
            return items
    return ()
