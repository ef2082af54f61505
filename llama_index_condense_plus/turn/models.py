"""Asking a language model: options that it refuses are left out, structured output falls back to text."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

from llama_index.core.base.llms.types import ChatResponse
from llama_index.core.llms.llm import LLM

from llama_index_condense_plus import _compat
from llama_index_condense_plus.flow import Step, in_worker
from llama_index_condense_plus.operations import Flow, Predict, Prediction

logger: logging.Logger = logging.getLogger(__name__)
STRUCTURED = "structured output"

_refused: WeakKeyDictionary[type[LLM], dict[str, set[str]]] = WeakKeyDictionary()
"""By class and model name: options that a model does not take."""


def ask(predict: Predict, default: LLM) -> Flow[Prediction]:
    """Perform a prediction as operations of the driver.

    Args:
        predict: what to ask; its own ``llm`` wins over ``default``.
        default: the model asked otherwise.

    Raises:
        Exception: what the model raises, ``TimeoutError`` past the deadline among them.
    """
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
    blocks = _compat.blocks_event_loop(llm)
    if predict.prompt is not None:
        run: Any = partial(llm.predict, predict.prompt, **predict.prompt_args)
        arun: Any = partial(llm.apredict, predict.prompt, **predict.prompt_args)
        blocks = blocks and predict.timeout_s is not None
    else:
        refused = _refused_by(llm)
        options = {name: value for name, value in predict.options.items() if name not in refused}
        model = llm.as_structured_llm(predict.output_cls) if predict.output_cls and STRUCTURED not in refused else llm
        messages = _compat.messages_for(llm, predict.messages)
        run, arun = partial(model.chat, messages, **options), partial(model.achat, messages, **options)
    return Step("model call", run, partial(in_worker, run, "model call") if blocks else arun, predict.timeout_s)


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
