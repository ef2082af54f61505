"""Comparing rewrites with accepted ones: BLEU by sacrebleu, ROUGE by rouge-score, restoration F1."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from llama_index_condense_plus.evaluation.matching import normal
from llama_index_condense_plus.lexicons.text import fold, has_han, tokenize


def bleu(hypotheses: Sequence[str], references: Sequence[Sequence[str]], lang: str) -> float:
    """Return corpus BLEU in 0 to 100 by sacrebleu (Post 2018), for Chinese over characters.

    Args:
        hypotheses: one text a case; empty if the case was not answered.
        references: the accepted texts of each case, one or more.
        lang: ``zh`` selects sacrebleu's Chinese tokeniser, anything else 13a.

    Raises:
        ImportError: sacrebleu is not installed.
    """
    from sacrebleu.metrics.bleu import BLEU  # noqa: PLC0415, an extra

    width = max(map(len, references))
    streams = [[case[i] if i < len(case) else None for case in references] for i in range(width)]
    metric: Any = BLEU(tokenize="zh" if lang == "zh" else "13a")
    return float(metric.corpus_score(list(hypotheses), streams).score)


def rouge_l(hypothesis: str, references: Sequence[str]) -> float:
    """Return the best ROUGE-L F1 over the references, 0 to 1, by rouge-score (Lin 2004).

    Chinese is compared by characters, everything else by lower-cased words.

    Raises:
        ImportError: rouge-score is not installed.
    """
    return float(_scorer().score_multi(list(references), hypothesis)["rougeL"].fmeasure)


def restoration_f1(question: str, hypothesis: str, references: Sequence[str]) -> float:
    """Return F1 of the words that a rewrite adds to the question, best over the references, 0 to 1.

    This is Pan et al. 2019's restored unigrams; 1 if neither adds anything.
    """
    added = _added(question, hypothesis)
    return max((_f1(added, _added(question, reference)) for reference in references), default=0.0)


class _Words:
    """Tokeniser for rouge-score."""

    @staticmethod
    def tokenize(text: str) -> list[str]:
        pieces = normal(text).split()
        return list(itertools.chain.from_iterable(_characters(p) if has_han(p) else [p] for p in pieces))


def _characters(piece: str) -> list[str]:
    """Return Chinese characters one by one, runs of anything else whole."""
    return [
        token
        for is_han, run in itertools.groupby(piece, has_han)
        for token in (list(run) if is_han else ["".join(run)])
    ]


@lru_cache(maxsize=1)
def _scorer() -> Any:
    from rouge_score.rouge_scorer import RougeScorer  # noqa: PLC0415, an extra

    return RougeScorer(["rougeL"], tokenizer=_Words())


def _added(question: str, rewrite: str) -> Counter[str]:
    words, known = _words(rewrite), set(_words(question))
    return Counter(word for word in words if word not in known)


def _words(text: str) -> list[str]:
    return [fold(token.text) for token in tokenize(text) if token.text.isalnum() or token.pos != "x"]


def _f1(found: Counter[str], wanted: Counter[str]) -> float:
    if not found and not wanted:
        return 1.0
    common = (found & wanted).total()
    return 2 * common / (found.total() + wanted.total())
