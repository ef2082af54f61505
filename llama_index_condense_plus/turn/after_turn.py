"""What happens once a turn is stored: its log row, and now and then a rewrite to learn whether the gate was right."""

from __future__ import annotations

import logging
import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from llama_index.core.base.llms.types import ChatMessage, MessageRole

from llama_index_condense_plus import workers
from llama_index_condense_plus.flow import drive
from llama_index_condense_plus.observability.rewrite_log import RewriteLog
from llama_index_condense_plus.observability.trace import CondenseTrace
from llama_index_condense_plus.turn.chain import Pipeline
from llama_index_condense_plus.turn.conversation import Conversation
from llama_index_condense_plus.turn.query import ResolvedQuery

logger: logging.Logger = logging.getLogger(__name__)


@dataclass
class AfterTurn:
    """Writes the log, and rewrites some skipped turns in the background."""

    log: RewriteLog
    pipeline: Pipeline
    shadow_rate: float
    chance: Callable[[], float] = field(default=random.random)
    """Returns a number in [0, 1)."""

    def __call__(self, trace: CondenseTrace, conversation: Conversation) -> None:
        """Take note of a turn."""
        self.log.write(trace, conversation.key, conversation.tenants.log)
        if trace.window and not trace.decision.rewrite and self.chance() < self.shadow_rate:
            try:
                workers.spawn(lambda: self._shadow(trace, conversation), "shadow")
            except (workers.WorkersExhaustedError, RuntimeError):  # the turn is stored, and must not fail any more
                logger.debug("No shadow rewrite: too many calls are running")

    def _shadow(self, trace: CondenseTrace, conversation: Conversation) -> None:
        shadow = ResolvedQuery(self.pipeline, trace.turn_id, wanted=True, keep=False)
        history = [ChatMessage(role=MessageRole(m.role), content=m.full_text) for m in trace.window.all_messages]
        try:
            drive(shadow.resolve(trace.message, history))
        except Exception as error:  # noqa: BLE001 - a label is missing, nothing else
            logger.debug("Shadow rewrite failed: %s", type(error).__name__)
            return
        seen = {"window": shadow.window, "rewrite": shadow.result, "plan": shadow.plan, "timings": shadow.timings}
        rewritten = replace(trace, **seen, retrievals=())  # type: ignore[arg-type]
        self.log.write(rewritten, conversation.key, conversation.tenants.log, kind="shadow")
