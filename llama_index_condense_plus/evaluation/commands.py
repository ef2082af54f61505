"""``condense-plus eval``: measure engines on conversations; no arguments: the shipped cases, no model."""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tqdm import tqdm

from llama_index_condense_plus.demo.models import ModelChoice
from llama_index_condense_plus.errors import ConfigurationError
from llama_index_condense_plus.evaluation.answers import Judge
from llama_index_condense_plus.evaluation.cases import Dataset, Passage, load_passages, shipped_dataset
from llama_index_condense_plus.evaluation.checking import check_dataset
from llama_index_condense_plus.evaluation.engines import ENGINES, EngineContext, load_factory
from llama_index_condense_plus.evaluation.formats import FORMATS, SEVERAL, read_dataset
from llama_index_condense_plus.evaluation.html import as_html
from llama_index_condense_plus.evaluation.markdown import as_markdown, interval
from llama_index_condense_plus.evaluation.report import make_report, missed_thresholds
from llama_index_condense_plus.evaluation.retriever import LexicalRetriever
from llama_index_condense_plus.evaluation.runner import run_engine
from llama_index_condense_plus.evaluation.scoring import Scores, score

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

EXAMPLES = """examples:
  condense-plus eval
  condense-plus eval --engine condense-plus --engine as-typed --output report/
  condense-plus eval --data dev.json --format canard --limit 200
  condense-plus eval --engine my_package.engines:make_engine --fail-under rewrite_accuracy=0.6
  condense-plus eval --api-base http://127.0.0.1:8080/v1 --model my-model --engine condense-plus --engine stock

A factory of your own is called with an EngineContext (retriever, llm, aliases, settings) and returns a chat engine.
Finished cases are kept in OUTPUT; the same command goes on where it was interrupted.
"""
HEADLINES = (
    "rewrite_accuracy",
    "accuracy_where_needed",
    "accuracy_where_not_needed",
    "gate_recall",
    "gate_skip",
    "exact_match",
    "restoration_f1",
    "unresolved_reference_rate",
    "hit@1",
)
"""Figures shown on the screen; the report has them all."""
FAILED = 1


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = EXAMPLES
    data = parser.add_argument_group("cases")
    data.add_argument("--data", type=Path, metavar="FILE", help="cases of your own; none: the shipped ones")
    data.add_argument("--format", choices=(SEVERAL, "condense-plus", *FORMATS), default=SEVERAL, help="FILE's format")
    data.add_argument("--passages", type=Path, metavar="FILE", help="the corpus, JSON Lines with id and text")
    data.add_argument("--limit", type=int, metavar="N", help="this many cases, spread over categories and languages")
    data.add_argument("--check", action="store_true", help="check the cases and stop")
    engines = parser.add_argument_group("engines")
    engines.add_argument(
        "--engine", action="append", metavar="NAME", help=f"{', '.join(ENGINES)} or module:factory; may be repeated"
    )
    engines.add_argument("--settings", type=Path, metavar="FILE", help="TOML settings of condense-plus")
    engines.add_argument("--api-base", metavar="URL", help="an OpenAI-compatible server, http://127.0.0.1:8080/v1")
    engines.add_argument("--model", metavar="NAME", help="the model's name")
    engines.add_argument("--answers", action="store_true", help="answer, and judge faithfulness; needs a model")
    engines.add_argument("--workers", type=int, default=os.cpu_count() or 1, metavar="N", help="cases at a time")
    engines.add_argument("--top-k", type=int, default=3, metavar="K", help="passages that count as found (default 3)")
    result = parser.add_argument_group("result")
    result.add_argument("--output", type=Path, metavar="DIR", help="write report.json, report.md and report.html here")
    result.add_argument(
        "--fail-under", action="append", default=[], metavar="FIGURE=VALUE", help="exit 1 if the first engine misses it"
    )
    result.add_argument("--json", action="store_true", help="print the report as JSON")


def add_eval_parser(subparsers: Any) -> argparse.ArgumentParser:
    """Add ``eval`` to a parser's sub-commands."""
    parser: argparse.ArgumentParser = subparsers.add_parser("eval", help="measure engines on conversations")
    configure(parser)
    return parser


def run(arguments: argparse.Namespace) -> int:
    """Measure engines, print the headline figures, write the report.

    Returns:
        0; 1 if a threshold is missed or the checked cases are faulty.

    Raises:
        ConfigurationError: an option is wrong.
        DataFileError: a data file is wrong.
    """
    thresholds = dict(map(_threshold, arguments.fail_under))
    dataset = _dataset(arguments)
    if arguments.check:
        return _check(dataset)
    if min(arguments.workers, arguments.top_k) < 1:
        raise ConfigurationError("--workers and --top-k are at least 1.")
    runs = _runs(arguments, dataset)
    report = make_report(dataset, runs, k=arguments.top_k)
    if arguments.output:
        _write(arguments.output, report)
        print(f"written: {arguments.output / 'report.html'}, report.md and report.json", file=sys.stderr)
    print(json.dumps(report, ensure_ascii=False) if arguments.json else _headlines(report))
    missed = missed_thresholds(runs[0], thresholds)
    for line in missed:
        print(line, file=sys.stderr)
    return FAILED if missed else 0


run_eval = run
"""The name under which other command lines call it."""


def _dataset(arguments: argparse.Namespace) -> Dataset:
    dataset = read_dataset(arguments.data, arguments.format) if arguments.data else shipped_dataset()
    if arguments.passages:
        dataset = Dataset(dataset.name, dataset.cases, load_passages(arguments.passages))
    if arguments.limit is not None and arguments.limit < 1:
        raise ConfigurationError("--limit is at least 1.")
    return dataset.sampled(arguments.limit)


def _check(dataset: Dataset) -> int:
    problems = check_dataset(dataset, LexicalRetriever(dataset.passages, similarity_top_k=10))
    print("\n".join(problems) or f"{len(dataset.cases)} cases and {len(dataset.passages)} passages are in order")
    return FAILED if problems else 0


def _runs(arguments: argparse.Namespace, dataset: Dataset) -> list[Scores]:
    llm = ModelChoice(api_base=arguments.api_base, model=arguments.model).load()
    if arguments.answers and llm is None:
        raise ConfigurationError("--answers needs a model: give --api-base and --model, or OPENAI_API_KEY.")
    settings = _settings(arguments.settings)
    passages: Mapping[str, Passage] = {passage.id: passage for passage in dataset.passages}
    judge = Judge(llm, passages) if arguments.answers and llm is not None else None
    retriever = LexicalRetriever(dataset.passages, similarity_top_k=max(5, arguments.top_k))
    context = EngineContext(retriever, llm, dataset.aliases, settings)
    names = list(dict.fromkeys(arguments.engine or ["condense-plus", "as-typed"]))
    factories = [(name, load_factory(name)) for name in names]
    runs, code = [], _code_fingerprint()
    for name, factory in factories:
        key = f"{code} {name} {arguments.model} {arguments.top_k} {arguments.answers} {settings}"
        rows = arguments.output / "rows" / f"{_file_name(name)}.jsonl" if arguments.output else None
        with tqdm(total=len(dataset.cases), desc=name, unit="case", disable=None) as bar:
            outcomes = run_engine(
                factory,
                dataset,
                context,
                workers=arguments.workers,
                rows=rows,
                key=key,
                judge=judge,
                progress=bar.update,
            )
        runs.append(score(name, dataset, outcomes, k=arguments.top_k))
    return runs


def _code_fingerprint() -> str:
    """Return a hash of this package's code, so that rows of another state of it are not taken over."""
    package = Path(__file__).parents[1]
    digest = hashlib.sha256()
    for path in sorted(package.rglob("*")):
        if path.suffix in {".py", ".txt", ".json", ".toml"}:
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _headlines(report: Mapping[str, Any]) -> str:
    engines = report["engines"]
    names = [
        *HEADLINES,
        *(n for n in next(iter(engines.values()))["figures"] if n.startswith(("recall@", "mrr@", "ndcg@"))),
    ]
    stages = list(dict.fromkeys(stage for engine in engines.values() for stage in engine["stages"]))
    width = max(map(len, [*names, *stages])) + 2
    cells = [len(interval(engine["figures"]["failed_rate"])) for engine in engines.values()]
    column = max([*cells, *map(len, engines)]) + 3
    lines = [" " * width + "".join(f"{name:{column}}" for name in engines)]
    for name in names:
        values = [engine["figures"].get(name) for engine in engines.values()]
        if any(values):
            lines.append(f"{name:{width}}" + "".join(f"{interval(value):{column}}" for value in values))
    for name in ("llm_calls_saved", "latency_p50_s"):
        values = [engine["corpus"].get(name) for engine in engines.values()]
        if None not in values:
            lines.append(f"{name:{width}}" + "".join(f"{f'{value:.3f}':{column}}" for value in values))
    lines.append("")
    lines += [
        f"{stage:{width}}" + "".join(f"{engine['stages'].get(stage, 0):<{column}}" for engine in engines.values())
        for stage in stages
    ]
    return "\n".join(line.rstrip() for line in lines)


def _write(folder: Path, report: Mapping[str, Any]) -> None:
    """Write the three forms; each appears complete or not at all."""
    folder.mkdir(parents=True, exist_ok=True)
    texts = {
        "report.json": json.dumps(report, ensure_ascii=False, indent=1),
        "report.md": as_markdown(report),
        "report.html": as_html(report),
    }
    for name, text in texts.items():
        part = folder / f"{name}.part"
        part.write_text(text, encoding="utf-8")
        part.replace(folder / name)


def _settings(path: Path | None) -> dict[str, Any]:
    if path is None:
        return {}
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"--settings: cannot read {path}: {error}") from None


def _threshold(text: str) -> tuple[str, float]:
    name, _, value = text.partition("=")
    try:
        return name.strip(), float(value)
    except ValueError:
        raise ConfigurationError(f"--fail-under: {text!r} is not FIGURE=VALUE, for example gate_recall=0.98.") from None


def _file_name(engine: str) -> str:
    plain = "".join(c if c.isalnum() or c in "-_." else "_" for c in engine)
    return plain if plain == engine else f"{plain}-{hashlib.sha256(engine.encode()).hexdigest()[:8]}"
