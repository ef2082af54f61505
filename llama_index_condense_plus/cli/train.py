"""``condense-plus train``: a gate that has learned from your own conversations."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from pydantic import TypeAdapter

from llama_index_condense_plus.errors import ConfigurationError
from llama_index_condense_plus.evaluation.logged import as_training_row, read_turns
from llama_index_condense_plus.evaluation.reading import checked, pass_over, read_json_lines
from llama_index_condense_plus.training import LabelledTurn, train_gate

EXAMPLES = """examples:
  condense-plus train condense-plus.jsonl --out weights.toml
  condense-plus log training condense-plus.jsonl --output rows.jsonl      correct the labels, then:
  condense-plus train rows.jsonl --out weights.toml

A row has message, history (a list of role and content) and need (true or false). A rewrite log with
log.content = "full" and log.shadow_rate above 0 contains such rows. Training starts from the package's weights, so a
few hundred turns are enough. Use the result with trigger.weights_file.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.epilog = EXAMPLES
    parser.add_argument("files", type=Path, nargs="+", metavar="LOG", help="rewrite logs, or JSON Lines of rows")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="the file for the weights")
    parser.add_argument("--json", action="store_true", help="print JSON for other programs")


def run(arguments: argparse.Namespace) -> int:
    """Train and write the weights."""
    if not arguments.out.parent.is_dir():
        raise ConfigurationError(f"--out: there is no folder {arguments.out.parent}")
    rows = [row for file in arguments.files for row in _rows(file)]
    model = train_gate(rows, arguments.out)
    needed = sum(row.need for row in rows)
    if arguments.json:
        result = {"rows": len(rows), "need": needed, "threshold": model.threshold, "weights_file": str(arguments.out)}
        print(json.dumps(result, ensure_ascii=False))
        return 0
    print(f"Trained on {len(rows)} turns, {needed} of which need a rewrite. Use the weights in a settings file:\n")
    print(f'[trigger]\nmode = "learned"\nweights_file = {json.dumps(str(arguments.out.resolve()), ensure_ascii=False)}')
    return 0


def _rows(file: Path) -> list[LabelledTurn]:
    """Return a file's labelled rows; a log is told by its first line."""
    _, first = next(read_json_lines(file, pass_over), (0, {}))
    if "kind" in first:
        return [row for turn in read_turns([file], pass_over) if (row := as_training_row(turn))]
    kind = TypeAdapter(LabelledTurn)
    return [checked(kind, file, number, row) for number, row in read_json_lines(file)]
