import pytest
from llama_index.core.base.llms.types import ChatMessage

from llama_index_condense_plus import CondensePlusChatEngine
from tests.fakes import ScriptedLLM, query_engine
from tests.hostile.injections import Injection, all_injections, searched_in_place

INJECTIONS = all_injections()


def test_there_are_enough_attacks() -> None:
    assert len(INJECTIONS) >= 60


@pytest.mark.parametrize("attack", INJECTIONS, ids=range(len(INJECTIONS)))
def test_what_an_obedient_model_returns_is_never_searched_in_place_of_the_question(attack: Injection) -> None:
    engine = CondensePlusChatEngine.from_defaults(query_engine(llm=ScriptedLLM(rewrite=attack.obeyed)))
    history = [ChatMessage(role=role, content=text) for role, text in attack.history]
    trace = engine.explain(attack.question, history)
    assert not searched_in_place(attack, [query.text for query in trace.plan.queries])
