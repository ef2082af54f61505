"""The command line: ``condense-plus COMMAND``; each command is a module that is loaded when it is called."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence

from llama_index_condense_plus._version import __version__

COMMANDS: dict[str, tuple[str, str]] = {
    "demo": ("llama_index_condense_plus.demo.play", "see what follow-up questions find, with nothing to configure"),
    "ask": ("llama_index_condense_plus.demo.ask", "chat over a folder of your own files"),
    "explain": ("llama_index_condense_plus.cli.explain", "show how a question would be searched, and why"),
    "eval": ("llama_index_condense_plus.evaluation.commands", "measure engines on conversations, and report"),
    "log": ("llama_index_condense_plus.cli.log", "summarise, filter and export the rewrite log"),
    "train": ("llama_index_condense_plus.cli.train", "train the gate on your own conversations"),
}
"""Command → the module with its ``configure(parser)`` and ``run(arguments) -> int``, and its line in the help."""

CHECK_MODEL = "Check --api-base, --model and OPENAI_API_KEY, or unset the key to run without a model."
FAILURE = 1
USAGE_ERROR = 2
INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:  # noqa: PLR0911 - one for each way to end
    """Run a command.

    Args:
        arguments: words after the program's name; default those of the process.

    Returns:
        The exit code: 0, 1 for a failure that the command reports, 2 for wrong options, 130 when interrupted.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    from llama_index_condense_plus.errors import CondensePlusError  # noqa: PLC0415, --help and --version stay quick

    command = words[0] if words else ""
    try:
        parser = _parser(command)
        parsed = parser.parse_args(words)
        if not parsed.command:
            parser.print_help()
            return USAGE_ERROR
        return int(importlib.import_module(COMMANDS[parsed.command][0]).run(parsed))
    except CondensePlusError as error:
        print(f"condense-plus {command}: {error}", file=sys.stderr)
        return USAGE_ERROR
    except ModuleNotFoundError as error:
        install = "pip install 'llama-index-condense-plus[demo]'"
        print(f"condense-plus {command}: {error.name} is missing: {install}", file=sys.stderr)
        return USAGE_ERROR
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # the reader, such as head, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        client = sys.modules.get("openai")
        if client is None or not isinstance(error, client.APIError):
            raise
        print(f"condense-plus {command}: the language model failed: {error} {CHECK_MODEL}", file=sys.stderr)
        return FAILURE


def _parser(command: str) -> argparse.ArgumentParser:
    """Return the parser; only the named command's module is loaded, for its options."""
    parser = argparse.ArgumentParser(
        prog="condense-plus",
        description="Multi-turn RAG in LlamaIndex that finds the right passage.",
        epilog="example: condense-plus demo\nhelp on a command: condense-plus COMMAND --help",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    for name, (module, text) in COMMANDS.items():
        about = f"{text[0].upper()}{text[1:]}."
        added = commands.add_parser(name, help=text, description=about, formatter_class=parser.formatter_class)
        if name == command:
            importlib.import_module(module).configure(added)
    return parser
