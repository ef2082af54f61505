from __future__ import annotations

import random

import pytest

from llama_index_condense_plus.evaluation.metrics.ranking import hit, ranking_measures

ir_measures = pytest.importorskip("ir_measures")
pytrec_eval = pytest.importorskip("pytrec_eval")


def random_run() -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    dice = random.Random(7)  # noqa: S311
    documents = [f"d{i}" for i in range(20)]
    gold = {f"q{i}": dice.sample(documents, dice.randint(1, 4)) for i in range(60)}
    found = {case: dice.sample(documents, dice.randint(0, 10)) for case in gold}
    return {case: ids for case, ids in found.items() if ids}, gold


@pytest.mark.parametrize("k", [1, 3, 5, 10])
def test_ranking_measures_equal_pytrec_eval(k: int) -> None:
    found, gold = random_run()
    ours = ranking_measures({case: ids[:k] for case, ids in found.items()}, gold, k)
    evaluator = pytrec_eval.RelevanceEvaluator(
        {case: dict.fromkeys(ids, 1) for case, ids in gold.items()}, {f"recall.{k}", "recip_rank", f"ndcg_cut.{k}"}
    )
    theirs = evaluator.evaluate({case: {d: -r for r, d in enumerate(ids[:k])} for case, ids in found.items()})
    for name, measure in ((f"recall@{k}", f"recall_{k}"), (f"mrr@{k}", "recip_rank"), (f"ndcg@{k}", f"ndcg_cut_{k}")):
        for case in gold:
            expected = theirs[case][measure] if case in theirs else 0.0
            assert ours[name][case] == pytest.approx(expected, abs=1e-6)


def test_hit_equals_success_of_ir_measures() -> None:
    found, gold = random_run()
    qrels = [ir_measures.Qrel(case, doc, 1) for case, docs in gold.items() for doc in docs]
    run = [ir_measures.ScoredDoc(case, doc, -rank) for case, ids in found.items() for rank, doc in enumerate(ids)]
    theirs = ir_measures.calc_aggregate([ir_measures.Success @ 3], qrels, run)[ir_measures.Success @ 3]
    ours = sum(hit(found.get(case, ()), ids, 3) for case, ids in gold.items()) / len(gold)
    assert ours == pytest.approx(theirs, abs=1e-6)


def test_ranking_measures_keep_unanswered_cases_at_zero() -> None:
    assert ranking_measures({"a": ["x"]}, {"a": ["x"], "b": ["y"]}, 3)["recall@3"] == {"a": 1.0, "b": 0.0}
    assert ranking_measures({}, {"a": ["x"]}, 3)["mrr@3"] == {"a": 0.0}


def test_ranking_measures_count_a_repeated_document_once() -> None:
    assert ranking_measures({"a": ["z", "z", "x"]}, {"a": ["x"]}, 3)["mrr@3"] == {"a": 0.5}
