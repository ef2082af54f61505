"""What a turn searches and what becomes of it, between LlamaIndex's other parts and new versions of core."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import pytest
from llama_index.core import Document, MockEmbedding, Settings, StorageContext, VectorStoreIndex
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.llms.types import ChatMessage, ChatResponse
from llama_index.core.callbacks import CallbackManager, TokenCountingHandler
from llama_index.core.llms.callbacks import llm_chat_callback
from llama_index.core.memory import BaseMemory, ChatMemoryBuffer
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.response_synthesizers import ResponseMode
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from llama_index_condense_plus import CondensePlusChatEngine, CondensePlusSettings, _compat
from tests.conftest import FIRST_ROUND, PRICE
from tests.fakes import Log, PlainQueryEngine, RecordingPostprocessor, ScriptedLLM, WordRetriever, query_engine
from tests.modes import Mode

Make = Callable[..., Any]


class CountedLLM(ScriptedLLM):
    """A model that tells its token counts, and whose calls LlamaIndex's callbacks see."""

    @llm_chat_callback()
    def chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        return self._counted(super().chat(messages, **kwargs))

    @llm_chat_callback()
    async def achat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        return self._counted(await super().achat(messages, **kwargs))

    @staticmethod
    def _counted(response: ChatResponse) -> ChatResponse:
        response.raw = {"usage": {"prompt_tokens": 321, "completion_tokens": 12}}
        return response


def test_token_counting_handler_counts_the_rewrite(make_engine: Make, mode: Mode) -> None:
    counter = TokenCountingHandler(tokenizer=str.split)
    small = CountedLLM(rewrite=PRICE, callback_manager=CallbackManager([counter]))
    mode.ask(make_engine(condense_llm=small), "and its price?")
    assert len(counter.llm_token_counts) == 1
    assert (counter.prompt_llm_token_count, counter.completion_llm_token_count) == (321, 12)


class BlockingRetriever(BaseRetriever):
    """A retriever that has no asynchronous side, like a store with a synchronous client only."""

    def __init__(self) -> None:
        super().__init__(callback_manager=CallbackManager([]))
        self.threads: list[threading.Thread] = []

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        self.threads.append(threading.current_thread())
        return [NodeWithScore(node=TextNode(text="the GTE-3000 costs 99 euros", id_="n0"), score=1.0)]


class RefusingRetriever(BlockingRetriever):
    """A retriever whose asynchronous side only says that its client was never given."""

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        raise ValueError("Async client is not initialized!")


@pytest.mark.parametrize("message", ["and its price?", "What is the price of the T-10 scanner?"])
@pytest.mark.parametrize("kind", [BlockingRetriever, RefusingRetriever])
def test_retriever_without_an_asynchronous_side_never_blocks_the_loop(
    make_engine: Make, mode: Mode, kind: Callable[[], BlockingRetriever], message: str
) -> None:
    retriever = kind()
    reply = mode.ask(make_engine(retriever=retriever), message)
    assert reply.node_ids == ["n0"]
    assert retriever.threads
    if mode.is_async:
        assert threading.main_thread() not in retriever.threads


def test_qdrant_with_a_synchronous_client_alone(llm: ScriptedLLM, mode: Mode) -> None:
    qdrant = pytest.importorskip("qdrant_client")
    stores = pytest.importorskip("llama_index.vector_stores.qdrant")
    store = stores.QdrantVectorStore("printers", client=qdrant.QdrantClient(":memory:"))
    index = VectorStoreIndex.from_documents(
        [Document(text="the GTE-3000 costs 99 euros")],
        storage_context=StorageContext.from_defaults(vector_store=store),
        embed_model=MockEmbedding(8),
    )
    engine = CondensePlusChatEngine.from_index(index, llm=llm)
    assert len(mode.ask(engine, "Tell me about the GTE-3000").node_ids) == 1
    reply = mode.ask(engine, "and its price?")
    assert reply.query == PRICE
    assert len(reply.node_ids) == 1


def test_postprocessor_without_an_asynchronous_side_works_in_every_mode(make_engine: Make, mode: Mode) -> None:
    class Last(BaseNodePostprocessor):
        def _postprocess_nodes(
            self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
        ) -> list[NodeWithScore]:
            return nodes[-1:]

    assert len(mode.ask(make_engine(node_postprocessors=[Last()]), "and its price?").node_ids) == 1


@pytest.mark.parametrize("response_mode", [m for m in ResponseMode if m is not ResponseMode.CONTEXT_ONLY])
def test_every_response_mode_answers_in_every_mode(
    make_engine: Make, llm: ScriptedLLM, mode: Mode, response_mode: ResponseMode
) -> None:
    Settings._llm = llm  # ``no_text`` asks for the default model, and never uses it
    engine = RetrieverQueryEngine.from_args(
        WordRetriever(["the GTE-3000 costs 99 euros", "the GTE-3000 has a warranty"]),
        llm=llm,
        response_mode=response_mode,
    )
    reply = mode.ask(make_engine(query_engine=engine), "and its price?")
    assert reply.query == PRICE
    if response_mode is not ResponseMode.NO_TEXT:
        assert "the answer" in reply.text


def test_subclass_of_the_query_engine_keeps_what_it_overrides(make_engine: Make, llm: ScriptedLLM, mode: Mode) -> None:
    class Noting(RetrieverQueryEngine):
        seen: ClassVar[list[str]] = []

        def retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
            self.seen.append(query_bundle.query_str)
            return super().retrieve(query_bundle)

        async def aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
            self.seen.append(query_bundle.query_str)
            return await super().aretrieve(query_bundle)

    Noting.seen = []
    engine = Noting.from_args(WordRetriever(["the GTE-3000 costs 99 euros"]), llm=llm)
    mode.ask(make_engine(query_engine=engine), "and its price?")
    assert Noting.seen == [PRICE]


def test_new_core_version_gives_one_clear_warning_and_one_query(
    make_engine: Make, llm: ScriptedLLM, mode: Mode, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_compat, "_warned", set())
    monkeypatch.setattr(_compat, "_PARTS", ("_retriever", "_synthesizer_of_a_later_version", "_node_postprocessors"))
    retriever = WordRetriever(["the GTE-3000 costs 99 euros"])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        engine = make_engine(query_engine=query_engine(llm=llm, retriever=retriever))
        mode.ask(engine, "and its price?")
        reply = mode.ask(engine, "and its price?")
    assert len([one for one in caught if _compat.TESTED_VERSIONS in str(one.message)]) == 1
    assert reply.text == "the answer"
    assert set(retriever.queries) == {PRICE}


def test_memory_is_read_once_and_written_once(make_engine: Make, mode: Mode) -> None:
    class Counting(ChatMemoryBuffer):
        calls: ClassVar[list[str]] = []

        def get(self, input: str | None = None, **kwargs: Any) -> list[ChatMessage]:  # noqa: A002
            self.calls.append(f"get {input}")
            return super().get(input, **kwargs)

        def put_messages(self, messages: list[ChatMessage]) -> None:
            self.calls.append(f"put {len(messages)}")
            BaseMemory.put_messages(self, messages)

        async def aput_messages(self, messages: list[ChatMessage]) -> None:
            self.put_messages(messages)

    Counting.calls = []
    memory = Counting.from_defaults(token_limit=3000, chat_history=list(FIRST_ROUND))
    mode.ask(make_engine(memory=memory, first=False), "and its price?")
    assert memory.calls == ["get and its price?", "put 2"]


def test_rewrite_log_and_feedback_belong_to_the_engine(make_engine: Make, mode: Mode, tmp_path: Any) -> None:
    path = tmp_path / "log.jsonl"
    engine = make_engine(settings=CondensePlusSettings(log={"enabled": True, "path": path}))
    reply = mode.ask(engine, "and its price?")
    mode.wait_until(lambda: path.exists() and reply.response.trace.turn_id in path.read_text(encoding="utf-8"))
    engine.feedback(reply.response.trace.turn_id, good=True)
    with pytest.raises(ValueError, match=r"log\.enabled"):
        make_engine().feedback("x", good=True)


def test_retriever_with_a_callback_manager_of_its_own_does_not_grow_with_the_turns(mode: Mode) -> None:
    retriever = WordRetriever(["the GTE-3000 costs 99 euros"])
    engine = CondensePlusChatEngine.from_defaults(query_engine(llm=ScriptedLLM(rewrite=PRICE), retriever=retriever))
    for number in range(5):
        mode.ask(engine, f"and its price, number {number}?", list(FIRST_ROUND))
    assert sum(map(len, retriever.callback_manager.trace_map.values())) <= 1


def test_chat_postprocessors_see_all_candidates_and_the_answer_top_k(
    make_engine: Make, llm: ScriptedLLM, mode: Mode
) -> None:
    post = RecordingPostprocessor()
    retriever = WordRetriever([f"passage {i} {'abcdefgh'[i]}" for i in range(8)], top_k=2)
    found = iter([[0, 1], [2, 3]])
    by_query: dict[str, list[int]] = {}

    def nodes(query: str) -> list[NodeWithScore]:
        picked = by_query.setdefault(query, next(found) if query not in by_query else [])
        return [NodeWithScore(node=retriever.nodes[i], score=1.0 / (rank + 1)) for rank, i in enumerate(picked)]

    retriever._found = nodes  # type: ignore[method-assign]
    reply = mode.ask(make_engine(retriever=retriever, node_postprocessors=[post]), "and its price?")
    assert [n for _, _, n in post.seen] == [4]
    assert reply.response.trace.nodes
    assert llm.calls[-1][1].count("passage") == 2
    assert len(reply.node_ids) == 2


def test_chat_prefetches_the_original_while_the_rewrite_runs(mode: Mode, make_engine: Make) -> None:
    log = Log()
    model = ScriptedLLM(rewrite=PRICE, rewrite_delay_s=0.2, log=log)
    retriever = WordRetriever(["the GTE-3000 costs 99 euros"], log=log)
    mode.ask(make_engine(llm=model, retriever=retriever), "and its price?")
    original, rewritten = log.index("retrieval begins: and its price?"), log.index(f"retrieval begins: {PRICE}")
    assert original < log.index("rewrite ends") < rewritten
    assert retriever.queries.count("and its price?") == 1


def test_chat_does_not_prefetch_where_it_is_switched_off(mode: Mode, make_engine: Make) -> None:
    log = Log()
    model = ScriptedLLM(rewrite=PRICE, rewrite_delay_s=0.1, log=log)
    retriever = WordRetriever(["the GTE-3000 costs 99 euros"], log=log)
    mode.ask(make_engine(llm=model, retriever=retriever, retrieval={"prefetch": False}), "and its price?")
    assert log.index("rewrite ends") < log.index("retrieval begins")
    assert sorted(retriever.queries) == [PRICE, f"{PRICE} and its price?", "and its price?"]


def test_chat_searches_one_query_where_dual_is_never(mode: Mode, make_engine: Make) -> None:
    retriever = WordRetriever(["the GTE-3000 costs 99 euros"])
    mode.ask(make_engine(retriever=retriever, retrieval={"dual": "never"}), "and its price?")
    assert retriever.queries == [PRICE]


def test_chat_query_engine_without_a_retriever_gets_the_rewrite(make_engine: Make, mode: Mode) -> None:
    plain = PlainQueryEngine()
    reply = mode.ask(make_engine(query_engine=plain), "and its price?")
    assert plain.queries == [PRICE]
    assert reply.text == "plain answer"
    assert reply.query == PRICE
    trace = reply.response.trace
    assert len(trace.plan.queries) == 1
    assert any("plan_collapsed" in warning for warning in trace.warnings)


def test_chat_same_text_in_two_documents_stays_two_sources(make_engine: Make, mode: Mode) -> None:
    texts = ["the GTE-3000 costs 99 euros", "the GTE-3000 costs 99 euros"]
    if len(WordRetriever(texts).retrieve("GTE-3000")) == 1:
        pytest.skip("this version of core drops equal texts itself")
    for options in ({}, {"fusion": {"dedupe_text": False, "provenance_metadata": True}}):
        reply = mode.ask(make_engine(retriever=WordRetriever(texts), **options), "and its price?")
        assert sorted(reply.node_ids) == ["n0", "n1"]
    merged = mode.ask(make_engine(retriever=WordRetriever(texts), fusion={"dedupe_text": True}), "and its price?")
    assert len(merged.node_ids) == 1


def test_chat_never_mutates_what_the_retriever_returned(make_engine: Make, mode: Mode) -> None:
    class Owner(WordRetriever):
        def _found(self, query: str) -> list[NodeWithScore]:
            nodes = super()._found(query)
            returned.extend((node, node.score) for node in nodes)
            return nodes

    returned: list[tuple[NodeWithScore, float | None]] = []
    retriever = Owner(["the GTE-3000 costs 99 euros", "the GTE-3000 has a warranty"])
    texts = [(node.text, dict(node.metadata)) for node in retriever.nodes]
    reply = mode.ask(make_engine(retriever=retriever, fusion={"provenance_metadata": True}), "and its price?")
    assert len(returned) == 6
    assert all(node.score == score for node, score in returned)
    assert [(node.text, dict(node.metadata)) for node in retriever.nodes] == texts
    assert all("condense" not in str(node.node.metadata) for node, _ in returned)
    assert all(isinstance(node.node, TextNode) for node in reply.response.source_nodes)


def test_original_is_searched_with_its_aliases_expanded_and_once(
    make_engine: Make, llm: ScriptedLLM, mode: Mode
) -> None:
    llm.rewrite = "What is the price of the GTE-3000 with Bluey?"
    retriever = WordRetriever(["the GTE-3000 costs 99 euros"])
    engine = make_engine(retriever=retriever, aliases={"Bluey": "GTE-5000"}, retrieval={"dual": "always"})
    reply = mode.ask(engine, "and its price with Bluey?")
    assert [query.text for query in reply.response.trace.plan.queries] == [
        "What is the price of the GTE-3000 with GTE-5000?",
        "and its price with GTE-5000?",
    ]
    assert retriever.queries.count("and its price with GTE-5000?") == 1
