"""Which language model the demo and the commands talk to, if any."""

from __future__ import annotations

import argparse
import os
import urllib.error
import urllib.request
from dataclasses import dataclass

from llama_index.core.llms.llm import LLM

from llama_index_condense_plus.errors import ConfigurationError

DEFAULT_OPENAI_MODEL = "gpt-4o-mini"
"""Model asked when there is only an ``OPENAI_API_KEY``."""
CONTEXT_TOKENS = 4096
"""Context assumed of an unknown server, in tokens: the least that current servers are started with."""
ANSWER_TOKENS = 300
"""Longest answer, in tokens."""
TIMEOUT_S = 120.0
CHECK_S = 5.0
"""Deadline of a call in seconds: a small model on two cores needs one of them."""


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """What the user said about the language model."""

    api_base: str | None = None
    """Base URL of an OpenAI-compatible server, for example ``http://127.0.0.1:8080/v1``."""
    model: str | None = None
    """Name of the model."""

    @classmethod
    def of(cls, arguments: argparse.Namespace) -> ModelChoice:
        """Return what the options of ``add_model_options`` say."""
        return cls(arguments.api_base, arguments.model)

    @property
    def name(self) -> str:
        """The model that ``load`` returns."""
        return self.model or DEFAULT_OPENAI_MODEL

    def load(self) -> LLM | None:
        """Return the model, or None if neither a server nor a key is configured.

        Raises:
            ConfigurationError: a server without a model name, a model name without a server or key, a server that
                does not answer, or no client.
        """
        key = os.environ.get("OPENAI_API_KEY")
        if self.api_base and not self.model:
            raise ConfigurationError("--api-base needs --model, the name under which the server offers its model.")
        if not self.api_base and not key:
            if self.model:
                raise ConfigurationError("--model needs --api-base, or a key in OPENAI_API_KEY.")
            return None
        try:
            from llama_index.llms.openai import OpenAI  # noqa: PLC0415, an extra
            from llama_index.llms.openai_like import OpenAILike  # noqa: PLC0415
        except ImportError:
            raise ConfigurationError(
                "The OpenAI client is missing: pip install 'llama-index-condense-plus[openai]'."
            ) from None
        if not self.api_base:
            return OpenAI(model=self.model or DEFAULT_OPENAI_MODEL, temperature=0.0, timeout=TIMEOUT_S)
        _check_server(self.api_base)
        return OpenAILike(
            model=self.model or "",
            api_base=self.api_base,
            api_key=key or "none",
            is_chat_model=True,
            context_window=CONTEXT_TOKENS,
            max_tokens=ANSWER_TOKENS,
            temperature=0.0,
            timeout=TIMEOUT_S,
        )


def add_model_options(parser: argparse.ArgumentParser) -> None:
    """Add the choice of a language model to a command."""
    group = parser.add_argument_group("language model", "OPENAI_API_KEY in the environment is used if it is set")
    group.add_argument("--api-base", metavar="URL", help="an OpenAI-compatible server, http://127.0.0.1:8080/v1")
    group.add_argument("--model", metavar="NAME", help="the model's name")


def _check_server(api_base: str) -> None:
    try:
        request = urllib.request.Request(f"{api_base.rstrip('/')}/models")  # noqa: S310 - the user's own server
        urllib.request.urlopen(request, timeout=CHECK_S).close()  # noqa: S310
    except urllib.error.HTTPError:
        return  # it answers; not every server lists its models
    except (OSError, ValueError) as error:
        raise ConfigurationError(
            f"--api-base: no server answers at {api_base} ({error}). Start it, or leave --api-base out."
        ) from None
