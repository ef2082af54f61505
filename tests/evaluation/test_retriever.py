from __future__ import annotations

import pytest

from llama_index_condense_plus.evaluation.cases import Passage
from llama_index_condense_plus.evaluation.retriever import LexicalRetriever
from tests.evaluation.data import PASSAGES


def found(query: str, *passages: Passage, top_k: int = 5) -> list[str]:
    retriever = LexicalRetriever(passages or PASSAGES, similarity_top_k=top_k)
    return [node.node.node_id for node in retriever.retrieve(query)]


def test_lexical_retriever_ranks_rare_words_first() -> None:
    assert found("What is the price of the GTE-2000?")[0] == "other"
    assert found("GTE-3000 warranty")[0] == "warranty"


def test_lexical_retriever_cuts_at_top_k_and_finds_nothing_for_nothing() -> None:
    assert len(found("GTE-3000 price", top_k=1)) == 1
    assert found("the of and") == []


@pytest.mark.parametrize("query", ["入职审批要多久", "入職審批要多久"])
def test_lexical_retriever_finds_chinese_of_either_script(query: str) -> None:
    passages = [Passage("in", "zh", "", "入职审批需要三天"), Passage("out", "zh", "", "离职审批需要五天")]
    assert found(query, *passages)[0] == "in"


def test_lexical_retriever_works_on_an_empty_corpus() -> None:
    assert LexicalRetriever(()).retrieve("anything") == []
