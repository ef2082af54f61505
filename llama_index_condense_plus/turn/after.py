"""What happens once a turn is stored: the rewrite log, and labels for turns that were not rewritten."""

from __future__ import annotations

import logging
import random
from collections.abc import Callable
from dataclasses import dataclass, field

from llama_index.core.base.llms.types import ChatMessage, MessageRole

from llama_index_condense_plus import workers
from llama_index_condense_plus.observability.rewrite_log import RewriteLog
from llama_index_condense_plus.observability.trace import CondenseTrace
from llama_index_condense_plus.turn.conversation import Conversation, TurnOptions
from llama_index_condense_plus.turn.drivers import drive
from llama_index_condense_plus.turn.pipeline import Pipeline
from llama_index_condense_plus.turn.query import Finder
from llama_index_condense_plus.types import HistoryWindow

logger = logging.getLogger(__name__)


@dataclass
class AfterTurn:
    """Writes the log, and rewrites some skipped turns in the background to learn whether the gate was right."""

    log: RewriteLog
    pipeline: Pipeline
    shadow_rate: float
    chance: Callable[[], float] = field(default=random.random)

    def __call__(self, trace: CondenseTrace, conversation: Conversation) -> None:
        """Take note of a turn."""
        self.log.write(trace, conversation.key, conversation.tenants.log)
        if trace.window and not trace.decision.rewrite and self.chance() < self.shadow_rate:
            try:
                workers.spawn(lambda: self._shadow(trace, conversation), "shadow")
            except (workers.WorkersExhaustedError, RuntimeError):  # the turn is stored, and must not fail any more
                logger.debug("No shadow rewrite: too many calls are running")

    def _shadow(self, trace: CondenseTrace, conversation: Conversation) -> None:
        finder = Finder(self.pipeline, trace.turn_id, TurnOptions(rewrite=True), retriever=None, keep=False)
        try:
            found = drive(finder.run(trace.message, _messages(trace.window)))
        except Exception as error:  # noqa: BLE001 - a label is missing, nothing else
            logger.debug("Shadow rewrite failed: %s", type(error).__name__)
            return
        shadow = CondenseTrace(
            turn_id=trace.turn_id,
            message=trace.message,
            decision=trace.decision,
            window=found.window,
            rewrite=found.result,
            plan=found.plan,
            timings=found.timings,
        )
        self.log.write(shadow, conversation.key, conversation.tenants.log, kind="shadow")


def _messages(window: HistoryWindow) -> list[ChatMessage]:
    return [ChatMessage(role=MessageRole(message.role), content=message.full_text) for message in window.all_messages]
