"""``condense-plus demo``: scripted conversations that need no key and no server."""

from __future__ import annotations

import argparse

from llama_index_condense_plus.cli.options import add_engine_options, require
from llama_index_condense_plus.demo.models import ModelChoice

EXAMPLES = """examples:
  condense-plus demo                       the score and three exchanges, no key, no server
  condense-plus demo --all                 every turn
  condense-plus demo --lang zh             in Chinese
  condense-plus demo --ask                 ask about the demo's passages yourself
  OPENAI_API_KEY=… condense-plus demo      with OpenAI, beside the stock engine
  condense-plus demo --api-base http://127.0.0.1:8080/v1 --model qwen2.5
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.epilog = EXAMPLES
    parser.add_argument("--all", action="store_true", help="show every turn")
    parser.add_argument("--lang", metavar="CODE", help="language of the screen: en (default) or zh")
    parser.add_argument("--ask", action="store_true", help="chat instead of playing the scripted conversations")
    add_engine_options(parser)


def run(arguments: argparse.Namespace) -> int:
    """Play the demo, or chat."""
    require("rich", extra="demo")
    from llama_index_condense_plus.demo.run import DemoOptions, run_demo  # noqa: PLC0415, needs the extra

    options = {name: getattr(arguments, name) for name in ("embed_model", "ask", "all", "lang", "json")}
    run_demo(DemoOptions(model=ModelChoice.of(arguments), **options))
    return 0
