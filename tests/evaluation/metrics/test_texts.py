from __future__ import annotations

import pytest

from llama_index_condense_plus.evaluation.metrics.texts import bleu, restoration_f1, rouge_l

sacrebleu = pytest.importorskip("sacrebleu")
pytest.importorskip("rouge_score")

ENGLISH = ["What is the price of the GTE-3000?", "", "How long is it?"]
ENGLISH_REFERENCES = [
    ("What is the price of the GTE-3000?",),
    ("Does Home Plus cover floods?",),
    ("How long is an MRI?", "How long does an MRI take?"),
]
CHINESE = ["入职审批需要多久", "标准版的价格是多少"]
CHINESE_REFERENCES = [("入职审批需要多久", "入职流程的审批需要多久"), ("标准版价格呢",)]


@pytest.mark.parametrize(
    ("lang", "hypotheses", "references"),
    [("en", ENGLISH, ENGLISH_REFERENCES), ("zh", CHINESE, CHINESE_REFERENCES)],
)
def test_bleu_equals_sacrebleu(lang: str, hypotheses: list[str], references: list[tuple[str, ...]]) -> None:
    padded = [[case[i] if i < len(case) else None for case in references] for i in range(2)]
    theirs = sacrebleu.corpus_bleu(hypotheses, padded, tokenize="zh" if lang == "zh" else "13a").score
    assert bleu(hypotheses, references, lang) == pytest.approx(theirs, abs=1e-6)
    assert 0.0 < theirs < 100.0


def test_rouge_l_equals_rouge_score_on_english() -> None:
    from rouge_score.rouge_scorer import RougeScorer  # noqa: PLC0415

    scorer = RougeScorer(["rougeL"])
    for hypothesis, references in zip(ENGLISH, ENGLISH_REFERENCES, strict=True):
        theirs = scorer.score_multi(list(references), hypothesis)["rougeL"].fmeasure
        assert rouge_l(hypothesis, references) == pytest.approx(theirs, abs=1e-6)


def test_rouge_l_compares_chinese_by_characters() -> None:
    assert rouge_l("你好吗", ["你好"]) == pytest.approx(0.8)
    assert rouge_l("GTE-3000的价格", ["GTE-3000的价格？"]) == 1.0


@pytest.mark.parametrize(
    ("rewrite", "expected"),
    [
        ("And the price of the GTE-3000?", 1.0),
        ("And the price?", 0.0),
        ("And the price of the GTE-2000?", 0.5),
    ],
)
def test_restoration_f1_counts_added_words_only(rewrite: str, expected: float) -> None:
    assert restoration_f1("And the price?", rewrite, ["And the price of the GTE-3000?"]) == pytest.approx(expected)


def test_restoration_f1_is_whole_where_nothing_is_added() -> None:
    assert restoration_f1("年假几天？", "年假几天", ["年假几天？"]) == 1.0
    assert restoration_f1("病假呢？", "病假几天", ["年假呢", "病假几天"]) == 1.0
