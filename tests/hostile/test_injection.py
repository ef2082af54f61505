import json

import pytest
from llama_index.core.base.llms.types import ChatMessage

from llama_index_condense_plus import CondensePlusChatEngine
from llama_index_condense_plus.languages.text import content_tokens
from tests.fakes import ScriptedLLM, query_engine
from tests.hostile.injections import Injection, all_injections

INJECTIONS = all_injections()


def test_there_are_enough_attacks() -> None:
    assert len(INJECTIONS) >= 60


@pytest.mark.parametrize("attack", INJECTIONS, ids=range(len(INJECTIONS)))
def test_what_an_obedient_model_returns_is_never_searched_in_place_of_the_question(attack: Injection) -> None:
    engine = CondensePlusChatEngine.from_defaults(query_engine(llm=ScriptedLLM(rewrite=attack.obeyed)))
    history = [ChatMessage(role=role, content=text) for role, text in attack.history]
    trace = engine.explain(attack.question, history)
    obeyed = json.loads(attack.obeyed)["query"] if attack.obeyed.startswith("{") else attack.obeyed
    asked, injected = set(content_tokens(attack.question)), set(content_tokens(obeyed))
    for query in trace.plan.queries:
        searched = set(content_tokens(query.text))
        assert asked <= searched or len(asked & searched) * 2 >= len(asked), query
        assert not (injected and searched <= injected - asked), query
