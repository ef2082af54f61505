"""Measures of what was found: hit rate by itself, the graded ones by ir-measures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def hit(found: Sequence[str], gold: Sequence[str], k: int) -> float:
    """Return 1 if one of the first ``k`` ids is gold, else 0."""
    return float(any(name in gold for name in found[:k]))


def ranking_measures(
    found: Mapping[str, Sequence[str]], gold: Mapping[str, Sequence[str]], k: int
) -> dict[str, dict[str, float]]:
    """Return recall@k, MRR@k and nDCG@k of each case, by ir-measures (MacAvaney et al. 2022).

    Args:
        found: ids by case, best first.
        gold: right ids by case. A case that nothing was found for counts 0.
        k: depth of the measures.

    Returns:
        Measure → case → value in 0 to 1.

    Raises:
        ImportError: ir-measures is not installed.
    """
    import ir_measures  # noqa: PLC0415, an extra

    measures = {
        f"recall@{k}": ir_measures.R @ k,
        f"mrr@{k}": ir_measures.RR @ k,
        f"ndcg@{k}": ir_measures.nDCG @ k,
    }
    names = {measure: name for name, measure in measures.items()}
    qrels = [ir_measures.Qrel(case, doc, 1) for case, docs in gold.items() for doc in docs]
    run = [
        ir_measures.ScoredDoc(case, doc, float(-rank))
        for case in gold
        for rank, doc in enumerate(dict.fromkeys(found.get(case, ())))
    ]
    values = {name: dict.fromkeys(gold, 0.0) for name in measures}
    if run:
        for metric in ir_measures.iter_calc(list(names), qrels, run):
            values[names[metric.measure]][metric.query_id] = float(metric.value)
    return values
