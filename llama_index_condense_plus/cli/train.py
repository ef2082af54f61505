"""``condense-plus train``: a gate that has learned from your own conversations."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from llama_index_condense_plus.cli.options import add_json_option, require
from llama_index_condense_plus.errors import ConfigurationError
from llama_index_condense_plus.evaluation.logged import as_training_row, read_turns
from llama_index_condense_plus.evaluation.reading import DataFileError, read_json_lines
from llama_index_condense_plus.evaluation.train import train_trigger

EXAMPLES = """examples:
  condense-plus train condense-plus.jsonl --output gate.json
  condense-plus log training condense-plus.jsonl --output rows.jsonl      correct the labels, then:
  condense-plus train rows.jsonl --output gate.json

A row has message, history (a list of role and content) and need (true or false). A rewrite log gives such rows by
itself, with log.content = "full" and log.shadow_rate above 0, for what was skipped needs labels too. The package's own
cases are trained on as well, so that a few hundred turns of yours are enough. Used by: trigger.weights_file.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.epilog = EXAMPLES
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE", help="rewrite logs, or JSON Lines of rows")
    parser.add_argument("--output", type=Path, required=True, metavar="FILE", help="the file for the weights")
    add_json_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Train and write the weights."""
    require("sklearn", extra="train")
    rows = [row for file in arguments.files for row in _rows(file)]
    if not arguments.output.parent.is_dir():
        raise ConfigurationError(f"--output: there is no folder {arguments.output.parent}")
    model = train_trigger(rows, arguments.output)
    needed = sum(bool(row["need"]) for row in rows)
    if arguments.json:
        result = {
            "rows": len(rows),
            "need": needed,
            "features": len(model),
            "weights_file": str(arguments.output),
        }
        print(json.dumps(result, ensure_ascii=False))
        return 0
    print(f"trained on {len(rows)} turns of yours, {needed} of which need a rewrite; {len(model)} features")
    print("use it in a settings file:\n\n[trigger]")
    print(f'mode = "learned"\nweights_file = {json.dumps(str(arguments.output.resolve()), ensure_ascii=False)}')
    return 0


def _rows(file: Path) -> Iterator[Mapping[str, Any]]:
    """Yield a file's labelled rows; a log is told by its first line."""
    try:
        _, first = next(iter(read_json_lines(file, on_error=_note)))
    except StopIteration:
        raise ConfigurationError(f"{file} holds no row") from None
    if "kind" in first:
        yield from filter(None, map(as_training_row, read_turns([file], on_error=_note)))
        return
    for number, row in read_json_lines(file):
        if problem := _problem(row):
            raise DataFileError(file, number, problem)
        yield row


def _problem(row: Mapping[str, Any]) -> str:
    """Return why a row cannot be trained on, or an empty text."""
    if not isinstance(row.get("message") or row.get("question"), str):
        return "field message: a text is expected"
    if not isinstance(row.get("need"), bool):
        return "field need: true or false is expected"
    history = row.get("history")
    if not isinstance(history, list) or not all(
        isinstance(message, dict) and isinstance(message.get("role"), str) and isinstance(message.get("content"), str)
        for message in history
    ):
        return "field history: a list of role and content is expected"
    return ""


def _note(error: DataFileError) -> None:
    print(f"condense-plus train: passed over {error}", file=sys.stderr)
