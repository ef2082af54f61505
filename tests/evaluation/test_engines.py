from __future__ import annotations

from typing import Any

import pytest
from llama_index.core.llms import MockLLM

from llama_index_condense_plus.errors import ConfigurationError
from llama_index_condense_plus.evaluation.engines import ENGINES, EngineContext, Observed, load_factory
from llama_index_condense_plus.evaluation.retriever import LexicalRetriever
from tests.evaluation.data import DATASET, PASSAGES, case
from tests.fakes import ScriptedLLM

REWRITE = "What is the price of the GTE-3000?"


def context(llm: Any = None, **settings: Any) -> EngineContext:
    return EngineContext(LexicalRetriever(PASSAGES), llm, {}, settings)


@pytest.mark.parametrize("name", sorted(ENGINES))
def test_every_engine_runs_a_follow_up(name: str) -> None:
    outcome = Observed(load_factory(name), context(ScriptedLLM(rewrite=REWRITE))).run(case())
    assert outcome.case_id == "c1"
    assert outcome.query
    assert outcome.lists
    assert outcome.nodes


def test_stock_engine_is_observed_through_its_retriever() -> None:
    llm = ScriptedLLM(rewrite=REWRITE)
    observed = Observed(load_factory("stock"), context(llm))
    outcome = observed.run(case())
    assert (outcome.query, outcome.rewrite_asked) == (REWRITE, True)
    assert outcome.nodes[0] == "price"
    assert llm.count("rewrite") == 1
    assert len(observed.run(case(history=(), id="first")).attempts) == 0


def test_condense_plus_rewrites_with_the_model_if_there_is_one() -> None:
    outcome = Observed(load_factory("condense-plus"), context(ScriptedLLM(rewrite=REWRITE))).run(case())
    assert (outcome.query, outcome.rewriter) == (REWRITE, "llm")
    assert outcome.attempts[0] == (REWRITE, True)


def test_condense_plus_rewrites_by_rules_without_a_model() -> None:
    outcome = Observed(load_factory("condense-plus"), context()).run(case(question="And its price?"))
    assert outcome.rewriter != "llm"
    assert outcome.rewrite_asked


def test_condense_plus_takes_settings() -> None:
    outcome = Observed(load_factory("condense-plus"), context(trigger={"mode": "never"})).run(case())
    assert not outcome.rewrite_asked


def test_as_typed_searches_the_user_s_words() -> None:
    outcome = Observed(load_factory("as-typed"), context()).run(case())
    assert (outcome.query, outcome.rewrite_asked) == ("And the price?", False)


def test_last_turns_searches_the_conversation() -> None:
    assert "warranty" in Observed(load_factory("last-turns"), context()).run(case()).query


def test_outcomes_do_not_depend_on_the_case_before() -> None:
    observed = Observed(load_factory("stock"), context(ScriptedLLM(rewrite=REWRITE)))
    first = observed.run(DATASET.cases[0])
    observed.run(DATASET.cases[1])
    assert observed.run(DATASET.cases[0]) == first


def own_factory(given: EngineContext) -> Any:
    return load_factory("as-typed")(given)


def test_load_factory_imports_one_of_the_user_s_own() -> None:
    assert load_factory("tests.evaluation.test_engines:own_factory") is own_factory


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("condense", "none of condense-plus"),
        ("no_such_module:x", "cannot be imported"),
        ("tests.evaluation.test_engines:missing", "cannot be imported"),
        ("tests.evaluation.test_engines:REWRITE", "not callable"),
    ],
)
def test_load_factory_names_what_is_wrong(name: str, reason: str) -> None:
    with pytest.raises(ConfigurationError, match=reason):
        load_factory(name)


@pytest.mark.parametrize("name", ["stock", "stock-context"])
def test_stock_engines_ask_for_a_model(name: str) -> None:
    with pytest.raises(ConfigurationError, match="needs a model"):
        load_factory(name)(context())


def test_context_defaults_are_empty() -> None:
    assert EngineContext(LexicalRetriever(()), MockLLM()).settings == {}
