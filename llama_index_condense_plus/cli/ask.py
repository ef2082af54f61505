"""``condense-plus ask``: a chat over files of the user's own."""

from __future__ import annotations

import argparse
import hashlib
import os
from pathlib import Path

from llama_index_condense_plus.cli.options import add_engine_options, require
from llama_index_condense_plus.demo.models import ModelChoice

EXAMPLES = """examples:
  condense-plus ask docs/                              chat; /why shows how the last question was searched
  condense-plus ask docs/ --api-base http://127.0.0.1:8080/v1 --model qwen2.5
  condense-plus ask docs/ --store my.index             keep the index in this folder
  printf '%s\\n' "What is a guard?" "How do I write one?" | condense-plus ask docs/ --json
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.epilog = EXAMPLES
    parser.add_argument("docs", metavar="DIR", type=Path, help="folder with the files to search")
    parser.add_argument(
        "--store", type=Path, metavar="DIR", help="folder of the index between runs (default: the cache folder)"
    )
    add_engine_options(parser)


def run(arguments: argparse.Namespace) -> int:
    """Index what is new in the folder and chat."""
    require("rich", extra="demo")
    from llama_index_condense_plus.demo.run import DemoOptions, run_demo  # noqa: PLC0415, needs the extra

    store = arguments.store or _cache_folder(arguments.docs, arguments.embed_model)
    store.mkdir(parents=True, exist_ok=True, mode=0o700)
    run_demo(
        DemoOptions(
            model=ModelChoice.of(arguments),
            embed_model=arguments.embed_model,
            docs=arguments.docs,
            store=store,
            json=arguments.json,
        )
    )
    return 0


def _cache_folder(docs: Path, embed_model: str | None) -> Path:
    """Return a folder of the user's cache that belongs to these files and this embedding."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    key = hashlib.sha256(f"{docs.resolve()}\n{embed_model}".encode()).hexdigest()[:16]
    return cache / "condense-plus" / key
