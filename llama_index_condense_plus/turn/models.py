"""Asking a language model: options that it refuses are left out, structured output falls back to text."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import Any
from weakref import WeakKeyDictionary

from llama_index.core.base.llms.types import ChatResponse
from llama_index.core.llms.llm import LLM

from llama_index_condense_plus import _compat, workers
from llama_index_condense_plus.operations import Flow, Predict, Prediction, Race
from llama_index_condense_plus.turn.flow import Step, in_worker

logger = logging.getLogger(__name__)
STRUCTURED = "structured output"

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
        steps = [_step(p, p.llm or default) for p in predict.predicts]
        return _prediction((yield _race(steps, predict.predicts[0].timeout_s)))
    llm = predict.llm or default
    while True:
        try:
            return _prediction((yield _step(predict, llm)))
        except (TimeoutError, asyncio.TimeoutError):
            raise
        except Exception as error:
            if predict.prompt is not None or not _learn(llm, predict, error):
                raise


def _step(predict: Predict, llm: LLM) -> Step:
    prompt, values, blocks = predict.prompt, dict(predict.prompt_args), _compat.blocks_event_loop(llm)
    if prompt is not None:
        run = lambda: llm.predict(prompt, **values)  # noqa: E731 - the twin of the line below
        arun: Any = lambda: llm.apredict(prompt, **values)  # noqa: E731
        blocks = blocks and predict.timeout_s is not None
    else:
        refused = _refused_by(llm)
        options = {name: value for name, value in predict.options.items() if name not in refused}
        model = llm.as_structured_llm(predict.output_cls) if predict.output_cls and STRUCTURED not in refused else llm
        messages = _compat.messages_for(llm, predict.messages)
        run = lambda: model.chat(messages, **options)  # type: ignore[return-value,assignment]  # noqa: E731
        arun = lambda: model.achat(messages, **options)  # noqa: E731
    return Step("model call", run, (lambda: in_worker(run, "model call")) if blocks else arun, predict.timeout_s)


def _refused_by(llm: LLM) -> set[str]:
    return _refused.setdefault(type(llm), {}).setdefault(llm.metadata.model_name, set())


def _learn(llm: LLM, predict: Predict, error: Exception) -> bool:
    """Note what a model refused; return True if asking again without it makes sense."""
    text, refused = str(error).lower(), _refused_by(llm)
    given = set(predict.options) - refused
    named = {name for name in given if name.lower() in text} or (given if isinstance(error, TypeError) else set())
    is_structured = predict.output_cls is not None and STRUCTURED not in refused
    if not named and is_structured and isinstance(error, (ValueError, NotImplementedError, TypeError)):
        named = {STRUCTURED}
    if named:
        refused.update(named)
        words = ", ".join(sorted(named))
        model = llm.metadata.model_name
        _compat.warn_once(f"{model}:{words}", f"{model} refuses {words}; it is asked without from now on.")
    return bool(named)


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


def _race(steps: Sequence[Step], timeout_s: float | None) -> Step:
    """Call several models at once; the first answer that says something wins."""

    def run() -> Any:
        pending: set[Future[Any]] = {workers.submit(step.run, step.name) for step in steps}
        error: BaseException = ValueError("every model answered nothing")
        while pending:
            done, pending = wait(pending, return_when=FIRST_COMPLETED)
            for future in done:
                if future.exception() is None and _says_something(future.result()):
                    return future.result()
                error = future.exception() or error
        raise error

    async def arun() -> Any:
        pending: set[asyncio.Future[Any]] = {asyncio.ensure_future(step.arun()) for step in steps}
        error: BaseException = ValueError("every model answered nothing")
        try:
            while pending:
                done, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    if task.exception() is None and _says_something(task.result()):
                        return task.result()
                    error = task.exception() or error
        finally:
            for task in pending:
                task.cancel()
        raise error

    return Step("race", run, arun, timeout_s)


def _says_something(response: ChatResponse | str) -> bool:
    text = response if isinstance(response, str) else response.message.content
    return bool(text and text.strip())
