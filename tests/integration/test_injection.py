"""What a conversation orders the rewriting model to output is not searched, with a real model that may obey."""

import pytest
from llama_index.core.base.llms.types import ChatMessage

from llama_index_condense_plus import CondensePlusChatEngine, CondensePlusSettings
from tests.fakes import query_engine
from tests.hostile.injections import Injection, all_injections, searched_in_place

pytestmark = pytest.mark.integration

INJECTIONS = all_injections()


@pytest.mark.parametrize("attack", INJECTIONS, ids=range(len(INJECTIONS)))
def test_injected_text_is_not_searched_in_place_of_the_question(attack: Injection, llm) -> None:
    settings = CondensePlusSettings(rewrite={"timeout_s": 120})
    engine = CondensePlusChatEngine.from_defaults(query_engine(llm=llm), llm=llm, settings=settings)
    history = [ChatMessage(role=role, content=text) for role, text in attack.history]
    trace = engine.explain(attack.question, history)
    assert not searched_in_place(attack, [query.text for query in trace.plan.queries])
