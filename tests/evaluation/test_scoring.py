from __future__ import annotations

import sys

import pytest

from llama_index_condense_plus.evaluation.cases import Dataset
from llama_index_condense_plus.evaluation.scoring import score, stage_counts
from tests.evaluation.data import DATASET, PASSAGES, case, complete, outcome

AS_TYPED = outcome(
    case_id="c2",
    query="What is the price of the GTE-2000?",
    rewrite_asked=False,
    rewriter="original",
    attempts=(),
    lists=(("What is the price of the GTE-2000?", ("other",)),),
    nodes=("other",),
    ideal=("other",),
)
FAILED = outcome(query="", rewrite_asked=False, attempts=(), lists=(), nodes=(), error="OSError: away")


def test_score_of_a_perfect_engine_is_perfect() -> None:
    scores = score("x", DATASET, [outcome(), AS_TYPED])
    for name in ("gate_recall", "gate_skip", "gate_precision", "rewrite_accuracy", "exact_match", "hit@1", "hit@3"):
        assert scores.figure(name) == 1.0, name
    assert scores.figure("restoration_f1") == 1.0
    assert scores.figure("unresolved_reference_rate") == 0.0
    assert scores.figure("llm_calls_saved") == 0.5
    assert stage_counts(scores) == {"right": 2}


def test_score_keeps_failed_cases_at_zero() -> None:
    pytest.importorskip("ir_measures")
    scores = score("x", DATASET, [FAILED, AS_TYPED])
    for name in ("rewrite_accuracy", "exact_match", "hit@1", "recall@3", "mrr@3", "ndcg@3"):
        assert scores.figure(name) == 0.5, name
    assert scores.figure("failed_rate") == 0.5
    assert scores.figure("gate_recall") == 0.0
    assert scores.figure("restoration_f1") == 0.0
    assert stage_counts(scores) == {"right": 1, "engine failed": 1}


def test_score_of_the_gate_leaves_first_turns_out() -> None:
    dataset = Dataset("x", (*DATASET.cases, complete(id="c3", history=())), PASSAGES)
    scores = score("x", dataset, [outcome(), AS_TYPED, outcome(case_id="c3", rewrite_asked=False)])
    assert scores.values["gate_skip"] == {"c2": 1.0}


def test_score_of_the_gate_s_precision_counts_turns_it_fired_on() -> None:
    scores = score("x", DATASET, [outcome(), outcome(case_id="c2", query="What is the price of the GTE-2000?")])
    assert scores.figure("gate_precision") == 0.5
    assert scores.figure("gate_skip") == 0.0


def test_score_notes_a_reference_left_in_a_rewrite() -> None:
    scores = score("x", DATASET, [outcome(query="What is its price?"), AS_TYPED])
    assert scores.figure("unresolved_reference_rate") == 1.0


def test_score_measures_retrieval_on_right_rewrites_alone() -> None:
    scores = score("x", DATASET, [outcome(query="weight?", nodes=()), AS_TYPED])
    assert scores.figure("hit@3") == 0.5
    assert scores.figure("hit@3_where_rewrite_right") == 1.0
    assert scores.figure("hit@3_of_accepted_rewrite") == 1.0


def test_score_without_labels_measures_what_can_be_measured() -> None:
    bare = case(accepted_rewrites=(), must_contain=(), must_not_contain=(), needs_rewrite=None)
    scores = score("x", Dataset("x", (bare,), PASSAGES), [outcome()])
    assert "rewrite_accuracy" not in scores.values
    assert "gate_recall" not in scores.values
    assert scores.figure("hit@1") == 1.0


def test_score_says_which_libraries_are_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ir_measures", "sacrebleu", "sacrebleu.metrics.bleu", "rouge_score", "rouge_score.rouge_scorer"):
        monkeypatch.setitem(sys.modules, name, None)
    from llama_index_condense_plus.evaluation.metrics import texts  # noqa: PLC0415

    texts._scorer.cache_clear()
    scores = score("x", DATASET, [outcome(), AS_TYPED])
    assert scores.missing == ("recall@3", "mrr@3", "ndcg@3", "rouge_l", "bleu")
    assert scores.figure("hit@1") == 1.0


def test_scores_by_category_group_cases() -> None:
    found = score("x", DATASET, [outcome(query="weight?"), AS_TYPED]).by_category(DATASET, "rewrite_accuracy")
    assert {category: figure.mean for category, figure in found.items()} == {"complete": 1.0, "ellipsis": 0.0}
