"""The pure functions for use without an engine: decide, review, clean."""

from __future__ import annotations

from collections.abc import Sequence

from llama_index.core.base.llms.types import ChatMessage

from llama_index_condense_plus.cleanup import clean_query
from llama_index_condense_plus.rewriting.history import build_window
from llama_index_condense_plus.rewriting.review import review_rewrite
from llama_index_condense_plus.rewriting.trigger import build_trigger
from llama_index_condense_plus.settings import CondensePlusSettings
from llama_index_condense_plus.types import TriggerDecision, TriggerReason

__all__ = ["clean_query", "decide_rewrite", "review_rewrite"]


def decide_rewrite(
    message: str,
    history: Sequence[ChatMessage | tuple[str, str]] = (),
    settings: CondensePlusSettings | None = None,
) -> TriggerDecision:
    """Decide whether a message needs the conversation to be understood.

    Args:
        message: the user's words.
        history: earlier messages, oldest first, as ChatMessages or (role, text) pairs.
        settings: the options; None: ``CondensePlusSettings()``.

    Example:
        >>> decide_rewrite("净利润呢？", [("user", "某公司的营收是多少？"), ("assistant", "12 亿元。")]).rewrite
        True
    """
    settings = settings or CondensePlusSettings()
    window = build_window(history, settings.history)
    if not settings.enabled:
        return TriggerDecision(False, TriggerReason.DISABLED, "und")
    return build_trigger(settings).decide(message, window)
