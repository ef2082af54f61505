"""``condense-plus eval``: measure engines on conversations; no arguments: the shipped cases, no model."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from tqdm import tqdm

from llama_index_condense_plus.demo.models import add_model_options, load_model
from llama_index_condense_plus.errors import ConfigurationError
from llama_index_condense_plus.evaluation.cases import Dataset, load_passages, shipped_dataset
from llama_index_condense_plus.evaluation.chats import read_cases
from llama_index_condense_plus.evaluation.engines import ENGINES, EngineContext, load_factory
from llama_index_condense_plus.evaluation.reading import positive
from llama_index_condense_plus.evaluation.report import as_html, as_text, make_report, missed_thresholds
from llama_index_condense_plus.evaluation.retriever import LexicalRetriever
from llama_index_condense_plus.evaluation.runner import run_engine
from llama_index_condense_plus.evaluation.scoring import Scores, score
from llama_index_condense_plus.settings.reading import read_toml

EXAMPLES = """examples:
  condense-plus eval                                         the shipped cases, no model: a regression test
  condense-plus eval --cases own.jsonl --engine plus --engine stock --api-base http://127.0.0.1:8080/v1 --model NAME
  condense-plus eval --cases chat_store.json --output report/      a chat log, side by side as report/report.html
  condense-plus eval --engine my_package.engines:make_engine --fail-under rewrite_accuracy=0.6

FILE holds cases (JSON Lines), or a chat log: LlamaIndex's chat_store.json, OpenAI messages as JSON or JSON Lines, CSV
with role and content, or a rewrite log. A factory of your own takes an EngineContext (retriever, llm, aliases,
settings) and returns a chat engine.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.epilog = EXAMPLES
    data = parser.add_argument_group("cases")
    data.add_argument("--cases", type=Path, metavar="FILE", help="cases or a chat log; default: the shipped cases")
    data.add_argument("--passages", type=Path, metavar="FILE", help="the corpus, JSON Lines with id and text")
    data.add_argument("--limit", type=positive, metavar="N", help="number of cases, over all kinds")
    engines = parser.add_argument_group("engines")
    known = f"{', '.join(ENGINES)} or module:factory"
    usual = "default: plus and as-typed, and stock with a model"
    engines.add_argument("--engine", action="append", metavar="NAME", help=f"{known}; repeat it to compare ({usual})")
    engines.add_argument("--settings", type=Path, metavar="FILE", help="TOML settings of this package's engine")
    engines.add_argument("--workers", type=positive, default=os.cpu_count() or 1, metavar="N", help="cases at a time")
    engines.add_argument("--top-k", type=positive, default=3, metavar="K", help="passages that count as found: 3")
    add_model_options(parser)
    result = parser.add_argument_group("result")
    result.add_argument("--output", type=Path, metavar="DIR", help="write report.html and report.json here")
    limits: dict[str, Any] = {"action": "append", "default": [], "type": _threshold, "metavar": "FIGURE=VALUE"}
    result.add_argument("--fail-under", **limits, help="exit 1 if the first engine misses it")
    result.add_argument("--json", action="store_true", help="print the report as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Measure engines, print the figures, write the report.

    Returns:
        0, or 1 if a threshold is missed.

    Raises:
        ConfigurationError: an option is wrong.
        DataFileError: a data file is wrong.
    """
    dataset = _dataset(arguments)
    runs = _runs(arguments, dataset)
    report = make_report(dataset, runs, k=arguments.top_k)
    try:
        if output := arguments.output or (Path("condense-plus-report") if arguments.cases else None):
            _write(output, report)
            print(f"report: {output / 'report.html'}\n", file=sys.stderr)
    finally:
        print(json.dumps(report, ensure_ascii=False) if arguments.json else as_text(report))
    missed = list(missed_thresholds(report, dict(arguments.fail_under)))
    for line in missed:
        print(line, file=sys.stderr)
    return 1 if missed else 0


def _dataset(arguments: argparse.Namespace) -> Dataset:
    dataset = read_cases(arguments.cases) if arguments.cases else shipped_dataset()
    if arguments.passages:
        passages = load_passages(arguments.passages)
        known = {passage.id for passage in passages}
        cases = tuple(replace(case, gold=tuple(name for name in case.gold if name in known)) for case in dataset.cases)
        dataset = Dataset(dataset.name, cases, passages)
    return dataset.sampled(arguments.limit)


def _runs(arguments: argparse.Namespace, dataset: Dataset) -> list[Scores]:
    llm = load_model(arguments.api_base, arguments.model)
    settings = read_toml(arguments.settings) if arguments.settings else {}
    retriever = LexicalRetriever(dataset.passages, similarity_top_k=max(5, arguments.top_k))
    context = EngineContext(retriever, llm, dataset.aliases, settings)
    usual = ["plus", "as-typed", *(["stock"] if llm else [])]
    factories = {name: load_factory(name) for name in arguments.engine or usual}
    runs = []
    for name, factory in factories.items():
        with tqdm(total=len(dataset.cases), desc=name, unit="case", disable=None) as bar:
            outcomes = run_engine(factory, dataset, context, workers=arguments.workers, progress=bar.update)
        runs.append(score(name, dataset, outcomes, k=arguments.top_k))
    return runs


def _write(folder: Path, report: Mapping[str, Any]) -> None:
    """Write both forms, each complete or not at all."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in (("report.json", json.dumps(report, ensure_ascii=False)), ("report.html", as_html(report))):
            part = folder / f"{name}.part"
            part.write_text(text, encoding="utf-8", errors="replace")
            part.replace(folder / name)
    except OSError as error:
        raise ConfigurationError(f"--output: cannot write into {folder}: {error}") from None


def _threshold(text: str) -> tuple[str, float]:
    name, _, value = text.partition("=")
    return name.strip(), float(value)
