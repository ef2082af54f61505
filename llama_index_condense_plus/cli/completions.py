"""``condense-plus completions``: what a shell needs to complete commands and options."""

from __future__ import annotations

import argparse
import json

from llama_index_condense_plus.cli.options import add_json_option
from llama_index_condense_plus.cli.requirements import require

EXAMPLES = """examples:
  condense-plus completions bash > ~/.local/share/bash-completion/completions/condense-plus
  condense-plus completions zsh > "${fpath[1]}/_condense-plus"
  condense-plus completions fish > ~/.config/fish/completions/condense-plus.fish
"""
SHELLS = ("bash", "zsh", "fish")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.epilog = EXAMPLES
    parser.add_argument("shell", choices=SHELLS, help="the shell to complete in")
    add_json_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print the script."""
    require("shtab", extra="completions")
    import shtab  # noqa: PLC0415, an extra

    from llama_index_condense_plus.cli import full_parser  # noqa: PLC0415, it loads this module

    script = shtab.complete(full_parser(), shell=arguments.shell)
    print(json.dumps({"shell": arguments.shell, "script": script}) if arguments.json else script)
    return 0
