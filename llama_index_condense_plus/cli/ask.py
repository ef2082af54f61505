"""``condense-plus ask``: the demo's chat, over files of the user's own."""

from __future__ import annotations

import argparse
from pathlib import Path

from llama_index_condense_plus.cli import demo
from llama_index_condense_plus.cli.options import add_engine_options

EXAMPLES = """examples:
  condense-plus ask docs/                              chat; /why shows how the last question was searched
  condense-plus ask docs/ --api-base http://127.0.0.1:8080/v1 --model qwen2.5
  printf '%s\\n' "What is a guard?" "How do I write one?" | condense-plus ask docs/ --json
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.epilog = EXAMPLES
    parser.add_argument("docs", metavar="folder", type=Path, help="folder with the files to search")
    add_engine_options(parser)
    parser.set_defaults(ask=True)


def run(arguments: argparse.Namespace) -> int:
    """Index the folder and chat."""
    return demo.run(arguments)
