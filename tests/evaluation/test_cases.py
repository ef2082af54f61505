from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from llama_index_condense_plus.evaluation.cases import Dataset, load_dataset, load_passages, shipped_dataset
from llama_index_condense_plus.evaluation.matching import holds, is_correct, is_dangling
from llama_index_condense_plus.evaluation.reading import DataFileError
from llama_index_condense_plus.evaluation.retriever import LexicalRetriever
from tests.evaluation.data import DATASET, PASSAGES, case

ROW: dict[str, Any] = {
    "id": "a",
    "lang": "zh",
    "category": "ellipsis",
    "history": [{"role": "user", "content": "年假几天？"}, {"role": "assistant", "content": "五天。"}],
    "question": "病假呢？",
    "accepted_rewrites": ["病假几天"],
    "must_contain": ["病假"],
    "needs_rewrite": True,
    "gold": ["sick"],
}


def written(folder: Path, *rows: dict[str, Any], name: str = "cases.jsonl") -> Path:
    path = folder / name
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def test_load_dataset_reads_cases_and_the_corpus_beside_them(tmp_path: Path) -> None:
    written(tmp_path, {"id": "sick", "text": "病假十天。"}, name="passages.jsonl")
    dataset = load_dataset(written(tmp_path, ROW))
    assert [passage.id for passage in dataset.passages] == ["sick"]
    assert [message.content for message in dataset.cases[0].chat_history()] == ["年假几天？", "五天。"]


def test_a_question_with_its_history_is_enough(tmp_path: Path) -> None:
    (found,) = load_dataset(written(tmp_path, {"history": ROW["history"], "question": "病假呢？"})).cases
    assert (found.id, found.lang, found.needs_rewrite) == ("line-1", "zh", None)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"question": 3}, "field question: "),
        ({"question": "  "}, "field question: "),
        ({"needs_rewrite": "perhaps"}, "field needs_rewrite: "),
        ({"history": [{"role": "robot", "content": "x"}]}, "field history.0.role: .*'user' or 'assistant'"),
        ({"history": [{"role": "user", "content": "x", "text": "x"}]}, "field history.0.text: unknown field"),
        ({"gold": "sick"}, "field gold: "),
        ({"qestion": "x"}, "field qestion: unknown field"),
        ({"aliases": {"a": 1}}, "field aliases.a: "),
        ({"id": "a"}, "the id a was used before"),
    ],
)
def test_load_dataset_names_line_and_field(tmp_path: Path, changes: dict[str, Any], reason: str) -> None:
    with pytest.raises(DataFileError, match=f"line 2: .*{reason}"):
        load_dataset(written(tmp_path, ROW, ROW | {"id": "b"} | changes))


def test_load_passages_refuses_an_id_used_twice(tmp_path: Path) -> None:
    row = {"id": "p", "text": "x"}
    with pytest.raises(DataFileError, match="line 2: the id p was used before"):
        load_passages(written(tmp_path, row, row))


def test_sample_keeps_the_shares_of_categories() -> None:
    cases = [case(id=f"{category}{i}", category=category) for category in "ab" for i in range(10)]
    assert Counter(c.category for c in Dataset("x", tuple(cases)).sampled(4).cases) == {"a": 2, "b": 2}
    assert DATASET.sampled(None) == DATASET


def test_shipped_cases_are_complete_and_agree_with_themselves() -> None:
    dataset = shipped_dataset()
    known = {passage.id for passage in dataset.passages}
    assert len(dataset.cases) == 426
    for found in dataset.cases:
        assert set(found.gold) <= known, found.id
        assert found.accepted_rewrites, found.id
        assert all(is_correct(found, accepted) for accepted in found.accepted_rewrites), found.id
        assert found.history or not found.needs_rewrite, found.id


@pytest.mark.parametrize(
    ("query", "term", "found"),
    [
        ("Approval takes a day", "approv", True),
        ("a scar", "car", False),
        ("价格是 多少", "价格是多少", True),
        ("ＧＴＥ-3000 的价格", "gte-3000", True),
        ("它的保固", "保修|保固", True),
    ],
)
def test_terms_are_found_whatever_their_form(query: str, term: str, found: bool) -> None:
    assert holds(query, term) is found


def test_a_forbidden_term_rules_a_query_out() -> None:
    assert is_correct(case(), "what is the price of the gte-3000")
    assert is_correct(case(), "GTE-3000 cost in euros")
    assert not is_correct(case(), "price of the GTE-3000 and the GTE-2000")
    assert not is_correct(case(), "the price")


@pytest.mark.parametrize(
    ("query", "left"), [("它多少钱？", True), ("How much is it?", True), ("GTE-3000 price", False)]
)
def test_dangling_references_are_seen(query: str, left: bool) -> None:
    assert is_dangling(query) is left


def test_lexical_retriever_ranks_by_words_and_character_pairs() -> None:
    assert LexicalRetriever(PASSAGES).retrieve("warranty of the GTE-3000")[0].node.node_id == "warranty"
    assert len(LexicalRetriever(PASSAGES, similarity_top_k=1).retrieve("GTE-3000 price")) == 1
    shipped = LexicalRetriever(shipped_dataset().passages)
    assert shipped.retrieve("入职审批要多久")[0].node.node_id == "hr-onboarding-approval"
