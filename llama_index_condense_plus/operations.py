"""What a flow may ask its driver for.

A flow is a generator: it yields operations, is sent their results, and has errors thrown into it. So each
stage is written once, and a synchronous and an asynchronous driver perform it.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.llms.llm import LLM
from llama_index.core.prompts.base import BasePromptTemplate
from pydantic import BaseModel

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Operation:
    """Base of everything a flow may yield."""


Flow = Generator[Operation, Any, T]
"""A generator that yields operations and returns a ``T``."""


@dataclass(frozen=True, slots=True)
class Predict(Operation):
    """A call of a language model; the driver sends back a ``Prediction``.

    Either ``messages`` (asked through ``llm.chat``) or ``prompt`` (asked through ``llm.predict``) is set.
    """

    messages: tuple[ChatMessage, ...] = ()
    """Chat messages, static text first."""
    prompt: BasePromptTemplate | None = None
    """A template of the user's own."""
    prompt_args: Mapping[str, Any] = field(default_factory=dict)
    """Values for the template."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Sampling options such as ``temperature`` and ``max_tokens``; an option that the model refuses is omitted."""
    output_cls: type[BaseModel] | None = None
    """Class of structured output, for models that support it; the text is then its JSON."""
    timeout_s: float | None = None
    """Deadline of the call in seconds."""
    llm: LLM | None = None
    """The model; None: the engine's ``condense_llm``."""


@dataclass(frozen=True, slots=True)
class Prediction:
    """What a language model returned."""

    text: str
    """Raw text."""
    prompt_tokens: int | None = None
    """Prompt tokens, if the model reports them."""
    completion_tokens: int | None = None
    """Completion tokens, if the model reports them."""


@dataclass(frozen=True, slots=True)
class RuleOutcome:
    """What a rewriter without a model returns."""

    text: str | None
    """The rewrite; None if it declined."""
    ambiguous: bool = False
    """True if two candidates fit the reference equally well."""
    candidates: tuple[str, ...] = ()
    """The candidates that fit, best first, if ambiguous."""
    confidence: float = 0.0
    """Estimated probability in [0, 1] that the candidate is the right one."""


Rewritten = Prediction | RuleOutcome | None
"""What a rewriter's flow returns; None: it declined."""
