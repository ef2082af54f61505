"""Measures what the rewriters find: R@5 of KdConv questions as typed, with the stock prompt, with rules and with ours.

    python benchmarks/rewriting.py                       rules and recorded rewrites, no model
    python benchmarks/rewriting.py --llm URL --n 100     ours with a model; answers are kept in benchmarks/results
    python benchmarks/rewriting.py --cached              ours on the questions whose answers are already there

Search is BM25 over character bigrams inside the question's domain. "Ours" is the default chain: prompt, parser, cleanup
and guards, the rules where the model's rewrite is rejected, behind the default gate.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

from _bm25 import bm25
from _data import RESULTS, figure, history_of, load, recall_at, recorded_kdconv, table

from llama_index_condense_plus.rewriting.history import build_window
from llama_index_condense_plus.rewriting.review import Reviewer
from llama_index_condense_plus.rewriting.rewriters import LLMRewriter, predict_hash
from llama_index_condense_plus.rewriting.rules import RuleRewriter
from llama_index_condense_plus.rewriting.trigger import build_trigger
from llama_index_condense_plus.settings import CondensePlusSettings
from llama_index_condense_plus.settings.sections import HistorySettings
from llama_index_condense_plus.types import RewriteRequest

K = 5
ANSWERS = RESULTS / "rewriting_answers.json"
SETTINGS = CondensePlusSettings()


class KeptModel:
    """A chat model whose answers are kept on disk by the hash of their prompt."""

    def __init__(self, url: str | None, path: Path = ANSWERS) -> None:
        self._path = path
        self._answers: dict[str, dict[str, Any]] = json.loads(path.read_text("utf-8")) if path.exists() else {}
        self._llm = _connect(url) if url else None

    def answer(self, rewriter: LLMRewriter, request: RewriteRequest) -> str | None:
        """Return the raw answer, None if it is not kept and there is no model to ask."""
        predict = rewriter.predict(request)
        key = predict_hash(predict)
        if key not in self._answers:
            if self._llm is None:
                return None
            started = time.perf_counter()
            text = str(self._llm.chat(list(predict.messages), **predict.options).message.content or "")
            self._answers[key] = {"text": text, "seconds": round(time.perf_counter() - started, 2)}
            self._path.parent.mkdir(exist_ok=True)
            self._path.write_text(json.dumps(self._answers, ensure_ascii=False), "utf-8")
        return str(self._answers[key]["text"])


def _connect(url: str) -> Any:
    from llama_index.llms.openai_like import OpenAILike

    return OpenAILike(
        model="qwen2.5", api_base=url, api_key="x", is_chat_model=True, context_window=4096, timeout=300.0
    )


class Chain:
    """The default chain, one stage at a time, so that each column can switch stages off."""

    def __init__(self, model: KeptModel, history: HistorySettings = SETTINGS.history) -> None:
        self._model = model
        self._history = history
        self._trigger = build_trigger(SETTINGS)
        self._reviewer = Reviewer(SETTINGS)
        self._rules = RuleRewriter()
        self._llm = LLMRewriter(SETTINGS.rewrite)

    def request(self, row: dict[str, Any]) -> RewriteRequest:
        """Return the request that the engine would make."""
        window = build_window(history_of(row), self._history)
        return RewriteRequest(row["question"], window, self._trigger.decide(row["question"], window))

    def rules(self, request: RewriteRequest) -> str:
        """Return the rule rewriter's query, the question where it declines."""
        outcome = self._rules.outcome(request)
        finished = self._reviewer.finish(outcome.text, request.message) if outcome.text else None
        return (finished and finished.query) or request.message

    def reviewed(self, request: RewriteRequest, raw: str) -> str:
        """Return a raw rewrite that passed the guards and added something where it was needed, else the rules'."""
        attempt = self._reviewer.review(raw, request.message, request.window)
        if attempt.accepted and attempt.query:
            leaves_gap = self._reviewer.leaves_gap(attempt, request)
            return self.rules(request) if leaves_gap and self._rules.outcome(request).text else attempt.query
        return self.rules(request)

    def model(self, request: RewriteRequest) -> str | None:
        """Return the raw answer of the model to our prompt."""
        return self._model.answer(self._llm, request)


def found(query: str, row: dict[str, Any]) -> float:
    """Return R@5 of a query."""
    nodes = bm25("kdconv_zh_corpus", row["domain"]).search(query, K)
    return recall_at([node.node.node_id for node in nodes], row["gold_docs"], K)


def measure_rules(chain: Chain, step: int) -> None:
    """Print the rules, without any model, on all of KdConv dev."""
    rows = [row for row in load("kdconv_zh_dev") if row["history"]]
    groups = {
        "cannot be searched alone": [r for r in rows if not r["entity_in_question"] and r["entity_recoverable"]],
        "can": [r for r in rows if r["entity_in_question"]],
    }
    columns: dict[str, Callable[[dict[str, Any], RewriteRequest], str]] = {
        "as typed": lambda row, _: str(row["question"]),
        "last two turns": lambda row, _: " ".join([*(text for _, text in history_of(row)[-2:]), row["question"]]),
        "rules, always": lambda _, request: chain.rules(request),
        "rules, gate on": lambda row, request: chain.rules(request) if request.decision.rewrite else row["question"],
    }
    lines = []
    for name, all_rows in groups.items():
        sample = all_rows[::step]
        requests = [chain.request(row) for row in sample]
        cells = [
            figure([found(make(r, q), r) for r, q in zip(sample, requests, strict=True)]) for make in columns.values()
        ]
        lines.append([f"{name} ({len(sample)})", *cells])
    table(f"KdConv dev, no model, R@{K}", ["questions", *columns], lines)


def measure_recorded(chain: Chain, limit: int | None) -> None:
    """Print the recorded rewrites of the stock prompt, bare and through our chain, and ours where there are answers."""
    rows = recorded_kdconv()
    random.Random(0).shuffle(rows)  # noqa: S311 - a sample, not secrecy
    asking = True
    values: dict[bool, dict[str, list[float]]] = {need: defaultdict(list) for need in (True, False)}
    for number, row in enumerate(rows):
        request = chain.request(row)
        fires, question, kept = request.decision.rewrite, row["question"], values[row["need"]]
        stock = chain.reviewed(request, row["rewrite"])
        queries = {
            "as typed": question,
            "stock prompt": row["rewrite"],
            "stock + our chain": stock,
            "stock + our chain + gate": stock if fires else question,
        }
        for name, query in queries.items():
            kept[name].append(found(query, row))
        if not asking or (limit is not None and number >= limit):
            continue
        raw = chain.model(request) if fires else question
        asking = raw is not None  # stop at the first gap: skipped questions alone would be no fair sample
        if raw is None:
            continue
        ours = chain.reviewed(request, raw) if fires else question
        for name, query in {
            "same: as typed": question,
            "same: stock prompt": row["rewrite"],
            "same: rules + gate": chain.rules(request) if fires else question,
            "same: ours": ours,
        }.items():
            kept[name].append(found(query, row))
    names = list(values[True])
    lines = [
        [name, *(f"{figure(values[need][name])} ({len(values[need][name])})" for need in (True, False))]
        for name in names
    ]
    table(f"KdConv dev, recorded questions, R@{K}", ["query", "cannot be searched alone", "can"], lines)
    print('"same": the questions that ours was measured on; needs --llm, or answers kept from a run with it.')


def main() -> None:
    """Parse the arguments and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--llm", help="base URL of an OpenAI-compatible server")
    parser.add_argument("--n", type=int, help="recorded questions that ours is measured on; default all")
    parser.add_argument("--cached", action="store_true", help="ask nothing, use the kept answers")
    parser.add_argument("--step", type=int, default=1, help="measure the rules on every n-th question")
    arguments = parser.parse_args()
    load("kdconv_zh_dev")
    chain = Chain(KeptModel(None if arguments.cached else arguments.llm))
    measure_rules(chain, arguments.step)
    measure_recorded(chain, arguments.n)


if __name__ == "__main__":
    main()
