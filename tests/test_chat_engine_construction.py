"""How an engine is made, with LlamaIndex's defaults for the rest; what users get wrong, and the words that help."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest
from llama_index.core import Document, MockEmbedding, Settings, VectorStoreIndex
from llama_index.core.base.llms.types import MessageRole
from llama_index.core.chat_engine import CondenseQuestionChatEngine
from llama_index.core.indices.query.query_transform.base import BaseQueryTransform
from llama_index.core.llms.llm import LLM
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.prompts import PromptTemplate
from llama_index.core.query_engine import RouterQueryEngine, TransformQueryEngine
from llama_index.core.schema import QueryBundle
from llama_index.core.selectors import LLMSingleSelector
from llama_index.core.tools import QueryEngineTool

from llama_index_condense_plus import (
    CondensePlusChatEngine,
    CondensePlusError,
    CondensePlusSettings,
    ConfigurationError,
    InvalidMessageError,
)
from tests.conftest import FIRST_ROUND, PRICE
from tests.fakes import PlainQueryEngine, RecordingPostprocessor, ScriptedLLM, WordRetriever, query_engine
from tests.modes import Mode, said

Make = Callable[..., Any]


@pytest.fixture
def untouchable_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make ``Settings.llm`` raise what it raises where no key is set."""

    def no_key(_: Any) -> LLM:
        raise ValueError("No API key found for OpenAI.")

    monkeypatch.setattr(type(Settings), "llm", property(no_key))
    Settings._llm = None


def test_constructor_takes_the_stock_engines_arguments_in_order() -> None:
    stock = list(inspect.signature(CondenseQuestionChatEngine.__init__).parameters)
    ours = inspect.signature(CondensePlusChatEngine.__init__).parameters
    assert list(ours)[: len(stock)] == stock
    assert all(p.kind is p.KEYWORD_ONLY for name, p in ours.items() if name not in stock)
    stock = [n for n in inspect.signature(CondenseQuestionChatEngine.from_defaults).parameters if n != "kwargs"]
    ours = inspect.signature(CondensePlusChatEngine.from_defaults).parameters
    assert list(ours)[: len(stock)] == stock


def test_from_defaults_never_touches_the_default_model(untouchable_settings: None, mode: Mode) -> None:
    plain = PlainQueryEngine()
    engine = CondensePlusChatEngine.from_defaults(
        plain, settings=CondensePlusSettings(rewrite={"chain": ["rules"]}), chat_history=list(FIRST_ROUND)
    )
    assert mode.ask(engine, "and its price?").text == "plain answer"
    assert "GTE-3000" in plain.queries[0]


def test_from_defaults_without_any_model_falls_back_to_the_rules(untouchable_settings: None, mode: Mode) -> None:
    plain = PlainQueryEngine()
    engine = CondensePlusChatEngine.from_defaults(plain, chat_history=list(FIRST_ROUND))
    reply = mode.ask(engine, "and its price?")
    assert "GTE-3000" in plain.queries[0]
    assert reply.response.trace.rewrite.attempts[0].error == "ValueError"


def test_from_defaults_uses_the_query_engines_model(untouchable_settings: None, llm: ScriptedLLM, mode: Mode) -> None:
    engine = CondensePlusChatEngine.from_defaults(query_engine(llm=llm), chat_history=list(FIRST_ROUND))
    assert mode.ask(engine, "and its price?").query == PRICE
    assert llm.count("rewrite") == 1


def test_from_defaults_uses_the_configured_model_where_there_is_no_other(mode: Mode) -> None:
    configured = ScriptedLLM(rewrite=PRICE)
    Settings._llm = configured
    plain = PlainQueryEngine()
    engine = CondensePlusChatEngine.from_defaults(plain, chat_history=list(FIRST_ROUND))
    assert mode.ask(engine, "and its price?").query == PRICE
    assert configured.count("rewrite") == 1


def test_from_defaults_takes_what_the_context_engine_takes(llm: ScriptedLLM, mode: Mode) -> None:
    post = RecordingPostprocessor()
    retriever = WordRetriever(["the GTE-3000 costs 99 euros"])
    for context_prompt in ("Facts of the house: {context_str}", PromptTemplate("Facts of the house: {context_str}")):
        engine = CondensePlusChatEngine.from_defaults(
            retriever=retriever,
            node_postprocessors=[post],
            system_prompt="You are a pirate.",
            context_prompt=context_prompt,
            llm=llm,
            chat_history=list(FIRST_ROUND),
        )
        reply = mode.ask(engine, "and its price?")
        assert reply.query == PRICE
        assert post.seen[-1][1] == PRICE
        system = llm.answer_messages[-1][0]
        assert system.role == MessageRole.SYSTEM
        assert "You are a pirate." in str(system.content)
        assert "Facts of the house: the GTE-3000 costs 99 euros" in str(system.content)
        assert "and its price?" in str(llm.answer_messages[-1][-1].content)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, "query_engine"),
        ({"query_engine": True, "retriever": True}, "not both"),
        ({"query_engine": True, "node_postprocessors": []}, "node_postprocessors"),
        ({"query_engine": True, "context_prompt": "{context_str}"}, "context_prompt"),
        ({"retriever": True, "context_prompt": "nothing"}, "context_str"),
        ({"query_engine": True, "system_prompt": "a", "prefix_messages": []}, "system_prompt or prefix_messages"),
        ({"query_engine": True, "triger": None}, "Did you mean trigger"),
        ({"query_engine": True, "gards": ()}, "Did you mean guards"),
        ({"query_engine": True, "xyzzy": 1}, "xyzzy"),
        ({"query_engine": True, "condense_question_prompt": "no variables"}, "chat_history"),
        ({"query_engine": True, "rewriters": {"own": 3}}, "own"),
    ],
)
def test_from_defaults_refuses_what_is_wrong_and_names_it(
    llm: ScriptedLLM, arguments: dict[str, Any], words: str
) -> None:
    if arguments.pop("query_engine", None):
        arguments["query_engine"] = query_engine(llm=llm)
    if arguments.pop("retriever", None):
        arguments["retriever"] = WordRetriever(["x"])
    with pytest.raises(ConfigurationError, match=words):
        CondensePlusChatEngine.from_defaults(llm=llm, **arguments)


@pytest.fixture
def index() -> VectorStoreIndex:
    documents = [Document(text=f"the GTE-3000 costs {n} euros") for n in range(4)]
    return VectorStoreIndex.from_documents(documents, embed_model=MockEmbedding(8))


def test_from_index_splits_its_arguments(index: VectorStoreIndex, llm: ScriptedLLM, mode: Mode) -> None:
    post = RecordingPostprocessor()
    engine = CondensePlusChatEngine.from_index(
        index,
        llm=llm,
        similarity_top_k=3,
        node_postprocessors=[post],
        system_prompt="You are a pirate.",
        chat_history=list(FIRST_ROUND),
        settings=CondensePlusSettings(fusion={"candidates": 3}),
        clock=lambda: 0.0,
    )
    assert isinstance(engine, CondensePlusChatEngine)
    reply = mode.ask(engine, "and its price?")
    assert reply.query == PRICE
    assert len(reply.node_ids) == 3
    assert len(post.seen) == 1
    assert "You are a pirate." in llm.calls[-1][1]


class Hypothetical(BaseQueryTransform):
    """Searches a made-up passage in place of the question, as HyDE does."""

    def _get_prompts(self) -> dict[str, Any]:
        return {}

    def _update_prompts(self, prompts: Any) -> None:
        return

    def _run(self, query_bundle: QueryBundle, metadata: Any) -> QueryBundle:
        return QueryBundle(query_bundle.query_str, custom_embedding_strs=[f"passage on {query_bundle.query_str}"])


def test_transform_query_engine_keeps_its_transform_and_its_parts(llm: ScriptedLLM, mode: Mode) -> None:
    seen: list[list[str]] = []

    class Noting(WordRetriever):
        def _retrieve(self, query_bundle: QueryBundle) -> Any:
            seen.append(query_bundle.embedding_strs)
            return super()._retrieve(query_bundle)

        async def _aretrieve(self, query_bundle: QueryBundle) -> Any:
            seen.append(query_bundle.embedding_strs)
            return await super()._aretrieve(query_bundle)

    post = RecordingPostprocessor()
    retriever = Noting(["the GTE-3000 costs 99 euros"])
    inner = query_engine(llm=llm, retriever=retriever, node_postprocessors=[post])
    transforming = TransformQueryEngine(inner, Hypothetical())
    engine = CondensePlusChatEngine.from_defaults(transforming, llm=llm, chat_history=list(FIRST_ROUND))
    reply = mode.ask(engine, "and its price?")
    assert reply.query == PRICE
    assert reply.text == "the answer"
    assert [f"passage on {PRICE}"] in seen  # the rewrite goes through the transform
    assert ["and its price?"] in seen  # the original is searched beside it
    assert [query for _, query, _ in post.seen] == [PRICE]
    assert reply.node_ids == ["n0"]
    assert transforming._query_engine is inner


def test_router_query_engine_is_asked_the_rewrite(llm: ScriptedLLM, mode: Mode) -> None:
    chooser = ScriptedLLM(answer='[{"choice": 2, "reason": "prices"}]')
    first, second = PlainQueryEngine("first"), PlainQueryEngine("second")
    router = RouterQueryEngine.from_defaults(
        [
            QueryEngineTool.from_defaults(first, name="a", description="Knows history."),
            QueryEngineTool.from_defaults(second, name="b", description="Knows prices."),
        ],
        llm=llm,
        selector=LLMSingleSelector.from_defaults(llm=chooser),
    )
    engine = CondensePlusChatEngine.from_defaults(router, llm=llm, chat_history=list(FIRST_ROUND))
    reply = mode.ask(engine, "and its price?")
    assert second.queries == [PRICE]
    assert first.queries == []
    assert reply.text == "second"
    assert said(engine)[-2:] == [("user", "and its price?"), ("assistant", "second")]
    assert any("plan_collapsed" in warning for warning in reply.response.trace.warnings)


def test_retrievers_by_name_are_each_given_every_query(llm: ScriptedLLM, mode: Mode) -> None:
    dense, sparse = WordRetriever(["the GTE-3000 costs 99 euros"]), WordRetriever(["the GTE-3000 costs 99 euros"])
    engine = CondensePlusChatEngine.from_defaults(
        retrievers={"dense": dense, "sparse": sparse}, llm=llm, chat_history=list(FIRST_ROUND)
    )
    reply = mode.ask(engine, "and its price?")
    assert sorted(dense.queries) == sorted(sparse.queries) == [PRICE, f"{PRICE} and its price?", "and its price?"]
    assert {ranked.source for ranked in reply.response.trace.retrievals} == {"dense", "sparse"}


def test_memory_given_is_used_even_when_it_is_empty(llm: ScriptedLLM, mode: Mode) -> None:
    memory = ChatMemoryBuffer.from_defaults(token_limit=3000)
    engine = CondensePlusChatEngine.from_defaults(query_engine(llm=llm), llm=llm, memory=memory)
    mode.ask(engine, "Is there a printer?")
    assert [message.content for message in memory.get_all()] == ["Is there a printer?", "the answer"]


def test_warm_up_changes_nothing_and_raises_nothing(llm: ScriptedLLM) -> None:
    retriever = WordRetriever(["the GTE-3000 costs 99 euros"])
    engine = CondensePlusChatEngine.from_defaults(
        query_engine(llm=llm, retriever=retriever), llm=llm, chat_history=list(FIRST_ROUND)
    )
    engine.warm_up()
    assert llm.count("rewrite") == 2  # once a language: the static part of the prompt is cached by the server
    assert llm.count("answer") == 0
    assert retriever.queries
    assert len(said(engine)) == 2
    assert engine.last_trace is None
    broken = CondensePlusChatEngine.from_defaults(
        query_engine(llm=llm, retriever=WordRetriever(["x"], fails_on=lambda _: True)), llm=llm
    )
    broken.warm_up()


def test_stream_read_the_wrong_way_is_an_error_that_names_the_right_one(make_engine: Make, stream_mode: Mode) -> None:
    response = stream_mode.begin(make_engine(), "and its price?")

    async def read_asynchronously() -> None:
        async for _ in response.async_response_gen():
            pass

    def read_the_wrong_way() -> None:
        next(response.response_gen) if stream_mode.is_async else stream_mode.run(read_asynchronously())

    with pytest.raises(CondensePlusError, match="response_gen"):
        read_the_wrong_way()
    assert stream_mode.read(response) == "the answer"  # it can still be read the right way


def test_misspelt_argument_names_the_one_that_is_meant() -> None:
    with pytest.raises(ConfigurationError, match=r"setings\. Did you mean settings"):
        CondensePlusChatEngine.from_defaults(query_engine(), setings=None)


@pytest.mark.parametrize(
    ("argument", "remedy"),
    [
        ("condense_prompt", "condense_question_prompt"),
        ("skip_condense", "enabled=False"),
        ("context_refine_prompt", "refine_template"),
    ],
)
def test_argument_of_the_other_stock_engine_names_its_counterpart(argument: str, remedy: str) -> None:
    with pytest.raises(ConfigurationError, match=remedy):
        CondensePlusChatEngine.from_defaults(query_engine(), **{argument: "x"})


def test_history_of_dictionaries_is_a_clear_error_before_any_call(make_engine: Make, mode: Mode, llm: Any) -> None:
    with pytest.raises(InvalidMessageError, match="ChatMessage"):
        mode.begin(make_engine(), "and its price?", [{"role": "user", "content": "hi"}])
    assert not llm.calls
