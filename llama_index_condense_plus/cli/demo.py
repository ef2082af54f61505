"""``condense-plus demo``."""

from __future__ import annotations

import argparse
from pathlib import Path

from llama_index_condense_plus.cli.options import add_engine_options, model_choice
from llama_index_condense_plus.cli.requirements import require

EXAMPLES = """examples:
  condense-plus demo                                   scripted conversations in Chinese and English, no key, no server
  condense-plus demo --ask                             ask about the demo's passages yourself
  condense-plus demo --docs my/notes                   ask about your own files
  OPENAI_API_KEY=… condense-plus demo                  with OpenAI, and the stock engine beside it
  condense-plus demo --api-base http://127.0.0.1:8080/v1 --model qwen2.5
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.epilog = EXAMPLES
    parser.add_argument("--ask", action="store_true", help="chat instead of playing the scripted conversations")
    parser.add_argument("--docs", type=Path, metavar="DIR", help="chat over the files of a folder")
    add_engine_options(parser)


def run(arguments: argparse.Namespace) -> int:
    """Play the demo, or chat."""
    require("rich", extra="demo")
    from llama_index_condense_plus.demo.run import DemoOptions, run_demo  # noqa: PLC0415, needs the extra

    run_demo(
        DemoOptions(
            model=model_choice(arguments),
            embed_model=arguments.embed_model,
            docs=arguments.docs,
            ask=arguments.ask,
            json=arguments.json,
        )
    )
    return 0
