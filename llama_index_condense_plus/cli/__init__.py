"""The command line: ``condense-plus COMMAND``; each command is a module that is loaded when it is called."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Collection, Sequence

from llama_index_condense_plus._version import __version__

COMMANDS: dict[str, tuple[str, str]] = {
    "demo": ("llama_index_condense_plus.cli.demo", "see what follow-up questions find, with nothing to configure"),
    "ask": ("llama_index_condense_plus.cli.ask", "chat over a folder of your own files"),
    "explain": ("llama_index_condense_plus.cli.explain", "show how a question would be searched, and why"),
    "eval": ("llama_index_condense_plus.evaluation.commands", "measure engines on conversations, and report"),
    "log": ("llama_index_condense_plus.cli.log", "summarise, filter and export the rewrite log"),
    "train": ("llama_index_condense_plus.cli.train", "train the gate on your own conversations"),
}
"""Command → the module with its ``configure(parser)`` and ``run(arguments) -> int``, and its line in the help."""

FAILURE = 1
USAGE_ERROR = 2
INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command.

    Args:
        arguments: words after the program's name; default those of the process.

    Returns:
        The exit code: 0, 1 for a failure that the command reports, 2 for wrong options, 130 when interrupted.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    parser = _parser(words[:1])
    parsed = parser.parse_args(words)
    if not parsed.command:
        parser.print_help()
        return USAGE_ERROR
    from llama_index_condense_plus.errors import CondensePlusError  # noqa: PLC0415, --help and --version stay quick

    try:
        return int(importlib.import_module(COMMANDS[parsed.command][0]).run(parsed))
    except CondensePlusError as error:
        print(f"condense-plus {parsed.command}: {error}", file=sys.stderr)
        return USAGE_ERROR
    except _model_errors() as error:
        print(
            f"condense-plus {parsed.command}: the language model failed: {error} "
            "Check --api-base, --model and OPENAI_API_KEY, or unset the key to run without a model.",
            file=sys.stderr,
        )
        return FAILURE
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # the reader, such as head, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _model_errors() -> tuple[type[Exception], ...]:
    """Return what the OpenAI client raises, if it was loaded."""
    client = sys.modules.get("openai")
    return (client.APIError,) if client else ()


def _parser(loaded: Collection[str]) -> argparse.ArgumentParser:
    """Return the parser; only the named commands' modules are loaded for their options."""
    parser = argparse.ArgumentParser(
        prog="condense-plus",
        description="Multi-turn RAG in LlamaIndex that finds the right passage.",
        epilog="example: condense-plus demo\nhelp on a command: condense-plus COMMAND --help",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    for name, (module, help_text) in COMMANDS.items():
        added = commands.add_parser(
            name,
            help=help_text,
            description=help_text[0].upper() + help_text[1:] + ".",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        if name in loaded:
            importlib.import_module(module).configure(added)
    return parser
