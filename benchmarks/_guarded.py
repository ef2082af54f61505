"""What guards and plan together do to retrieval: each recorded rewriter unguarded and guarded."""

from __future__ import annotations

from _bm25 import bm25
from _data import figure, paired_bootstrap, recorded_kdconv, table
from _plans import Engine, Question, alone, kdconv, mtrag, rewriters, scores
from llama_index.core.schema import NodeWithScore

from llama_index_condense_plus.rewriting.parser import parse_rewrite

EXPANDS = ("expansion",)
"""Rewriters with this word in their name are run under the ``expansive`` profile."""


def _mtrag(query: str, domain: str, top_k: int) -> tuple[NodeWithScore, ...]:
    return bm25("mtrag_corpus", domain).search(query, top_k)


def _kdconv(query: str, domain: str, top_k: int) -> tuple[NodeWithScore, ...]:
    return bm25("kdconv_zh_corpus", domain).search(query, top_k)


def _parsed(raw: str, question: Question) -> str:
    """Return what a user of the rewriter would search without guards: its question, unwrapped."""
    return parse_rewrite(raw, question.text).text or raw.strip() or question.text


def mtrag_table() -> None:
    """Print nDCG@5 of MTRAG's rewriters, always rewriting, unguarded and guarded with the plan."""
    questions = mtrag()
    rows, all_new, all_old = [], [], []
    for name in rewriters():
        raw = {question.row["id"]: question.row["machine"][name] for question in questions}
        profile = "expansive" if any(word in name for word in EXPANDS) else "faithful"
        engine = Engine(trigger={"mode": "always"}, guards={"profile": profile})
        old = scores(questions, lambda q, raw=raw: alone(_parsed(raw[q.row["id"]], q)), _mtrag)
        new = scores(questions, lambda q, raw=raw, engine=engine: engine.plan(q, raw[q.row["id"]]), _mtrag)
        difference, low, high = paired_bootstrap(new, old)
        rows.append((name, profile, figure(old), figure(new), f"{difference:+.3f} [{low:+.3f}, {high:+.3f}]"))
        all_new.append(new)
        all_old.append(old)
    pooled = [[sum(column) / len(column) for column in zip(*lists, strict=True)] for lists in (all_new, all_old)]
    difference, low, high = paired_bootstrap(*pooled)
    rows.append(("pooled", "", figure(pooled[1]), figure(pooled[0]), f"{difference:+.3f} [{low:+.3f}, {high:+.3f}]"))
    columns = ("rewriter", "profile", "unguarded", "guarded + planned", "difference, 95 %")
    table(
        f"MTRAG dev, nDCG@5, {len(questions)} questions with history: none significantly worse, pooled above",
        columns,
        rows,
    )


def kdconv_table() -> None:
    """Print R@5 of the recorded small model on KdConv, unguarded and guarded with the plan."""
    engine = Engine(trigger={"mode": "always"})
    raw = {row["id"]: row["rewrite"] for row in recorded_kdconv()}
    rows = []
    for need in (True, False):
        questions = kdconv(need=need)
        old = scores(questions, lambda q: alone(_parsed(raw[q.row["id"]], q)), _kdconv)
        new = scores(questions, lambda q: engine.plan(q, raw[q.row["id"]]), _kdconv)
        typed = scores(questions, lambda q: alone(q.text), _kdconv)
        difference, low, high = paired_bootstrap(new, old)
        label = "cannot be searched alone" if need else "can"
        rows.append(
            (
                f"{label} ({len(questions)})",
                figure(typed),
                figure(old),
                figure(new),
                f"{difference:+.3f} [{low:+.3f}, {high:+.3f}]",
            )
        )
    columns = ("questions", "as typed", "unguarded", "guarded + planned", "difference, 95 %")
    table("KdConv dev, R@5 of the recorded 1.5B rewrites: guarded + planned >= unguarded", columns, rows)
