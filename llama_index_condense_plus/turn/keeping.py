"""What is kept of a turn once its messages are stored: its record, its topic, its log row, the summary."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass

from llama_index_condense_plus import workers
from llama_index_condense_plus.memory.records import TurnRecord, opens_topic
from llama_index_condense_plus.memory.summary import RollingSummaryBlock, summary_block
from llama_index_condense_plus.observability.trace import CondenseTrace
from llama_index_condense_plus.turn.conversation import Conversation

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
        if self._opens_topic:
            state.set_topic(self.trace.message)
            state.records.open_topic(self.trace.message)

    async def akeep(self) -> None:
        """Keep record and topic, before the next turn may run."""
        state = self.conversation.state
        await state.records.aadd(self._record())
        if self._opens_topic:
            state.set_topic(self.trace.message)
            await state.records.aopen_topic(self.trace.message)

    def follow(self, *, on_loop: bool) -> None:
        """Do what may take longer, beside the next turn.

        Args:
            on_loop: True: the turn ran on this thread's event loop.
        """
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

    @property
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
