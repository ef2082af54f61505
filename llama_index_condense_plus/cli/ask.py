"""``condense-plus ask``."""

from __future__ import annotations

import argparse
from pathlib import Path

from llama_index_condense_plus.cli.options import (
    add_embedding_option,
    add_json_option,
    add_model_options,
    model_choice,
)
from llama_index_condense_plus.cli.requirements import require

EXAMPLES = """examples:
  condense-plus ask docs/                              chat; /why shows how the last question was searched
  condense-plus ask docs/ --api-base http://127.0.0.1:8080/v1 --model qwen2.5
  printf '%s\\n' "What is a guard?" "How do I write one?" | condense-plus ask docs/ --json
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.epilog = EXAMPLES
    parser.add_argument("folder", type=Path, help="folder with the files to search")
    add_embedding_option(parser)
    add_model_options(parser)
    add_json_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Index the folder and chat."""
    require("rich", extra="demo")
    from llama_index_condense_plus.demo.run import DemoOptions, run_demo  # noqa: PLC0415, needs the extra

    run_demo(
        DemoOptions(
            model=model_choice(arguments),
            embed_model=arguments.embed_model,
            docs=arguments.folder,
            json=arguments.json,
        )
    )
    return 0
