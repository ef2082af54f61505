from __future__ import annotations

from typing import Any

import pytest

from llama_index_condense_plus.evaluation.cases import Dataset, Message, Passage
from llama_index_condense_plus.evaluation.checking import check_dataset
from llama_index_condense_plus.evaluation.retriever import LexicalRetriever
from tests.evaluation.data import HISTORY, PASSAGES, case, complete


def balanced() -> list[Any]:
    needing = [case(id=f"n{i}", history=(*HISTORY[:1], Message("assistant", f"Two years, {i}."))) for i in range(4)]
    whole = [complete(id=f"w{i}", history=(*HISTORY[:1], Message("assistant", f"Yes, {i}."))) for i in range(4)]
    return needing + whole


def problems(*cases: Any, passages: tuple[Passage, ...] = PASSAGES) -> list[str]:
    return check_dataset(Dataset("x", cases, passages), LexicalRetriever(passages, similarity_top_k=2))


def test_check_dataset_finds_nothing_in_good_cases() -> None:
    assert problems(*balanced()) == []


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"history": ()}, "needs a rewrite but has no history"),
        ({"accepted_rewrites": (), "gold": ()}, "no accepted rewrite"),
        ({"accepted_rewrites": ("What is the price of the GTE-2000?",)}, "holds 'GTE-2000'"),
        ({"must_contain": ("GTE-3000", "weight")}, "lacks 'weight'"),
        ({"history": HISTORY[:1]}, "is not the assistant's"),
        ({"needs_rewrite": False}, "the question as typed is not accepted"),
        ({"gold": ("nowhere",)}, "there is no passage nowhere"),
        ({"category": "rare"}, "category rare has only 1 cases"),
        ({"lang": "zh"}, "the language is zh, but the question is not"),
    ],
)
def test_check_dataset_names_case_and_fault(changes: dict[str, Any], fault: str) -> None:
    found = problems(*balanced(), case(id="bad", **changes))
    assert any(fault in line for line in found), found


def test_check_dataset_finds_gold_out_of_reach() -> None:
    passages = (*PASSAGES, Passage("far", "en", "", "Nothing of the kind."))
    found = problems(*balanced(), case(id="bad", gold=("far",)), passages=passages)
    assert "bad: the accepted rewrite does not find far" in found


def test_check_dataset_finds_duplicates() -> None:
    cases = balanced()
    twin = case(id="twin", history=cases[0].history, question="and the PRICE")
    found = problems(*cases, twin, passages=(*PASSAGES, Passage("copy", "en", "", PASSAGES[0].text)))
    assert "twin: the same conversation as n0" in found
    assert "passage copy: the same text as price" in found


def test_check_dataset_finds_imbalance_and_alias_clashes() -> None:
    cases = [case(id=f"n{i}", history=(*HISTORY[:1], Message("assistant", str(i)))) for i in range(9)]
    aliased = [
        case(id=name, question=name, aliases={"big one": target}) for name, target in (("x", "GTE-3000"), ("y", "GTE"))
    ]
    found = problems(*cases, *aliased)
    assert "only 0% of the cases need none, at least 25% should" in found
    assert "y: alias big one means GTE here and GTE-3000 elsewhere" in found


def test_check_dataset_finds_a_language_in_the_minority() -> None:
    assert "only 1 of 9 cases are in zh" in problems(*balanced(), case(id="z", lang="zh", question="价格？"))
