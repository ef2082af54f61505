from __future__ import annotations

import pytest
from llama_index.core.llms import MockLLM
from llama_index.core.schema import NodeWithScore, TextNode

from llama_index_condense_plus import CondensePlusChatEngine, CondensePlusSettings, CondenseTrace
from llama_index_condense_plus.evaluation.diagnosis import QUESTIONS, diagnose
from llama_index_condense_plus.evaluation.retriever import LexicalRetriever
from tests.evaluation.data import HISTORY, PASSAGES, case


def trace_of(question: str, *, rewrite: str | None = None, history: bool = True) -> CondenseTrace:
    """Return the trace of a question after one round on a product, with a given rewrite or none at all."""
    chain = ("rules", "original") if rewrite else ("original",)
    engine = CondensePlusChatEngine.from_defaults(
        retriever=LexicalRetriever(PASSAGES, similarity_top_k=1),
        llm=MockLLM(),
        settings=CondensePlusSettings(rewrite={"chain": chain}, trigger={"mode": "heuristic"}),
    )
    with engine.options(**({"rewrite": rewrite} if rewrite else {})) as asked:
        return asked.explain(question, chat_history=case(history=HISTORY if history else ()).chat_history())


def answers(trace: CondenseTrace) -> dict[str, bool | None]:
    return {answer.question: answer.answer for answer in diagnose(trace)}


def test_diagnose_asks_the_four_questions_in_order() -> None:
    assert tuple(answer.question for answer in diagnose(trace_of("And its price?"))) == QUESTIONS


def test_diagnose_finds_the_pronoun_that_was_left() -> None:
    found = answers(trace_of("And its price?"))
    assert found == {
        "self_contained": False,
        "pronoun_left": True,
        "subject_missing": True,
        "by_hand_finds_more": None,
    }


@pytest.mark.parametrize(("question", "missing"), [("And the price?", True), ("And the GTE-2000?", False)])
def test_diagnose_finds_the_subject_that_is_missing(question: str, missing: bool) -> None:
    found = answers(trace_of(question))
    assert found["subject_missing"] is missing
    assert found["self_contained"] is not missing
    assert found["pronoun_left"] is False


def test_diagnose_finds_nothing_wrong_with_a_good_rewrite() -> None:
    rewritten = diagnose(trace_of("And its price?", rewrite="What is the price of the GTE-3000?"))
    assert [answer.good for answer in rewritten] == [True, True, True, None]
    assert rewritten[2].evidence == ("gte-3000",)


def test_diagnose_takes_a_first_question_as_it_is() -> None:
    assert answers(trace_of("What is it?", history=False))["self_contained"] is True


def test_diagnose_tells_what_only_the_question_by_hand_finds() -> None:
    trace = trace_of("And its price?")
    seen = [NodeWithScore(node=node.node, score=1.0) for node in trace.nodes]
    more = NodeWithScore(node=TextNode(id_="new", text="Only by hand."), score=1.0)
    assert diagnose(trace, [*seen, more])[-1].evidence == ("new",)
    assert diagnose(trace, [*seen, more])[-1].answer is True
    assert diagnose(trace, seen)[-1].answer is False
