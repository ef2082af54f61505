"""Asking a model where the gate is undecided: one structured call, off unless passed as the trigger."""

from __future__ import annotations

import re
from dataclasses import replace

from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.llms.llm import LLM
from pydantic import BaseModel, Field

from llama_index_condense_plus.lexicons.patterns import regex
from llama_index_condense_plus.operations import Flow, Predict, Prediction
from llama_index_condense_plus.protocols import Trigger
from llama_index_condense_plus.types import HistoryWindow, TriggerDecision, TriggerReason

INSTRUCTION = (
    "You judge the last message of a conversation for a search engine that sees that message alone. "
    "needs_context is true if the message refers to, or leaves out, something that only the conversation tells; "
    'it is false if the message can be searched as it stands. Answer with JSON: {"needs_context": true or false}.'
)
"""Static text of the call, first so that a server's prefix cache works."""
UNDECIDED = (0.3, 0.8)
"""Scores in this range are undecided; 0.5 is the gate's own threshold."""
_ANSWER = regex(r"\b(true|false|yes|no)\b", re.IGNORECASE)


class NeedsContext(BaseModel):
    """The model's verdict."""

    needs_context: bool = Field(description="True if the message cannot be searched without the conversation.")


class LLMTrigger:
    """Wraps a trigger and asks a model about messages of which it is unsure.

    Its ``decide`` is a flow: the engine performs the call within the turn, in sync and async turns alike. A call that
    fails, is late or answers something else leaves the inner trigger's decision.

    Args:
        inner: the trigger that decides first, usually ``build_trigger(settings)``.
        llm: the model; None: the engine's ``condense_llm``.
        undecided: lowest and highest score, in [0, 1], that is asked about.
        timeout_s: deadline of the call in seconds.
    """

    def __init__(
        self,
        inner: Trigger,
        llm: LLM | None = None,
        *,
        undecided: tuple[float, float] = UNDECIDED,
        timeout_s: float = 3.0,
    ) -> None:
        self._inner = inner
        self._llm = llm
        self._undecided = undecided
        self._timeout_s = timeout_s

    def decide(self, message: str, window: HistoryWindow) -> Flow[TriggerDecision]:
        """Decide on one message, with at most one call."""
        decision = self._inner.decide(message, window)
        low, high = self._undecided
        if decision.score is None or not low <= decision.score <= high:
            return decision
        try:
            prediction: Prediction = yield Predict(
                messages=(
                    ChatMessage(role=MessageRole.SYSTEM, content=INSTRUCTION),
                    ChatMessage(
                        role=MessageRole.USER, content=f"Conversation:\n{window.text}\n\nLast message:\n{message}"
                    ),
                ),
                options={"temperature": 0.0, "max_tokens": 16},
                output_cls=NeedsContext,
                timeout_s=self._timeout_s,
                llm=self._llm,
            )
        except Exception:  # noqa: BLE001 - an undecided message must not end the turn: the gate's own word stands
            return decision
        found = _ANSWER.search(prediction.text)
        if found is None:
            return decision
        rewrite = found.group().lower() in ("true", "yes")
        if rewrite == decision.rewrite:
            return decision
        reason = TriggerReason.LEARNED if rewrite else TriggerReason.SELF_CONTAINED
        return replace(decision, rewrite=rewrite, reason=reason)
