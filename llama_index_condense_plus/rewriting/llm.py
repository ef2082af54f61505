"""The rewriters that ask a model or join turns, and the chain's construction."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from llama_index.core.base.llms.generic_utils import messages_to_history_str
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.chat_engine.condense_question import DEFAULT_PROMPT
from llama_index.core.llms.llm import LLM
from llama_index.core.prompts.base import BasePromptTemplate, PromptTemplate

from llama_index_condense_plus.errors import ConfigurationError
from llama_index_condense_plus.operations import Flow, Predict, Rewritten, RuleOutcome
from llama_index_condense_plus.protocols import Rewriter
from llama_index_condense_plus.rewriting.carry import CarryRewriter
from llama_index_condense_plus.rewriting.history import render
from llama_index_condense_plus.rewriting.prompt import (
    Clock,
    StandaloneQuestion,
    build_prompt,
    fitting,
    read_shots,
    shipped_shots,
)
from llama_index_condense_plus.settings.sections import RewriteSettings
from llama_index_condense_plus.types import CARRY, CHAT_HISTORY, CONTEXT_WINDOW, RewriteRequest

END_OF_CHAIN = "original"
"""Name in ``rewrite.chain`` that stands for the user's own words."""
JOINED_MESSAGES = 6
JOINED_CHARS = 480
"""What ``concat`` puts before the question: the last messages, within the length of a query."""


class LLMRewriter:
    """Asks a language model for a standalone question.

    Args:
        settings: the ``rewrite`` section.
        llm: the model; None: the engine's.
        prompt: a template of the user's own with ``{chat_history}`` and ``{question}``; it wins over the built-in one.
        clock: the present time, for relative dates; default the system's.
    """

    name = "llm"

    def __init__(
        self,
        settings: RewriteSettings | None = None,
        *,
        llm: LLM | None = None,
        prompt: BasePromptTemplate | str | None = None,
        clock: Clock | None = None,
    ) -> None:
        self.settings: RewriteSettings = settings or RewriteSettings()
        self.llm = llm
        own = as_template(prompt) if prompt is not None else _read_prompt(self.settings.prompt_file)
        self.prompt: BasePromptTemplate | None = own
        self._shots = read_shots(self.settings.shots_file) if self.settings.shots_file else None
        self._clock = clock

    @property
    def shown_shots(self) -> tuple[str, ...]:
        """The words of the examples that the prompt shows: a small model copies them."""
        shots = shipped_shots() if self._shots is None else self._shots
        said = (text for s in shots for text in (s.question, s.rewrite, *(words for _, words in s.history)))
        return tuple(said) if self.prompt is None else ()

    def predict(self, request: RewriteRequest) -> Predict:
        """Return the call that ``rewrite`` makes."""
        settings = self.settings
        options = {"temperature": settings.temperature, "max_tokens": settings.max_tokens}
        default: Callable[[], int | None] = request.extra.get(CONTEXT_WINDOW, lambda: None)
        limit = self.llm.metadata.context_window if self.llm else default()
        if self.prompt is None:
            messages = build_prompt(request, settings, shots=self._shots, clock=self._clock, context_window=limit)
            form = StandaloneQuestion if settings.output == "structured" else None
            call = Predict(messages=messages, output_cls=form)
        else:
            static = str(self.prompt.get_template())
            history, message = fitting(request, static, settings.max_tokens, limit)
            call = Predict(prompt=self.prompt, prompt_args={"chat_history": history, "question": message})
        return replace(call, options=options, timeout_s=request.timeout_s, llm=self.llm)

    def rewrite(self, request: RewriteRequest) -> Flow[Rewritten]:
        """Ask the model."""
        prediction: Rewritten = yield self.predict(request)
        return prediction


class StockRewriter:
    """Asks as LlamaIndex's CondenseQuestionChatEngine does: its prompt, the whole raw history, no options.

    Args:
        prompt: a template of the user's own with ``{chat_history}`` and ``{question}``.
        llm: the model; None: the engine's.
    """

    name = "stock"

    def __init__(self, *, prompt: BasePromptTemplate | str | None = None, llm: LLM | None = None) -> None:
        self.prompt: BasePromptTemplate = DEFAULT_PROMPT if prompt is None else as_template(prompt)
        self.llm = llm

    def rewrite(self, request: RewriteRequest) -> Flow[Rewritten]:
        """Ask the model, with the messages in ``request.extra["chat_history"]`` as they are."""
        raw: Sequence[ChatMessage] | None = request.extra.get(CHAT_HISTORY)
        history = request.window.text if raw is None else messages_to_history_str(raw)
        prediction: Rewritten = yield Predict(
            prompt=self.prompt,
            prompt_args={"question": request.message, "chat_history": history},
            timeout_s=request.timeout_s,
            llm=self.llm,
        )
        return prediction


class ConcatRewriter:
    """Puts the last six messages, labelled, in front of the question: crude, but it needs no model."""

    name = "concat"

    def rewrite(self, request: RewriteRequest) -> RuleOutcome | None:
        """Return the messages and the question on one line; None without history."""
        said = request.window.all_messages[-JOINED_MESSAGES:]
        if not said:
            return None
        each = max(0, JOINED_CHARS - len(request.message)) // len(said)
        shown = [replace(message, text=message.full_text[:each]) for message in said]
        return RuleOutcome(" ".join(f"{render([shown])}\n{request.message}".split()))


def as_template(prompt: BasePromptTemplate | str) -> BasePromptTemplate:
    """Return a prompt as a template.

    Raises:
        ConfigurationError: ``{chat_history}`` or ``{question}`` is missing.
    """
    template = PromptTemplate(prompt) if isinstance(prompt, str) else prompt
    missing = {"chat_history", "question"} - set(template.template_vars) - set(template.kwargs)
    if missing:
        names = " and ".join(f"{{{name}}}" for name in sorted(missing))
        raise ConfigurationError(f"The condense prompt lacks {names}.")
    return template


def build_rewriters(
    settings: RewriteSettings,
    llm: LLM | None = None,
    prompt: BasePromptTemplate | str | None = None,
    custom: Mapping[str, Rewriter] | None = None,
    clock: Clock | None = None,
) -> tuple[Rewriter, ...]:
    """Return the rewriters of ``rewrite.chain`` in order; ``original`` ends the chain.

    Args:
        settings: the ``rewrite`` section.
        llm: the rewriting model; None: the engine's.
        prompt: the user's own condense prompt.
        custom: the user's own rewriters by name; they win over built-in ones of the same name.
        clock: the present time, for relative dates.

    Raises:
        ConfigurationError: a name is unknown; the message names the nearest.
    """
    known: dict[str, Callable[[], Rewriter]] = {
        "llm": lambda: LLMRewriter(settings, llm=llm, prompt=prompt, clock=clock),
        "stock": lambda: StockRewriter(prompt=prompt, llm=llm),
        CARRY: CarryRewriter,
        "concat": ConcatRewriter,
    }
    own = custom or {}
    chain: list[Rewriter] = []
    for name in settings.chain:
        if name == END_OF_CHAIN:
            break
        if name not in own and name not in known:
            valid = [*known, END_OF_CHAIN, *own]
            near = difflib.get_close_matches(name, valid, n=1, cutoff=0.5)
            hint = f"Did you mean {near[0]}?" if near else f"Valid: {', '.join(valid)}."
            raise ConfigurationError(f"Option rewrite.chain: no rewriter is called {name!r}. {hint}")
        chain.append(own[name] if name in own else known[name]())
    return tuple(chain)


def _read_prompt(path: Path | None) -> BasePromptTemplate | None:
    if path is None:
        return None
    try:
        return as_template(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError) as error:
        if isinstance(error, ConfigurationError):
            raise
        raise ConfigurationError(f"Option rewrite.prompt_file: cannot read {path}: {error}") from None
