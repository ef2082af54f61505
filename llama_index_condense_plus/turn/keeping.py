"""What is kept of a turn once its messages are stored: its record, its topic, its log row, the summary."""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from llama_index.core.base.llms.types import ChatMessage, MessageRole

from llama_index_condense_plus import workers
from llama_index_condense_plus.memory.records import TurnRecord, opens_topic
from llama_index_condense_plus.memory.summary import RollingSummaryBlock, summary_block
from llama_index_condense_plus.observability.rewrite_log import RewriteLog
from llama_index_condense_plus.observability.trace import CondenseTrace
from llama_index_condense_plus.turn.conversation import Conversation, TurnOptions
from llama_index_condense_plus.turn.flow import drive
from llama_index_condense_plus.turn.pipeline import Pipeline
from llama_index_condense_plus.turn.query import Finder

logger = logging.getLogger(__name__)
_tasks: set[asyncio.Task[bool]] = set()  # an event loop keeps only weak references


@dataclass
class Keeper:
    """Keeps one turn; never raises, for the turn is stored."""

    conversation: Conversation
    """Where the turn belongs."""
    trace: CondenseTrace
    """What happened."""
    after_turn: Callable[[CondenseTrace, Conversation], None] | None = None
    """Called at the end."""

    def keep(self) -> None:
        """Keep record and topic, before the next turn may run."""
        state = self.conversation.state
        state.records.add(self._record())
        if self._opens_topic():
            state.set_topic(self.trace.message)
            state.records.open_topic(self.trace.message)

    async def akeep(self) -> None:
        """Keep record and topic, before the next turn may run."""
        state = self.conversation.state
        await state.records.aadd(self._record())
        if self._opens_topic():
            state.set_topic(self.trace.message)
            await state.records.aopen_topic(self.trace.message)

    def follow(self, *, on_loop: bool) -> None:
        """Do what may take longer, beside the next turn; on this thread's event loop where the turn ran on one."""
        if self.after_turn is not None:
            self.after_turn(self.trace, self.conversation)
        block = summary_block(self.conversation.memory)
        if block is None or not self.conversation.state.begin_refresh():
            return
        if on_loop:
            task = asyncio.get_running_loop().create_task(self._refresh(block))
            _tasks.add(task)
            task.add_done_callback(_tasks.discard)
            return
        try:
            workers.spawn(lambda: asyncio.run(self._refresh(block)), "summary")
        except (workers.WorkersExhaustedError, RuntimeError) as error:
            self.conversation.state.end_refresh()
            logger.warning("The summary was not refreshed: %s", type(error).__name__)

    async def _refresh(self, block: RollingSummaryBlock) -> bool:
        try:
            memory = self.conversation.memory
            return await block.arefresh(memory, self.conversation.lock)  # type: ignore[arg-type]
        finally:
            self.conversation.state.end_refresh()

    def _opens_topic(self) -> bool:
        return opens_topic(self.trace.decision, self.trace.message, self.trace.window)

    def _record(self) -> TurnRecord:
        trace = self.trace
        return TurnRecord(
            turn_id=trace.turn_id,
            message=trace.message,
            query=trace.search_query,
            status=trace.rewrite.status.value,
            reason=trace.decision.reason.value,
            cache_keys=tuple(a.cache_key for a in trace.rewrite.attempts if a.cache_key),
        )


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
        history = [ChatMessage(role=MessageRole(m.role), content=m.full_text) for m in trace.window.all_messages]
        try:
            found = drive(finder.run(trace.message, history))
        except Exception as error:  # noqa: BLE001 - a label is missing, nothing else
            logger.debug("Shadow rewrite failed: %s", type(error).__name__)
            return
        rewritten = replace(
            trace, window=found.window, rewrite=found.result, plan=found.plan, timings=found.timings, retrievals=()
        )
        self.log.write(rewritten, conversation.key, conversation.tenants.log, kind="shadow")
