"""Counting a language model's calls and tokens through LlamaIndex's instrumentation."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from llama_index.core.instrumentation.event_handlers import BaseEventHandler
from llama_index.core.instrumentation.events import BaseEvent
from llama_index.core.instrumentation.events.llm import LLMChatEndEvent, LLMCompletionEndEvent
from llama_index_instrumentation import get_dispatcher


@dataclass
class Tally:
    """Calls and tokens of one case."""

    calls: int = 0
    """Finished calls."""
    prompt_tokens: int | None = None
    """Prompt tokens, None until a model says."""
    completion_tokens: int | None = None
    """Completion tokens, None until a model says."""
    _mutex: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def add(self, raw: Any) -> None:
        """Count one call by the raw answer of the model's server."""
        usage = _get(raw, "usage")
        with self._mutex:
            self.calls += 1
            self.prompt_tokens = _sum(self.prompt_tokens, _get(usage, "prompt_tokens"))
            self.completion_tokens = _sum(self.completion_tokens, _get(usage, "completion_tokens"))


_tally: ContextVar[Tally | None] = ContextVar("condense_plus_evaluation_tally", default=None)


class _CallHandler(BaseEventHandler):
    """Adds each finished call to the tally of the context that made it."""

    @classmethod
    def class_name(cls) -> str:
        return "CondensePlusEvaluationCalls"

    def handle(self, event: BaseEvent, **_: Any) -> None:
        tally = _tally.get()
        if tally is not None and isinstance(event, (LLMChatEndEvent, LLMCompletionEndEvent)):
            tally.add(getattr(event.response, "raw", None))


@contextmanager
def counting_enabled() -> Iterator[None]:
    """Listen to calls inside a ``with`` block."""
    dispatcher, handler = get_dispatcher(), _CallHandler()
    dispatcher.add_event_handler(handler)
    try:
        yield
    finally:
        dispatcher.event_handlers.remove(handler)


@contextmanager
def tallied() -> Iterator[Tally]:
    """Count the calls made inside a ``with`` block, in this context and those copied from it."""
    tally = Tally()
    token = _tally.set(tally)
    try:
        yield tally
    finally:
        _tally.reset(token)


def _get(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else getattr(value, name, None)


def _sum(total: int | None, more: Any) -> int | None:
    return (total or 0) + more if isinstance(more, int) else total
