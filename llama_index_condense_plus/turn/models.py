"""Asking a language model: options that it refuses are left out, structured output falls back to text."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass
from typing import Any, ClassVar
from weakref import WeakKeyDictionary

from llama_index.core.base.llms.types import ChatResponse
from llama_index.core.llms.llm import LLM

from llama_index_condense_plus import workers
from llama_index_condense_plus._compat import warn_once
from llama_index_condense_plus.operations import Flow, Predict, Prediction, Race
from llama_index_condense_plus.turn.operations import Chat, Complete, TurnOperation

logger = logging.getLogger(__name__)

_refused: WeakKeyDictionary[type[LLM], dict[str, set[str]]] = WeakKeyDictionary()
"""By class and model name: options that a model does not take."""


def ask(predict: Predict | Race, default: LLM) -> Flow[Prediction]:
    """Perform a prediction as operations of the driver.

    Args:
        predict: what to ask; its own ``llm`` wins over ``default``.
        default: the model asked otherwise.

    Raises:
        Exception: what the model raises, ``TimeoutError`` past the deadline among them.
    """
    if isinstance(predict, Race):
        calls = tuple(_call(p, p.llm or default) for p in predict.predicts)
        return _prediction((yield RaceCalls(calls, timeout_s=predict.predicts[0].timeout_s)))
    llm = predict.llm or default
    while True:
        call = _call(predict, llm)
        try:
            return _prediction((yield call))
        except (TimeoutError, asyncio.TimeoutError):
            raise
        except Exception as error:
            if not isinstance(call, Chat) or not _learn(llm, call, error):
                raise


def _call(predict: Predict, llm: LLM) -> Chat | Complete:
    if predict.prompt is not None:
        return Complete(llm, predict.prompt, dict(predict.prompt_args), timeout_s=predict.timeout_s)
    refused = _refused_by(llm)
    options = {name: value for name, value in predict.options.items() if name not in refused}
    output_cls = None if "structured output" in refused else predict.output_cls
    return Chat(llm, predict.messages, options, output_cls, timeout_s=predict.timeout_s)


def _refused_by(llm: LLM) -> set[str]:
    return _refused.setdefault(type(llm), {}).setdefault(llm.metadata.model_name, set())


def _learn(llm: LLM, call: Chat, error: Exception) -> bool:
    """Note what a model refused; return True if asking again without it makes sense."""
    text = str(error).lower()
    named = {name for name in call.options if name.lower() in text}
    if not named and isinstance(error, TypeError):
        named = set(call.options)
    if not named and call.output_cls is not None and isinstance(error, (ValueError, NotImplementedError, TypeError)):
        named = {"structured output"}
    if not named:
        return False
    _refused_by(llm).update(named)
    warn_once(
        f"{llm.metadata.model_name}:{sorted(named)}",
        f"{llm.metadata.model_name} refuses {', '.join(sorted(named))}; it is asked without from now on.",
    )
    return True


def _prediction(response: ChatResponse | str) -> Prediction:
    if isinstance(response, str):
        return Prediction(response)
    raw = response.raw
    usage = raw.get("usage") if isinstance(raw, Mapping) else getattr(raw, "usage", None)
    prompt, completion = (
        _count(response.additional_kwargs, usage, name) for name in ("prompt_tokens", "completion_tokens")
    )
    return Prediction(response.message.content or "", prompt, completion)


def _count(extra: Mapping[str, Any], usage: Any, name: str) -> int | None:
    value = extra.get(name)
    if value is None:
        value = usage.get(name) if isinstance(usage, Mapping) else getattr(usage, name, None)
    return value if isinstance(value, int) else None


@dataclass(frozen=True)
class RaceCalls(TurnOperation["ChatResponse | str"]):
    """Call several models at once; the first answer that says something wins."""

    calls: Sequence[Chat | Complete]
    name: ClassVar[str] = "race"

    def run(self) -> ChatResponse | str:
        pending: set[Future[Any]] = {workers.submit(call.run, call.name) for call in self.calls}
        error: BaseException = ValueError("every model answered nothing")
        while pending:
            done, pending = wait(pending, return_when=FIRST_COMPLETED)
            for future in done:
                if future.exception() is None and _says_something(future.result()):
                    return future.result()  # type: ignore[no-any-return]
                error = future.exception() or error
        raise error

    async def arun(self) -> ChatResponse | str:
        pending: set[asyncio.Task[Any]] = {asyncio.create_task(call.arun()) for call in self.calls}
        error: BaseException = ValueError("every model answered nothing")
        try:
            while pending:
                done, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    if task.exception() is None and _says_something(task.result()):
                        return task.result()  # type: ignore[no-any-return]
                    error = task.exception() or error
        finally:
            for task in pending:
                task.cancel()
        raise error


def _says_something(response: ChatResponse | str) -> bool:
    text = response if isinstance(response, str) else response.message.content
    return bool(text and text.strip())
